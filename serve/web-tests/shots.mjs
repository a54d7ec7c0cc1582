// Pictures of every state, in both themes, on a desktop and on a phone. Only with --shots DIR.

const SIZES = {
  desktop: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 360, height: 720 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
};
const PANELS = ["journals", "watchdog", "spend", "capabilities", "runtime", "settings"];

/** @param {(run: any, path?: string, options?: any) => Promise<import("./driver.mjs").Driver>} open */
export const SHOTS = (open) =>
  Object.fromEntries(
    Object.entries(SIZES).flatMap(([size, options]) =>
      ["light", "dark"].map((scheme) => [
        `pictures_${size}_${scheme}`,
        async (run) => {
          if (!run.shots) return "no --shots";
          const path = (name) => `${run.shots}/${size}-${scheme}-${name}.png`;
          const driver = await open(run, "/", {
            ...options,
            colorScheme: scheme,
            locale: scheme === "dark" && size === "phone" ? "fr-FR" : "en-GB",
          });
          const shot = async (name) => {
            await driver.page.waitForTimeout(250);
            await driver.shot(path(name));
          };
          await shot("start");
          await driver.say("think about the train");
          await driver.page.waitForTimeout(380);
          await shot("thinking");
          await driver.finished();
          await driver.say("tools please");
          await driver.finished();
          await shot("tools");
          await driver.say("long");
          await driver.page.waitForTimeout(700);
          await shot("streaming");
          await driver.finished();
          await shot("long");
          for (const name of ["confirm", "irreversible"]) {
            await driver.say(name);
            await driver.question();
            await shot(name);
            await driver.confirm(name === "confirm", "click");
            await driver.finished();
          }
          await shot("answered");
          await driver.say("claims");
          await driver.finished();
          await driver.say("memory");
          await driver.finished();
          await shot("memory");
          await driver.say("speak");
          await driver.page.waitForTimeout(900);
          if (size === "phone") {
            await driver.page.click("#side-open");
          }
          await shot("speaking");
          if (size === "phone") await driver.page.click("#side-close");
          await driver.finished();
          await shot("latency");
          if (size === "phone") {
            await driver.page.click("#rail-open");
            await shot("rail");
            await driver.page.click("#rail-close");
            await driver.page.click("#side-open");
          }
          for (const name of PANELS) {
            await driver.page.click(`#tab-${name}`);
            await shot(`panel-${name}`);
          }
          if (size === "phone") await driver.page.click("#side-close");
          else {
            await driver.page.click("#keys");
            await shot("keys");
            await driver.page.keyboard.press("Escape");
            await driver.page.click("#new-thread");
            await driver.page.waitForSelector(".welcome");
            await shot("welcome");
          }
          for (const [name, address] of [
            ["blind", "/blind#s1"],
            ["blind-result", "/blind#s2/result"],
            ["record", "/record"],
          ]) {
            const other = await open(run, address, { ...options, colorScheme: scheme });
            if (name === "record") {
              await other.page.click("#plan button");
              await other.page.waitForSelector(".studio");
              const box = await other.page.locator(".hold").boundingBox();
              await other.page.mouse.move(box.x + 40, box.y + 40);
              await other.page.mouse.down();
              await other.page.waitForTimeout(900);
              await other.page.mouse.up();
            }
            await other.page.waitForTimeout(400);
            await other.shot(path(name));
          }
          return "taken";
        },
      ]),
    ),
  );

// Panels, files, keyboard, accessibility, and the two other pages.
import assert from "node:assert/strict";

/** @param {(run: any, path?: string, options?: any) => Promise<import("./driver.mjs").Driver>} open */
export const OTHER_CHECKS = (open) => ({
  async memory_is_paged_and_deleted(run) {
    const driver = await open(run);
    await driver.page.waitForSelector(".panel [data-section=decisions] li");
    const rows = driver.page.locator("[data-section=decisions] .rows li");
    assert.equal(await rows.count(), 30);
    await driver.page.click("[data-section=decisions] .more");
    await driver.page.waitForFunction(
      () => document.querySelectorAll("[data-section=decisions] .rows li").length === 34,
    );
    await rows.first().getByRole("button").click();
    await driver.page.waitForFunction(
      () => document.querySelectorAll("[data-section=decisions] .rows li").length === 33,
    );
    assert.ok(run.mock.log.writes.includes("DELETE /api/memory/d-0"));
    await driver.page.focus("#message");
    await driver.say("memory please");
    await driver.finished();
    await driver.page.waitForSelector(".memory-note");
  },

  async panels_open_by_key(run) {
    const driver = await open(run);
    await driver.page.focus("#tab-memory");
    const headings = [];
    for (let index = 0; index < 7; index += 1) {
      await driver.page.keyboard.press("ArrowRight");
      await driver.page.waitForFunction(
        () => document.querySelector("#panel").dataset.panel === document.activeElement.id.slice(4),
      );
      headings.push(await driver.text("#panel h2"));
    }
    assert.deepEqual(headings, [
      "Journals",
      "Watchdog",
      "Spend",
      "Capabilities",
      "What runs where",
      "Settings",
      "Memory",
    ]);
  },

  async settings_change_the_language_at_once(run) {
    const driver = await open(run);
    await driver.page.click("#tab-settings");
    await driver.page.selectOption(".setting select", "fr");
    await driver.page.waitForFunction(() => document.querySelector("#panel h2")?.textContent === "Réglages");
    assert.equal(await driver.page.getAttribute("html", "lang"), "fr");
    assert.match(await driver.text(".rail"), /Nouvelle conversation/);
    assert.equal(run.mock.state.settings.language, "fr");
  },

  async files_are_sent_and_named(run) {
    const driver = await open(run);
    await driver.page.setInputFiles("#file", {
      name: "report.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("text"),
    });
    await driver.page.waitForSelector("#attached li:not([aria-busy])");
    await driver.say("hello file");
    await driver.finished();
    assert.match(
      run.mock.log.messages.find(({ type }) => type === "say").text,
      /hello file\n\nFile: files\/report\.txt/,
    );
    assert.equal(await driver.page.locator("#attached li").count(), 0);
  },

  async threads_are_searched_and_opened(run) {
    const driver = await open(run);
    await driver.page.keyboard.press("Control+k");
    await driver.page.keyboard.type("trains");
    await driver.page.waitForFunction(() => document.querySelectorAll(".thread").length === 1);
    assert.equal(await driver.text(".thread mark"), "trains");
    await driver.page.keyboard.press("ArrowDown");
    await driver.page.keyboard.press("Enter");
    await driver.page.waitForFunction(() => document.querySelector("#title").textContent.startsWith("Trains"));
    await driver.page.keyboard.press("Alt+n");
    await driver.page.waitForSelector(".welcome");
    await driver.page.click(".suggestions button");
    await driver.finished();
    assert.equal(await driver.page.locator(".welcome").count(), 0);
  },

  async thinking_level_goes_with_the_message(run) {
    const driver = await open(run);
    await driver.page.selectOption("#think", "high");
    await driver.say("hello");
    await driver.finished();
    assert.equal(run.mock.log.messages.find(({ type }) => type === "say").think, "high");
  },

  async every_control_is_reached_by_tab(run) {
    const driver = await open(run);
    await driver.page.focus(".skip");
    const seen = [{ name: "skip", visible: true }];
    for (let index = 0; index < 140; index += 1) {
      await driver.page.keyboard.press("Tab");
      const stop = await driver.page.evaluate(() => {
        const element = document.activeElement;
        if (element === document.body) return null;
        const style = getComputedStyle(element);
        const composer =
          element.id === "message" ? getComputedStyle(document.querySelector("#composer")).boxShadow : "none";
        return {
          name: element.id || element.className || element.tagName,
          visible: style.outlineStyle !== "none" || composer !== "none",
        };
      });
      if (!stop) break;
      seen.push(stop);
    }
    assert.equal(seen[0].name, "skip");
    assert.deepEqual(
      seen.filter((stop) => !stop.visible).map((stop) => stop.name),
      [],
    );
    for (const id of [
      "new-thread",
      "thread-search",
      "theme",
      "side-open",
      "scroll",
      "message",
      "attach",
      "think",
      "hands-free",
      "push",
      "side-close",
      "tab-memory",
      "panel",
    ])
      assert.ok(
        seen.some((stop) => stop.name === id),
        `${id} is not reached`,
      );
    return { stops: seen.length };
  },

  async finished_sentences_are_announced(run) {
    const driver = await open(run);
    await driver.page.evaluate(() => {
      window.said = [];
      new MutationObserver((changes) => {
        for (const change of changes) for (const node of change.addedNodes) window.said.push(node.textContent);
      }).observe(document.querySelector("#polite"), { childList: true });
    });
    await driver.say("hello");
    await driver.finished();
    await driver.page.waitForTimeout(50);
    const said = await driver.page.evaluate(() => window.said);
    assert.ok(said.length >= 2 && said.length <= 6, JSON.stringify(said));
    assert.match(said.join(" "), /Shall I put them on your list\?/);
    assert.doesNotMatch(said.join(" "), /\*\*/);
  },

  async nothing_serious_for_axe(run) {
    const findings = [];
    const look = async (driver, where) => {
      for (const finding of await driver.axe())
        if (["serious", "critical"].includes(finding.impact)) findings.push({ where, ...finding });
    };
    for (const scheme of ["light", "dark"]) {
      const driver = await open(run, "/", { colorScheme: scheme });
      for (const text of ["long", "think", "tools", "claims", "memory"]) {
        await driver.say(text);
        await driver.finished();
      }
      for (const text of ["confirm", "irreversible"]) {
        await driver.say(text);
        await driver.question();
        await look(driver, `${scheme} ${text}`);
        await driver.confirm(true, "click");
        await driver.finished();
      }
      await driver.page.locator(".turn:last-child .call summary").click();
      for (const name of ["journals", "watchdog", "spend", "capabilities", "runtime", "settings"]) {
        await driver.page.click(`#tab-${name}`);
        await driver.page.waitForFunction((wanted) => document.querySelector("#panel").dataset.panel === wanted, name);
        await look(driver, `${scheme} ${name}`);
      }
      await driver.page.click("#keys");
      await look(driver, `${scheme} keys`);
    }
    for (const path of ["/blind", "/blind#s1", "/blind#s2/result", "/record"]) {
      const driver = await open(run, path);
      await driver.page.waitForTimeout(300);
      if (path === "/record") {
        await driver.page.click("#plan button");
        await driver.page.waitForSelector(".studio");
      }
      await look(driver, path);
    }
    const phone = await open(run, "/", { viewport: { width: 360, height: 720 }, hasTouch: true, isMobile: true });
    await look(phone, "phone");
    assert.deepEqual(findings, []);
  },

  async phone_has_large_targets_and_no_sideways_scroll(run) {
    const driver = await open(run, "/", { viewport: { width: 360, height: 720 }, hasTouch: true, isMobile: true });
    await driver.say("long");
    await driver.finished();
    await driver.say("irreversible");
    await driver.question();
    assert.ok(
      await driver.page.evaluate(
        () =>
          document.documentElement.scrollWidth <= 360 &&
          document.querySelector("#scroll").scrollWidth <= document.querySelector("#scroll").clientWidth,
      ),
    );
    const small = () =>
      driver.page.evaluate(() =>
        [...document.querySelectorAll("button, select, summary, [role=tab]")]
          .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest("[inert]"))
          .filter((element) => {
            const box = element.getBoundingClientRect();
            return box.width && (box.height < 40 || box.width < 40);
          })
          .map(
            (element) =>
              `${element.id || element.className} ${element.getBoundingClientRect().width}x${element.getBoundingClientRect().height}`,
          ),
      );
    assert.deepEqual(await small(), []);
    await driver.page.click("#rail-open");
    await driver.page.waitForTimeout(300);
    assert.deepEqual(await small(), []);
    await driver.page.click("#rail-close");
    await driver.page.click("#side-open");
    await driver.page.waitForTimeout(300);
    assert.deepEqual(await small(), []);
  },

  async motion_can_be_unwanted(run) {
    const driver = await open(run, "/", { reducedMotion: "reduce" });
    await driver.page.waitForTimeout(400);
    const picture = () => driver.page.evaluate(() => document.querySelector("#orb").toDataURL());
    const one = await picture();
    await driver.page.waitForTimeout(400);
    assert.equal(await picture(), one);
    const moving = await open(run);
    await moving.page.waitForTimeout(400);
    const first = await moving.page.evaluate(() => document.querySelector("#orb").toDataURL());
    await moving.page.waitForTimeout(400);
    assert.notEqual(await moving.page.evaluate(() => document.querySelector("#orb").toDataURL()), first);
  },

  async errors_are_told(run) {
    const driver = await open(run);
    await driver.say("fail now");
    await driver.finished();
    assert.match(await driver.text(".turn:last-child"), /The model failed/);
    await driver.page.fill("#message", "refuse-me");
    await driver.page.press("#message", "Enter");
    await driver.page.waitForSelector('.note[data-tone="danger"]');
    assert.match(await driver.text('.note[data-tone="danger"]'), /a turn is running already. stop it first/);
    await driver.page.fill("#message", "/help");
    await driver.page.press("#message", "Enter");
    await driver.page.waitForSelector(".note .prose code");
  },

  async blind_votes_by_key(run) {
    const driver = await open(run, "/blind");
    await driver.page.click(".sessions .button.primary");
    await driver.page.waitForSelector(".pair");
    await driver.page.keyboard.press("ArrowLeft");
    await driver.page.waitForFunction(() => document.querySelector(".progress")?.textContent === "2 of 3");
    await driver.page.keyboard.press("ArrowDown");
    await driver.page.waitForFunction(() => document.querySelector(".progress")?.textContent === "3 of 3");
    await driver.page.keyboard.press("ArrowRight");
    assert.equal(run.mock.log.votes.length, 2, "a vote before both were heard");
    for (const side of ["Left", "Right"]) {
      await driver.page.getByRole("button", { name: `Play ${side}` }).click();
      await driver.page.waitForTimeout(900);
    }
    await driver.page.keyboard.press("ArrowRight");
    await driver.page.waitForSelector(".result");
    assert.deepEqual(
      run.mock.log.votes.map(({ choice }) => choice),
      ["left", "tie", "right"],
    );
    assert.match(await driver.text(".result"), /gemma4:12b is better/);
  },

  async recording_keeps_and_rejects(run) {
    const driver = await open(run, "/record");
    await driver.page.click("#plan button");
    await driver.page.waitForSelector(".studio");
    const hold = async (ms) => {
      const box = await driver.page.locator(".hold").boundingBox();
      await driver.page.mouse.move(box.x + 50, box.y + 50);
      await driver.page.mouse.down();
      await driver.page.waitForTimeout(ms);
      await driver.page.mouse.up();
    };
    await hold(1200);
    await driver.page.waitForSelector('.verdict-line[data-tone="good"]');
    assert.match(await driver.text(".progress"), /1 of 3/);
    await driver.page.getByRole("button", { name: "Next" }).click();
    await hold(120);
    await driver.page.waitForFunction(
      () =>
        ["danger", ""].includes(document.querySelector(".verdict-line").dataset.tone) &&
        document.querySelector(".verdict-line").textContent,
    );
    await driver.page.locator(".clips .link-button").first().click();
    await driver.page.waitForFunction(() => document.querySelector(".progress").textContent.includes("0 of 3"));
    assert.ok(run.mock.log.writes.some((line) => line.startsWith("DELETE /api/record/clips/")));
  },
});

// Drives a served page by a list of steps: node page.mjs URL [WAV] < steps.json
// A step is {"do":NAME, …}; prints {"steps":[{"do","ok","value"|"error"}],"complaints":[…],"violations":[…]}.
// Exit code 1 when a step failed or the console was not silent.
import { readFileSync } from "node:fs";
import { Driver, launch } from "./driver.mjs";

const [, , url, wav] = process.argv;
if (!url) {
  process.stderr.write("usage: node page.mjs URL [WAV] < steps.json\n");
  process.exit(2);
}

/** @type {Record<string, (driver: Driver, step: any) => Promise<any>>} */
const STEPS = {
  ready: (driver) => driver.ready(),
  say: (driver, { text }) => driver.say(text),
  finished: (driver, { timeout_ms }) => driver.finished(timeout_ms),
  question: (driver) => driver.question(),
  confirm: (driver, { approve, how = "click" }) => driver.confirm(approve, how),
  push: (driver, { ms }) => driver.push(ms),
  click: (driver, { selector }) => driver.page.click(selector),
  press: (driver, { key }) => driver.page.keyboard.press(key),
  fill: (driver, { selector, text }) => driver.page.fill(selector, text),
  open: (driver, { path }) => driver.page.goto(new URL(path, driver.page.url()).href),
  reload: (driver) => driver.page.reload(),
  size: (driver, { width, height }) => driver.page.setViewportSize({ width, height }),
  theme: (driver, { dark }) => driver.page.emulateMedia({ colorScheme: dark ? "dark" : "light" }),
  wait: (driver, { selector, state = "visible", timeout_ms = 20000 }) =>
    driver.page.waitForSelector(selector, { state, timeout: timeout_ms }).then(() => true),
  wait_text: (driver, { selector, text, timeout_ms = 20000 }) =>
    driver.page
      .waitForFunction(
        ([where, what]) => [...document.querySelectorAll(where)].some((element) => element.textContent.includes(what)),
        [selector, text],
        { timeout: timeout_ms },
      )
      .then(() => true),
  text: (driver, { selector }) => driver.text(selector),
  count: (driver, { selector }) => driver.page.locator(selector).count(),
  evaluate: (driver, { script }) => driver.page.evaluate(script),
  upload: (driver, { path }) => driver.page.setInputFiles("#file", path),
  axe: (driver) => driver.axe(),
  paint_ms: (driver) => driver.paint(),
  shot: (driver, { path }) => driver.shot(path),
};

const browser = await launch({ wav });
const driver = await Driver.open(browser, url);
const results = [];
for (const step of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    const value = await STEPS[step.do](driver, step);
    results.push({
      do: step.do,
      ok: true,
      value: ["string", "number", "boolean"].includes(typeof value) || Array.isArray(value) ? value : undefined,
    });
  } catch (error) {
    results.push({ do: step.do, ok: false, error: error.message.split("\n")[0] });
    break;
  }
}
const violations = await driver.page.evaluate(() => window.violations ?? []).catch(() => []);
await browser.close();
process.stdout.write(`${JSON.stringify({ steps: results, complaints: driver.complaints, violations })}\n`);
process.exitCode = results.some((result) => !result.ok) || driver.complaints.length || violations.length ? 1 : 0;

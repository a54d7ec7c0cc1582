// Drives the page in a real Chromium. playwright-core and axe-core come from $TENPASS_NODE/node_modules.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(`${process.env.TENPASS_NODE ?? process.cwd()}/`);
const { chromium } = require("playwright-core");

/** @param {{wav?: string, gesture?: boolean}} [options] `wav`: the file that Chromium takes for its microphone */
export async function launch({ wav } = {}) {
  const args = ["--no-sandbox", "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"];
  if (wav) args.push(`--use-file-for-fake-audio-capture=${wav}`);
  return chromium.launch({ executablePath: process.env.TENPASS_CHROMIUM ?? "/usr/bin/chromium", args });
}

/** One tab with what it complained about. */
export class Driver {
  /** @param {import("playwright-core").Browser} browser @param {any} [options] of `newContext` */
  static async open(browser, url, options = {}) {
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      permissions: ["microphone", "clipboard-read", "clipboard-write"],
      ...options,
    });
    const driver = new Driver();
    driver.context = context;
    driver.page = await context.newPage();
    // A busy machine starves a browser for seconds; a check that fails for that says nothing.
    context.setDefaultTimeout(60000);
    driver.complaints = [];
    driver.page.on("console", (message) => driver.complaints.push(`${message.type()}: ${message.text()}`));
    driver.page.on("pageerror", (error) => driver.complaints.push(`error: ${error.stack}`));
    await driver.page.addInitScript(() => {
      window.shifts = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts += entry.value;
      }).observe({ type: "layout-shift", buffered: true });
      window.violations = [];
      document.addEventListener("securitypolicyviolation", (event) =>
        window.violations.push(`${event.violatedDirective} ${event.blockedURI}`),
      );
    });
    await driver.page.goto(url, { waitUntil: "load" });
    return driver;
  }

  /** Waits until the thread is on the page. */
  async ready() {
    await this.page.waitForFunction(() => document.querySelector("#log")?.childElementCount > 0, null, {
      timeout: 60000,
    });
  }

  async say(text) {
    const before = await this.page.locator(".turn").count();
    await this.page.fill("#message", text);
    await this.page.press("#message", "Enter");
    await this.page.waitForFunction((count) => document.querySelectorAll(".turn").length > count, before);
  }

  async finished(timeout = 60000) {
    await this.page.waitForFunction(
      () => [...document.querySelectorAll(".turn:not(.undone)")].at(-1)?.classList.contains("ended"),
      null,
      { timeout },
    );
  }

  async question() {
    await this.page.waitForSelector(".confirm:not(.answered)");
  }

  /** @param {boolean} approve @param {"click"|"key"} how */
  async confirm(approve, how) {
    await this.question();
    await this.page.waitForTimeout(700);
    if (how === "key") await this.page.keyboard.press(approve ? "Alt+Enter" : "Escape");
    else await this.page.click(`.confirm:not(.answered) .confirm-actions .button:${approve ? "last" : "first"}-child`);
    await this.page.waitForSelector(".confirm:not(.answered)", { state: "detached" });
  }

  /** Holds the talk button. @param {number} ms */
  async push(ms) {
    const box = await this.page.locator("#push").boundingBox();
    await this.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await this.page.mouse.down();
    await this.page.waitForTimeout(ms);
    await this.page.mouse.up();
  }

  /** Serious and critical findings of axe-core. */
  async axe() {
    await this.page.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
    const { violations } = await this.page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    return violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      nodes: nodes.slice(0, 4).map((node) => `${node.target.join(" ")} ${node.any[0]?.message ?? ""}`),
    }));
  }

  /** First paint in ms after the navigation began. */
  async paint() {
    return this.page.evaluate(
      () =>
        performance.getEntriesByType("paint").find((entry) => entry.name === "first-contentful-paint")?.startTime ??
        null,
    );
  }

  /** @param {string} selector */
  text(selector) {
    return this.page.locator(selector).last().innerText();
  }

  /** @param {string} path */
  async shot(path) {
    await this.page.screenshot({ path });
  }

  async close() {
    await this.context.close();
  }
}

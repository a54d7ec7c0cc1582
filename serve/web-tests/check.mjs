// The page against the mock: node check.mjs [--shots DIR] [NAME…]. Prints one JSON line a check; exit code 1 when one fails.
import { mkdirSync } from "node:fs";
import { CHECKS } from "./checks.mjs";
import { launch } from "./driver.mjs";
import { startMock } from "./mock.mjs";

const names = process.argv.slice(2);
const at = names.indexOf("--shots");
const shots = at >= 0 ? names.splice(at, 2)[1] : null;
if (shots) mkdirSync(shots, { recursive: true });
const browser = await launch();
let failed = 0;
for (const [name, check] of Object.entries(CHECKS)) {
  if (names.length && !names.some((wanted) => name.includes(wanted))) continue;
  const mock = await startMock(0);
  const opened = [];
  const started = Date.now();
  try {
    const value = await check({ browser, mock, shots, opened });
    for (const driver of opened) {
      const violations = await driver.page.evaluate(() => window.violations).catch(() => []);
      if (driver.complaints.length || violations.length)
        throw new Error(`the console is not silent: ${[...driver.complaints, ...violations].join(" | ")}`);
    }
    if (mock.log.badWrites.length) throw new Error(`writes without the header: ${mock.log.badWrites}`);
    process.stdout.write(`${JSON.stringify({ check: name, ok: true, ms: Date.now() - started, value })}\n`);
  } catch (error) {
    failed += 1;
    process.stdout.write(
      `${JSON.stringify({ check: name, ok: false, ms: Date.now() - started, error: error.message.slice(0, 900) })}\n`,
    );
  }
  for (const driver of opened) await driver.close().catch(() => {});
  mock.close();
}
await browser.close();
process.exitCode = failed ? 1 : 0;

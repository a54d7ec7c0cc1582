// Sound in and out, against the mock.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { launch } from "./driver.mjs";
import { toneWav } from "./other-pages.mjs";

/** @param {(run: any, path?: string, options?: any) => Promise<import("./driver.mjs").Driver>} open */
export const VOICE_CHECKS = (open) => ({
  async speech_is_played_and_reported(run) {
    const driver = await open(run);
    await driver.say("speak to me");
    await driver.page.waitForSelector("#hush:not([hidden])");
    await driver.page.waitForFunction(() => document.querySelector("#hush").hidden, null, { timeout: 60000 });
    const { played } = run.mock.log;
    assert.equal(played.at(-1).samples, 72000);
    const gaps = played.slice(1).map((report, index) => report.at - played[index].at);
    assert.ok(
      played.every((report, index) => index === 0 || report.samples >= played[index - 1].samples),
      "a report went back",
    );
    assert.ok(played.length >= 25, `${played.length} reports`);
    assert.equal(await driver.page.locator(".latency-parts li").count(), 6);
    return { reports: played.length, longest_gap_ms: Math.max(...gaps), spoken_ms: played.at(-1).at - played[0].at };
  },

  async hush_stops_the_speech(run) {
    const driver = await open(run);
    await driver.say("speak to me");
    await driver.page.waitForSelector("#hush:not([hidden])");
    await driver.page.click("#hush");
    await driver.page.waitForSelector("#hush", { state: "hidden" });
    await driver.finished();
    assert.match(await driver.text("#log"), /You heard: The meeting starts at/);
  },

  async push_to_talk_sends_16_khz(run) {
    const driver = await open(run);
    await driver.push(1500);
    await driver.page.waitForTimeout(200);
    const { frames, samples, messages, sound } = run.mock.log;
    assert.ok(
      sound.every((frame) => frame.length === 640),
      "frames of 320 samples",
    );
    assert.ok(samples > 16000 * 0.9 && samples < 16000 * 1.7, `${samples} samples in 1.5 s`);
    assert.ok(
      sound.some((frame) => frame.some((byte) => byte !== 0)),
      "only silence",
    );
    assert.deepEqual(
      messages.filter(({ type }) => ["listen", "release"].includes(type)).map(({ type, mode }) => mode ?? type),
      ["push", "release"],
    );
    await driver.finished();
    const before = run.mock.log.frames;
    await driver.page.waitForTimeout(300);
    assert.equal(run.mock.log.frames, before, "sound leaves after the button was let go");
    return { frames, samples };
  },

  async a_tone_arrives_as_it_was(run) {
    const path = join(mkdtempSync(join(tmpdir(), "tenpass-page-")), "tone.wav");
    writeFileSync(path, toneWav(48000, 1000, 0.5, 4));
    const browser = await launch({ wav: path });
    try {
      const driver = await open({ ...run, browser });
      await driver.page.click("#hands-free");
      await driver.page.waitForTimeout(2500);
      const samples = run.mock.log.sound
        .slice(-50)
        .flatMap((frame) =>
          Array.from({ length: frame.length / 2 }, (_, index) => frame.readInt16LE(2 * index) / 32768),
        );
      const power = samples.reduce((sum, value) => sum + value * value, 0) / samples.length;
      const tone = [0, 1].map((phase) =>
        samples.reduce(
          (sum, value, index) => sum + value * Math.cos((2 * Math.PI * 1000 * index) / 16000 - (phase * Math.PI) / 2),
          0,
        ),
      );
      const share = (2 * (tone[0] ** 2 + tone[1] ** 2)) / samples.length ** 2 / power;
      const db = 10 * Math.log10(power);
      assert.ok(share > 0.98, `only ${share} of the power is at 1 kHz`);
      // A sine of half scale has −9 dB; nothing on the way may turn it up or down by itself.
      assert.ok(Math.abs(db + 9) < 1.5, `${db} dB`);
      return { share: Number(share.toFixed(4)), db: Number(db.toFixed(2)) };
    } finally {
      await browser.close();
      rmSync(dirname(path), { recursive: true, force: true });
    }
  },

  async space_talks_outside_of_texts(run) {
    const driver = await open(run);
    await driver.page.focus("#message");
    await driver.page.keyboard.press("Space");
    assert.equal(await driver.page.inputValue("#message"), " ");
    await driver.page.focus("#scroll");
    await driver.page.keyboard.down("Space");
    await driver.page.waitForSelector("#push.recording");
    await driver.page.waitForTimeout(300);
    await driver.page.keyboard.up("Space");
    await driver.page.waitForSelector("#push:not(.recording)");
    assert.ok(run.mock.log.messages.some(({ type }) => type === "release"));
    await driver.finished();
  },

  async hands_free_goes_on_and_off(run) {
    const driver = await open(run);
    await driver.page.click("#hands-free");
    await driver.page.waitForTimeout(600);
    assert.ok(run.mock.log.frames > 5);
    assert.match(await driver.text("#voice-name"), /Waiting for “kora”/);
    await driver.page.click("#hands-free");
    await driver.page.waitForTimeout(100);
    const before = run.mock.log.frames;
    await driver.page.waitForTimeout(300);
    assert.equal(run.mock.log.frames, before);
    assert.equal(run.mock.log.messages.filter(({ type }) => type === "listen").at(-1).mode, "off");
  },
});

// A WAV file of 16 kHz mono s16le, and its picture.

const RATE = 16000;

/** @param {Int16Array[]} frames @returns {Blob} */
export function toWav(frames) {
  const count = frames.reduce((sum, frame) => sum + frame.length, 0);
  const head = new DataView(new ArrayBuffer(44));
  const text = (at, word) => [...word].forEach((letter, index) => head.setUint8(at + index, letter.charCodeAt(0)));
  text(0, "RIFF");
  head.setUint32(4, 36 + 2 * count, true);
  text(8, "WAVEfmt ");
  head.setUint32(16, 16, true);
  head.setUint16(20, 1, true);
  head.setUint16(22, 1, true);
  head.setUint32(24, RATE, true);
  head.setUint32(28, RATE * 2, true);
  head.setUint16(32, 2, true);
  head.setUint16(34, 16, true);
  text(36, "data");
  head.setUint32(40, 2 * count, true);
  return new Blob([head.buffer, ...frames], { type: "audio/wav" });
}

/**
 * Draws the clip; what the server cut off is grey.
 * @param {HTMLCanvasElement} canvas
 * @param {Int16Array[]} frames
 * @param {[number, number]} kept ms
 */
export function drawWave(canvas, frames, [from, to]) {
  const samples = frames.flatMap((frame) => [...frame]);
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const width = canvas.clientWidth,
    height = canvas.clientHeight;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const loudest = Math.max(1500, ...columns(samples, width / 3));
  for (const [index, peak] of columns(samples, width / 3).entries()) {
    const ms = ((index * 3) / width) * (samples.length / RATE) * 1000;
    context.fillStyle = style.getPropertyValue(ms >= from && ms <= to ? "--accent" : "--line-strong");
    const tall = Math.max(1, (peak / loudest) * height * 0.86);
    context.fillRect(index * 3, (height - tall) / 2, 2, tall);
  }
}

function columns(samples, count) {
  const each = Math.max(1, Math.floor(samples.length / count));
  return Array.from({ length: Math.floor(count) }, (_, index) =>
    samples.slice(index * each, (index + 1) * each).reduce((peak, value) => Math.max(peak, Math.abs(value)), 0),
  );
}

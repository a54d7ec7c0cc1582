// From the device's rate to 16 kHz with a proper low-pass: a windowed sinc at fractional positions. Without the filter
// everything above 8 kHz would fold into the speech band. Pure, so that a test can measure it.

const ZERO_CROSSINGS = 24;
const PHASES = 256;
// A little under half of 16 kHz, so that the transition band ends before it folds.
const CUTOFF_SHARE = 0.91;

/** A streaming resampler, mono. */
export class Resampler {
  #history;
  #position;

  /** @param {number} from Hz @param {number} to Hz, not more than `from` */
  constructor(from, to) {
    this.step = from / to;
    const cutoff = Math.min(1, to / from) * CUTOFF_SHARE;
    this.half = Math.ceil(ZERO_CROSSINGS / cutoff);
    this.kernel = kernel(this.half, cutoff);
    this.#history = new Float32Array(2 * this.half);
    this.#position = this.half;
  }

  /**
   * @param {Float32Array} input at the device's rate
   * @returns {Float32Array} what is complete at the target rate; the last `half` input samples wait for the next call
   */
  process(input) {
    const samples = new Float32Array(this.#history.length + input.length);
    samples.set(this.#history);
    samples.set(input, this.#history.length);
    const output = [];
    let position = this.#position;
    for (; position + this.half < samples.length; position += this.step) output.push(this.#at(samples, position));
    const kept = Math.min(Math.floor(position) - this.half, samples.length);
    this.#history = samples.slice(Math.max(kept, 0));
    this.#position = position - Math.max(kept, 0);
    return Float32Array.from(output);
  }

  #at(samples, position) {
    const whole = Math.floor(position);
    const phase = (position - whole) * PHASES;
    const low = Math.floor(phase),
      share = phase - low;
    let sum = 0;
    for (let tap = -this.half + 1; tap <= this.half; tap += 1) {
      const at = (tap + this.half) * PHASES - low;
      const weight = this.kernel[at] * (1 - share) + this.kernel[at - 1] * share;
      sum += samples[whole + tap] * weight;
    }
    return sum;
  }
}

/** sinc(cutoff·x) under a Blackman window over ±half samples, tabulated at PHASES points a sample; its taps sum to 1. */
function kernel(half, cutoff) {
  const table = new Float32Array(2 * half * PHASES + 1);
  for (let index = 0; index < table.length; index += 1) {
    const x = index / PHASES - half;
    const angle = Math.PI * cutoff * x;
    const sinc = x === 0 ? 1 : Math.sin(angle) / angle;
    const place = index / (table.length - 1);
    table[index] = cutoff * sinc * (0.42 - 0.5 * Math.cos(2 * Math.PI * place) + 0.08 * Math.cos(4 * Math.PI * place));
  }
  return table;
}

/** @param {Float32Array} samples -1..1 @returns {Int16Array} */
export function toInt16(samples) {
  return Int16Array.from(samples, (value) => Math.round(Math.max(-1, Math.min(1, value)) * 32767));
}

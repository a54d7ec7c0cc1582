// Speech out: s16le pieces through an AudioWorklet, the report of what was heard, and the level that moves the orb.

/** @typedef {{utterance: number, rate: number, text: string, envelope: {step_ms: number, values: number[]}}} Speech */

/** Plays utterances in order. */
export class SpeechPlayer {
  /** @type {AudioContext|null} */ #context = null;
  /** @type {AudioWorkletNode|null} */ #node = null;
  /** @type {GainNode|null} */ #gain = null;
  /** @type {Map<number, Speech>} */ #speeches = new Map();
  /** What arrives before the browser allows sound. @type {object[]} */ #waiting = [];
  #stoppedUpTo = -1;
  #starting = null;
  /** The last report of the worklet. @type {{utterance: number, samples: number, time: number}|null} */ #report = null;

  /** @param {{played: (utterance: number, samples: number) => void, blocked: (isBlocked: boolean) => void, started: (speech: Speech) => void, ended: () => void}} handlers */
  constructor(handlers) {
    this.handlers = handlers;
    // Browsers allow sound after a gesture only; a context made earlier would complain in the console.
    const unlock = () => {
      this.#begin();
      this.#context?.resume();
    };
    window.addEventListener("pointerup", unlock);
    window.addEventListener("keydown", unlock);
  }

  /** @param {Speech} speech the `speech` message that comes before the sound */
  announce(speech) {
    this.#speeches.set(speech.utterance, speech);
    this.#begin();
  }

  /** @param {ArrayBuffer} data u32le utterance, u32le first sample, s16le */
  sound(data) {
    const view = new DataView(data);
    const utterance = view.getUint32(0, true),
      first = view.getUint32(4, true);
    if (utterance <= this.#stoppedUpTo) return;
    const pcm = new Int16Array(data, 8, (data.byteLength - 8) >> 1);
    this.#post({ type: "chunk", utterance, first, samples: Float32Array.from(pcm, (value) => value / 32768) });
  }

  /** The sound of an utterance is complete. @param {number} utterance @param {number} samples */
  end(utterance, samples) {
    this.#post({ type: "end", utterance, samples });
  }

  /** Silence, at once. @param {number} [utterance] and everything before it; without it, all that is known */
  stop(utterance) {
    const last = utterance ?? Math.max(this.#stoppedUpTo, ...this.#speeches.keys());
    this.#stoppedUpTo = Math.max(this.#stoppedUpTo, last);
    this.#waiting = this.#waiting.filter((message) => message.utterance > last);
    this.#node?.port.postMessage({ type: "stop", utterance: last });
    for (const known of [...this.#speeches.keys()]) if (known <= last) this.#speeches.delete(known);
    this.#report = null;
    this.duck(false);
    this.handlers.ended();
  }

  /** Softer while someone may be interrupting. @param {boolean} isSoft */
  duck(isSoft) {
    if (this.#gain) this.#gain.gain.setTargetAtTime(isSoft ? 0.18 : 1, this.#context.currentTime, 0.02);
  }

  /** A new connection counts its utterances anew. */
  forget() {
    this.stop();
    this.#stoppedUpTo = -1;
    this.#waiting = [];
  }

  /** How loud the speech is that is heard now, 0..1, from its envelope. */
  level() {
    const heard = this.#heardNow();
    const speech = heard && this.#speeches.get(heard.utterance);
    if (!speech) return 0;
    const at = ((heard.samples / speech.rate) * 1000) / speech.envelope.step_ms;
    const low = Math.max(0, Math.floor(at)),
      values = speech.envelope.values;
    return (values[low] ?? 0) * (1 - (at - low)) + (values[low + 1] ?? 0) * (at - low);
  }

  get isPlaying() {
    return this.#report !== null;
  }

  // Between two reports the context's clock goes on.
  #heardNow() {
    if (!this.#report || !this.#context || this.#context.state !== "running") return null;
    const rate = this.#context.sampleRate;
    const since = Math.min(Math.max(this.#context.currentTime - this.#report.time, 0), 0.12);
    return {
      utterance: this.#report.utterance,
      samples: Math.max(0, this.#report.samples + (since - this.#latency()) * rate),
    };
  }

  // What left the worklet is not heard yet.
  #latency() {
    return this.#context.outputLatency || this.#context.baseLatency || 0;
  }

  #post(message) {
    if (!this.#node) {
      this.#waiting.push(message);
      return;
    }
    this.#node.port.postMessage(message, message.samples?.buffer ? [message.samples.buffer] : []);
  }

  #begin() {
    const rate = [...this.#speeches.values()].at(-1)?.rate;
    if (!rate || this.#starting) return;
    if (this.#context && this.#context.sampleRate !== rate && !this.isPlaying) {
      this.#context.close();
      this.#context = this.#node = null;
    }
    if (this.#node) return;
    if (navigator.userActivation && !navigator.userActivation.hasBeenActive) {
      this.handlers.blocked(true);
      return;
    }
    this.#starting = this.#start(rate)
      .catch(() => this.handlers.blocked(true))
      .finally(() => {
        this.#starting = null;
      });
  }

  // A context at the speech's own rate: the browser then converts once, at the device, without seams between pieces.
  async #start(rate) {
    const context = new AudioContext({ sampleRate: rate, latencyHint: "interactive" });
    await context.audioWorklet.addModule("/assets/playback-worklet.js");
    const node = new AudioWorkletNode(context, "tenpass-player", { numberOfInputs: 0, outputChannelCount: [1] });
    node.port.onmessage = ({ data }) => this.#reported(data);
    const gain = new GainNode(context);
    node.connect(gain).connect(context.destination);
    this.#context = context;
    this.#node = node;
    this.#gain = gain;
    await context.resume();
    this.handlers.blocked(false);
    for (const message of this.#waiting.splice(0)) this.#post(message);
  }

  #reported({ utterance, samples, time, isEnd }) {
    if (utterance <= this.#stoppedUpTo) return;
    if (this.#report?.utterance !== utterance) {
      const speech = this.#speeches.get(utterance);
      if (speech) this.handlers.started(speech);
    }
    this.#report = { utterance, samples, time };
    if (!isEnd) {
      this.handlers.played(utterance, Math.max(0, Math.round(samples - this.#latency() * this.#context.sampleRate)));
      return;
    }
    setTimeout(() => {
      if (utterance <= this.#stoppedUpTo) return;
      this.handlers.played(utterance, samples);
      this.#speeches.delete(utterance);
      if (this.#report?.utterance === utterance) {
        this.#report = null;
        this.handlers.ended();
      }
    }, this.#latency() * 1000);
  }
}

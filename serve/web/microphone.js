// The microphone: off at the start, open only while it is asked for, 16 kHz mono to whoever listens.

// Between two presses the device stays open for a while, so that the second press does not lose its first word.
const KEEP_OPEN_MS = 15000;

/** One microphone. */
export class Microphone {
  /** @type {MediaStream|null} */ #stream = null;
  /** @type {AudioContext|null} */ #context = null;
  #isSending = false;
  #timer = 0;
  #opening = null;

  /** @param {(samples: ArrayBuffer, db: number) => void} onFrame 320 samples of s16le */
  constructor(onFrame) {
    this.onFrame = onFrame;
  }

  /** Sound flows from now on. @throws when the person or the system says no */
  async start() {
    clearTimeout(this.#timer);
    this.#isSending = true;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    await this.#opening;
  }

  /** Nothing leaves any more; the device is let go soon after. */
  stop() {
    this.#isSending = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.close(), KEEP_OPEN_MS);
  }

  /** Lets the device go. */
  close() {
    this.#isSending = false;
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.#context?.close();
    this.#stream = this.#context = null;
  }

  async #open() {
    if (this.#stream?.active) return;
    if (!navigator.mediaDevices) throw new Error("no secure context");
    // The gain must not wander: the server's thresholds are in dB. Echo is cancelled, for the page itself speaks.
    const stream = await navigator.mediaDevices.getUserMedia({
      audio: { channelCount: 1, echoCancellation: true, noiseSuppression: false, autoGainControl: false },
    });
    const context = new AudioContext({ latencyHint: "interactive" });
    await context.audioWorklet.addModule("/assets/capture-worklet.js");
    const node = new AudioWorkletNode(context, "tenpass-capture", { numberOfOutputs: 0 });
    node.port.onmessage = ({ data }) => {
      if (this.#isSending) this.onFrame(data.samples, data.db);
    };
    context.createMediaStreamSource(stream).connect(node);
    await context.resume();
    stream.getAudioTracks()[0].addEventListener("ended", () => this.close());
    this.#stream = stream;
    this.#context = context;
  }
}

// Runs in the audio thread: a queue of speech that knows to the sample what has been played, and stops at once.

const REPORT_MS = 60;

class Player extends AudioWorkletProcessor {
  constructor() {
    super();
    /** @type {{utterance: number, first: number, samples: Float32Array}[]} */ this.queue = [];
    this.offset = 0;
    /** Utterances whose sound is complete, with their length. @type {Map<number, number>} */ this.complete = new Map();
    this.utterance = -1;
    this.position = 0;
    this.sinceReport = 0;
    this.port.onmessage = ({ data }) => this.receive(data);
  }

  receive(data) {
    if (data.type === "chunk") this.queue.push(data);
    else if (data.type === "end") {
      this.complete.set(data.utterance, data.samples);
      if (data.utterance === this.utterance) this.checkEnd();
    } else if (data.type === "stop") {
      this.queue = this.queue.filter((chunk) => chunk.utterance > data.utterance);
      this.offset = 0;
      this.utterance = -1;
    }
  }

  process(_inputs, outputs) {
    const output = outputs[0][0];
    let filled = 0;
    while (filled < output.length && this.queue.length) {
      const chunk = this.queue[0];
      if (chunk.utterance !== this.utterance) {
        this.utterance = chunk.utterance;
        this.position = 0;
      }
      const count = Math.min(output.length - filled, chunk.samples.length - this.offset);
      output.set(chunk.samples.subarray(this.offset, this.offset + count), filled);
      filled += count;
      this.offset += count;
      this.position = chunk.first + this.offset;
      if (this.offset < chunk.samples.length) continue;
      this.queue.shift();
      this.offset = 0;
      this.checkEnd();
    }
    this.sinceReport += output.length;
    if (this.utterance >= 0 && this.sinceReport >= (sampleRate * REPORT_MS) / 1000) this.report(false);
    return true;
  }

  checkEnd() {
    const length = this.complete.get(this.utterance);
    if (length === undefined || this.position < length) return;
    this.complete.delete(this.utterance);
    this.report(true);
    this.utterance = -1;
  }

  report(isEnd) {
    this.sinceReport = 0;
    this.port.postMessage({ utterance: this.utterance, samples: this.position, time: currentTime, isEnd });
  }
}

registerProcessor("tenpass-player", Player);

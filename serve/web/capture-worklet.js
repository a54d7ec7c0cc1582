// Runs in the audio thread: the microphone at the device's rate in, 20 ms of s16le at 16 kHz out.
import { Resampler, toInt16 } from "./resample.js";

const RATE = 16000;
const FRAME_SAMPLES = 320;

class Capture extends AudioWorkletProcessor {
  constructor() {
    super();
    this.resampler = new Resampler(sampleRate, RATE);
    this.frame = new Float32Array(FRAME_SAMPLES);
    this.filled = 0;
  }

  process(inputs) {
    const [channels] = inputs;
    if (!channels?.length) return true;
    for (const sample of this.resampler.process(mixed(channels))) {
      this.frame[this.filled] = sample;
      this.filled += 1;
      if (this.filled === FRAME_SAMPLES) this.send();
    }
    return true;
  }

  send() {
    let power = 0;
    for (const sample of this.frame) power += sample * sample;
    const samples = toInt16(this.frame);
    this.filled = 0;
    this.port.postMessage({ samples: samples.buffer, db: 10 * Math.log10(power / FRAME_SAMPLES + 1e-10) }, [
      samples.buffer,
    ]);
  }
}

function mixed(channels) {
  if (channels.length === 1) return channels[0];
  return channels[0].map((_, index) => channels.reduce((sum, channel) => sum + channel[index], 0) / channels.length);
}

registerProcessor("tenpass-capture", Capture);

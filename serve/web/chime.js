// Two notes when a memory is written: a fifth, soft, half a second. Made here, so that no file has to be loaded.

let context = null;

/** Plays the chime, if the browser allows sound yet. */
export function chime() {
  if (navigator.userActivation && !navigator.userActivation.hasBeenActive) return;
  context ??= new AudioContext();
  context.resume();
  const start = context.currentTime + 0.02;
  note(659.26, start, 0.35);
  note(987.77, start + 0.13, 0.5);
}

function note(frequency, start, seconds) {
  const gain = new GainNode(context, { gain: 0 });
  gain.gain.setValueAtTime(0, start);
  gain.gain.linearRampToValueAtTime(0.11, start + 0.012);
  gain.gain.exponentialRampToValueAtTime(0.0001, start + seconds);
  gain.connect(context.destination);
  for (const [multiple, share] of [
    [1, 1],
    [2.002, 0.18],
  ]) {
    const tone = new OscillatorNode(context, { frequency: frequency * multiple, type: "sine" });
    const part = new GainNode(context, { gain: share });
    tone.connect(part).connect(gain);
    tone.start(start);
    tone.stop(start + seconds + 0.02);
  }
}

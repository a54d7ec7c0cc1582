// The geometry of the orb: pure functions of time and level, without a canvas.

/** How each state looks: hue in degrees, turns a second, rest of the surface, how much of the level it takes. */
export const MOODS = {
  off: { hue: 244, spin: 0.012, rest: 0.015, gain: 0, glow: 0.1 },
  idle: { hue: 244, spin: 0.02, rest: 0.022, gain: 0, glow: 0.16 },
  listening: { hue: 205, spin: 0.03, rest: 0.03, gain: 0.2, glow: 0.28 },
  transcribing: { hue: 225, spin: 0.09, rest: 0.035, gain: 0, glow: 0.26 },
  thinking: { hue: 266, spin: 0.12, rest: 0.045, gain: 0, glow: 0.28 },
  generating: { hue: 250, spin: 0.07, rest: 0.035, gain: 0, glow: 0.26 },
  acting: { hue: 190, spin: 0.08, rest: 0.03, gain: 0, glow: 0.26 },
  speaking: { hue: 252, spin: 0.035, rest: 0.02, gain: 0.3, glow: 0.24 },
  waiting: { hue: 30, spin: 0.016, rest: 0.02, gain: 0.2, glow: 0.3 },
  error: { hue: 4, spin: 0.012, rest: 0.015, gain: 0, glow: 0.22 },
};

/** `count` points spread evenly over a sphere. @param {number} count @returns {Float32Array} x, y, z of each */
export function sphere(count) {
  const points = new Float32Array(count * 3);
  const golden = Math.PI * (3 - Math.sqrt(5));
  for (let index = 0; index < count; index += 1) {
    const y = 1 - (2 * (index + 0.5)) / count;
    const radius = Math.sqrt(1 - y * y);
    points[3 * index] = Math.cos(golden * index) * radius;
    points[3 * index + 1] = y;
    points[3 * index + 2] = Math.sin(golden * index) * radius;
  }
  return points;
}

/** A smooth field on the sphere, about -1..1. @param {number} x @param {number} y @param {number} z @param {number} time s */
export function swell(x, y, z, time) {
  return (
    0.5 * Math.sin(2.6 * x + 1.3 * time) * Math.cos(2.1 * y - 0.9 * time) +
    0.32 * Math.sin(3.7 * z + 1.9 * time + x) +
    0.18 * Math.sin(6.1 * y + 2.3 * z - 1.6 * time)
  );
}

/**
 * Turns a point about the upright axis, tilts it, and puts it on the screen with a little perspective.
 * @returns {{x: number, y: number, depth: number, scale: number}} x, y in units of the radius; depth -1 (far) .. 1 (near)
 */
export function project(x, y, z, angle) {
  const cos = Math.cos(angle),
    sin = Math.sin(angle);
  const turnedX = x * cos + z * sin,
    turnedZ = z * cos - x * sin;
  const tiltedY = y * 0.94 - turnedZ * 0.34,
    tiltedZ = turnedZ * 0.94 + y * 0.34;
  const scale = 3.2 / (3.2 - tiltedZ);
  return { x: turnedX * scale, y: tiltedY * scale, depth: tiltedZ, scale };
}

/** Goes from `from` towards `to`, the same at every frame rate. @param {number} seconds passed @param {number} pace of e-folds a second */
export function ease(from, to, seconds, pace) {
  return from + (to - from) * (1 - Math.exp(-pace * seconds));
}

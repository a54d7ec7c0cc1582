// The orb: a sphere of points that follows the voice, with thoughts as lights and memories as crystals inside.
import { MOODS, ease, project, sphere, swell } from "./orb-scene.js";

const POINTS = 560;
const REST_FRAME_MS = 1000 / 24;
const PULSE_S = 1.6;
const GROW_S = 1.4;
const HOVER_PX = 16;

/** Draws on one canvas, only while it can be seen. */
export class Orb {
  #surface = sphere(POINTS);
  #angle = 0.6;
  #time = 0;
  #last = 0;
  #level = 0;
  #mood = { ...MOODS.off };
  #pulses = [];
  #projected = [];
  #isSeen = false;
  #frame = 0;
  #still = window.matchMedia("(prefers-reduced-motion: reduce)");
  #dark = window.matchMedia("(prefers-color-scheme: dark)");
  state = "off";

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{level: () => number, points: () => Iterable<any>, hover: (point: any|null) => void}} source
   */
  constructor(canvas, source) {
    this.canvas = canvas;
    this.source = source;
    this.context = canvas.getContext("2d");
    /** When a point was first drawn, so that it grows. @type {Map<string, number>} */ this.born = new Map();
    new IntersectionObserver(([entry]) => {
      this.#isSeen = entry.isIntersecting;
      this.redraw();
    }).observe(canvas);
    new ResizeObserver(() => this.#fit()).observe(canvas);
    new MutationObserver(() => this.redraw()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    for (const query of [this.#still, this.#dark]) query.addEventListener("change", () => this.redraw());
    document.addEventListener("visibilitychange", () => this.redraw());
    canvas.addEventListener("pointermove", (event) => this.#hover(event));
    canvas.addEventListener("pointerleave", () => this.source.hover(null));
  }

  /** @param {string} state a key of MOODS */
  setState(state) {
    if (!(state in MOODS) || state === this.state) return;
    this.state = state;
    this.redraw();
  }

  /** A memory was written. */
  pulse() {
    if (!this.#still.matches) this.#pulses.push(this.#time);
    this.redraw();
  }

  /** Draws again: one still image where motion is unwanted, else as long as the canvas is seen. */
  redraw() {
    cancelAnimationFrame(this.#frame);
    if (!this.#isSeen || document.hidden) return;
    if (this.#still.matches) {
      this.#mood = { ...MOODS[this.state] };
      this.#level = 0;
      this.#draw();
      return;
    }
    this.#last = performance.now();
    this.#frame = requestAnimationFrame((now) => this.#step(now));
  }

  #step(now) {
    this.#frame = requestAnimationFrame((next) => this.#step(next));
    const isLively = this.#level > 0.01 || this.#pulses.length > 0 || MOODS[this.state].gain > 0;
    // At rest a slower pace looks the same and leaves the processor to the model.
    if (!isLively && now - this.#last < REST_FRAME_MS) return;
    const seconds = Math.min((now - this.#last) / 1000, 0.1);
    this.#last = now;
    this.#time += seconds;
    const wanted = MOODS[this.state];
    for (const key of ["spin", "rest", "gain", "glow"])
      this.#mood[key] = ease(this.#mood[key], wanted[key], seconds, 4);
    // The short way round the circle of colours.
    const turn = ((wanted.hue - this.#mood.hue + 540) % 360) - 180;
    this.#mood.hue = (ease(this.#mood.hue, this.#mood.hue + turn, seconds, 5) + 360) % 360;
    const level = Math.min(Math.max(this.source.level(), 0), 1);
    // Fast up, slower down: as an ear takes it.
    this.#level = ease(this.#level, level, seconds, level > this.#level ? 28 : 11);
    this.#angle += 2 * Math.PI * this.#mood.spin * seconds;
    this.#pulses = this.#pulses.filter((start) => this.#time - start < PULSE_S);
    this.#draw();
  }

  #fit() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const { clientWidth, clientHeight } = this.canvas;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.ratio = ratio;
    this.redraw();
  }

  get #isDark() {
    const theme = document.documentElement.dataset.theme;
    return theme ? theme === "dark" : this.#dark.matches;
  }

  #draw() {
    const { context, canvas, ratio } = this;
    const width = canvas.width / ratio,
      height = canvas.height / ratio;
    if (!width) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const centre = { x: width / 2, y: height / 2 };
    const radius = Math.min(width, height) * 0.345 * (1 + 0.06 * this.#level);
    this.#drawGlow(centre, radius);
    this.#drawPulses(centre, radius);
    this.#drawSurface(centre, radius, false);
    this.#drawPoints(centre, radius);
    this.#drawSurface(centre, radius, true);
    context.globalAlpha = 1;
  }

  #colour(lightness, alpha, hue = this.#mood.hue) {
    return `hsl(${hue} ${this.#isDark ? 82 : 58}% ${lightness}% / ${alpha})`;
  }

  #drawGlow({ x, y }, radius) {
    const strength = this.#mood.glow + (0.4 * this.#level * this.#mood.gain) / 0.3;
    const glow = this.context.createRadialGradient(x, y, radius * 0.1, x, y, radius * 1.42);
    const lightness = this.#isDark ? 62 : 60;
    glow.addColorStop(0, this.#colour(lightness, strength * (this.#isDark ? 0.75 : 0.8)));
    glow.addColorStop(0.62, this.#colour(lightness, strength * 0.32));
    glow.addColorStop(1, this.#colour(lightness, 0));
    this.context.globalAlpha = 1;
    this.context.fillStyle = glow;
    this.context.fillRect(x - radius * 1.45, y - radius * 1.45, radius * 2.9, radius * 2.9);
  }

  #drawPulses({ x, y }, radius) {
    for (const start of this.#pulses) {
      const age = (this.#time - start) / PULSE_S;
      this.context.globalAlpha = (1 - age) ** 2 * 0.8;
      this.context.strokeStyle = this.#colour(this.#isDark ? 74 : 52, 1, 282);
      this.context.lineWidth = 1 + 5 * (1 - age);
      this.context.beginPath();
      this.context.arc(x, y, radius * (0.95 + 0.42 * (1 - (1 - age) ** 3)), 0, 2 * Math.PI);
      this.context.stroke();
    }
  }

  #drawSurface({ x, y }, radius, isFront) {
    const { context } = this;
    const height = this.#mood.rest + this.#mood.gain * this.#level;
    context.fillStyle = this.#colour(this.#isDark ? 76 : 46, 1);
    for (let index = 0; index < this.#surface.length; index += 3) {
      const [px, py, pz] = [this.#surface[index], this.#surface[index + 1], this.#surface[index + 2]];
      const reach = 1 + height * swell(px, py, pz, this.#time);
      const point = project(px * reach, py * reach, pz * reach, this.#angle);
      if (point.depth > 0 !== isFront) continue;
      const near = (point.depth + 1) / 2;
      const size = (0.7 + 1.35 * near + 1.1 * this.#level * near) * (radius / 82);
      context.globalAlpha = Math.min(1, 0.1 + 0.8 * near * near);
      context.beginPath();
      context.arc(x + point.x * radius, y + point.y * radius, size, 0, 2 * Math.PI);
      context.fill();
    }
  }

  #drawPoints(centre, radius) {
    this.#projected = [];
    for (const point of this.source.points()) {
      if (!this.born.has(point.id)) this.born.set(point.id, this.#time);
      const age = this.#still.matches ? 1 : Math.min((this.#time - this.born.get(point.id)) / GROW_S, 1);
      // Inside the sphere, so that the surface never hides one.
      const place = project(point.x * 0.74, point.y * 0.74, point.z * 0.74, this.#angle);
      this.#projected.push({
        point,
        age,
        depth: place.depth,
        scale: place.scale,
        x: centre.x + place.x * radius,
        y: centre.y + place.y * radius,
      });
    }
    this.#projected.sort((one, other) => one.depth - other.depth);
    for (const place of this.#projected)
      place.point.kind === "memory" ? this.#drawCrystal(place, radius) : this.#drawLight(place, radius);
  }

  #drawCrystal({ x, y, scale, depth, age, point }, radius) {
    const { context } = this;
    const grown = 1 - (1 - age) ** 3;
    const size = radius * 0.078 * scale * grown;
    const lean = Math.sin(this.#angle * 2 + point.x * 5) * 0.35;
    context.globalAlpha = 0.62 + 0.34 * ((depth + 1) / 2);
    const facets = this.#isDark ? [88, 72, 56, 64] : [70, 56, 38, 48];
    const corners = [
      [x, y - size * 1.5],
      [x + size, y - size * 0.12],
      [x, y + size * 1.5],
      [x - size, y - size * 0.12],
    ];
    const ridge = [x + size * lean, y + size * 0.16];
    for (let side = 0; side < 4; side += 1) {
      context.fillStyle = this.#colour(facets[side], 1, 282);
      context.beginPath();
      context.moveTo(...corners[side]);
      context.lineTo(...corners[(side + 1) % 4]);
      context.lineTo(...ridge);
      context.closePath();
      context.fill();
    }
  }

  #drawLight({ x, y, scale, depth, age }, radius) {
    const { context } = this;
    const size = radius * 0.034 * scale * age;
    context.globalAlpha = 0.24;
    context.fillStyle = this.#colour(this.#isDark ? 78 : 44, 1, 184);
    context.beginPath();
    context.arc(x, y, size * 2.3, 0, 2 * Math.PI);
    context.fill();
    context.globalAlpha = 0.7 + 0.3 * ((depth + 1) / 2);
    context.beginPath();
    context.arc(x, y, size, 0, 2 * Math.PI);
    context.fill();
  }

  #hover(event) {
    const box = this.canvas.getBoundingClientRect();
    const at = { x: event.clientX - box.left, y: event.clientY - box.top };
    let nearest = null,
      least = HOVER_PX;
    for (const place of this.#projected) {
      const distance = Math.hypot(place.x - at.x, place.y - at.y);
      if (distance < least) {
        least = distance;
        nearest = place.point;
      }
    }
    this.canvas.style.setProperty("cursor", nearest ? "help" : "default");
    this.source.hover(nearest);
  }
}

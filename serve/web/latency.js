// Where a voice turn's time went: parts that sum to the total, as a bar and as figures.
import { h } from "./dom.js";
import { duration } from "./format.js";
import { t, word } from "./i18n.js";

/**
 * @param {{total_ms: number, parts: {part: string, ms: number}[]}} latency
 * @returns {HTMLElement}
 */
export function latencyBar({ total_ms, parts }) {
  const bar = h(
    "div",
    { class: "latency-bar", "aria-hidden": "true" },
    ...parts.map(({ ms }, index) => {
      const piece = h("span", { class: `part-${(index % 6) + 1}` });
      piece.style.setProperty("flex", `${Math.max(ms, 0)} 0 0`);
      return piece;
    }),
  );
  const list = h(
    "ul",
    { class: "latency-parts", "aria-label": t("latency.label") },
    ...parts.map(({ part, ms }, index) =>
      h("li", {}, h("span", { class: `swatch part-${(index % 6) + 1}` }), `${word("latency", part)} ${duration(ms)}`),
    ),
  );
  return h("div", { class: "latency" }, h("span", {}, t("latency.total", { ms: duration(total_ms) })), bar, list);
}

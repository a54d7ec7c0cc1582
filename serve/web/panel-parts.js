// Pieces that every panel is made of.
import { h } from "./dom.js";
import { t } from "./i18n.js";

/** @param {string} name of the panel @param {string} lead key of the sentence under it @returns {HTMLElement[]} */
export function panelHead(name, lead) {
  return [h("h2", {}, t(`panel.${name}`)), h("p", { class: "lead" }, t(lead))];
}

/** @param {Error} error @param {() => void} [again] */
export function errorBox(error, again) {
  return h(
    "div",
    { class: "panel-error" },
    h("p", {}, error.message),
    again ? h("button", { type: "button", class: "link-button", onclick: again }, t("try_again")) : null,
  );
}

/**
 * A bar from nothing to full.
 * @param {string} label
 * @param {number} used
 * @param {number} cap
 * @param {string} text such as "$1.25 of $5.00"
 */
export function gauge(label, used, cap, text) {
  const share = cap > 0 ? Math.min(used / cap, 1) : 1;
  const fill = h("span");
  fill.style.setProperty("transform", `scaleX(${share})`);
  const bar = h(
    "div",
    {
      class: "gauge",
      role: "meter",
      "aria-label": label,
      "aria-valuemin": "0",
      "aria-valuemax": String(cap),
      "aria-valuenow": String(Math.min(used, cap)),
      "aria-valuetext": text,
      data: { tone: share >= 1 ? "danger" : share >= 0.8 ? "warn" : "" },
    },
    fill,
  );
  return h("div", {}, h("div", { class: "gauge-label" }, h("strong", {}, label), h("span", {}, text)), bar);
}

/** @param {string} text @param {string} [tone] */
export function badge(text, tone = "") {
  return h("span", { class: "badge", data: { tone } }, text);
}

// Elements without innerHTML: every text becomes a text node, so that nothing from a model can become markup.

/** Paths of the icons, drawn on a grid of 20 by 20. */
const ICONS = {
  menu: "M3 6h14M3 10h14M3 14h9",
  close: "M5 5l10 10M15 5L5 15",
  plus: "M10 4v12M4 10h12",
  panel: "M3 4h14v12H3zM12 4v12",
  theme: "M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14",
  keyboard: "M2 5.5h16v9H2zM5 8.5h.01M8 8.5h.01M11 8.5h.01M14.5 8.5h.01M6 11.5h8",
  down: "M10 4v12M5 11l5 5 5-5",
  attach: "M15.5 9.5l-5.6 5.6a3.5 3.5 0 0 1-5-5l6.3-6.2a2.3 2.3 0 0 1 3.3 3.3l-6.2 6.2a1.2 1.2 0 0 1-1.7-1.7l5.3-5.2",
  think: "M7.5 15.5h5M8.2 18h3.6M10 2a5.4 5.4 0 0 0-3.2 9.7c.6.5.9 1.1.9 1.8h4.6c0-.7.3-1.3.9-1.8A5.4 5.4 0 0 0 10 2z",
  wave: "M3 8.5v3M6.5 6v8M10 3.5v13M13.5 6v8M17 8.5v3",
  mic: "M10 2.5a2.5 2.5 0 0 1 2.5 2.5v4.5a2.5 2.5 0 0 1-5 0V5A2.5 2.5 0 0 1 10 2.5zM5 9.5a5 5 0 0 0 10 0M10 14.5v3",
  send: "M10 16V4M5 9l5-5 5 5",
  stop: "M6 6h8v8H6z",
  chevron: "M8 5l5 5-5 5",
  up: "M6.5 9v7.5H4V9zM6.5 9l3-6.5c1.4 0 2.2 1 2 2.3L11 7.5h4.3c1 0 1.7.9 1.5 1.8l-1.2 5.7c-.2.9-.9 1.5-1.8 1.5H6.5",
  thumb_down:
    "M13.5 11V3.5H16V11zM13.5 11l-3 6.5c-1.4 0-2.2-1-2-2.3l.5-2.7H4.700c-1 0-1.7-.9-1.5-1.8l1.2-5.7c.2-.9.9-1.5 1.8-1.5h7.300",
  edit: "M4 16l.8-3.600L13 4.200a1.400 1.400 0 0 1 2 0l.8.8a1.400 1.400 0 0 1 0 2L7.600 15.200zM11.500 5.700l2.800 2.800",
  copy: "M7 7h9v9H7zM13 7V4H4v9h3",
  undo: "M7 4L3.500 7.500 7 11M3.500 7.500H12a4.500 4.500 0 0 1 0 9H8",
  retry: "M16 4v4h-4M15.500 8A6 6 0 1 0 16 11",
  memory: "M10 2l6 5-6 11L4 7zM4 7h12M10 2v16",
  journal: "M4 3h10l2 2v12H4zM7 7h6M7 10h6M7 13h4",
  shield: "M10 2l6.500 2.500v5c0 4-2.700 7-6.500 8.500C6.200 16.500 3.500 13.500 3.500 9.500v-5z",
  coin: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM12.500 7.500c-.5-.8-1.400-1.100-2.500-1.100-1.400 0-2.400.7-2.400 1.700 0 2.500 5 1.200 5 3.700 0 1.100-1.100 1.800-2.600 1.800-1.200 0-2.200-.4-2.700-1.300M10 5v10",
  tools:
    "M12.500 3a4 4 0 0 0-3.800 5.300L3 14l3 3 5.700-5.700A4 4 0 0 0 16.700 6L14 8.500 11.500 6 14 3.400A4 4 0 0 0 12.500 3z",
  chip: "M6 6h8v8H6zM8 3v3M12 3v3M8 14v3M12 14v3M3 8h3M3 12h3M14 8h3M14 12h3",
  settings: "M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4",
  trash: "M4 5.500h12M8 5.500V3.500h4v2M5.500 5.500l.7 11h7.600l.7-11M8.500 8.500v5M11.500 8.500v5",
  blind: "M2.500 10S5 5 10 5s7.500 5 7.500 5-2.500 5-7.500 5-7.500-5-7.500-5zM4 16L16 4",
  record: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM10 7.500a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5z",
  info: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM10 9.500V14M10 6.500h.01",
  warn: "M10 3l7.500 13.500h-15zM10 8.500v4M10 14.500h.01",
  check: "M4 10.500l4 4 8-9",
  play: "M6 4l10 6-10 6z",
};

/**
 * @param {string} name a key of the table above
 * @returns {SVGElement} decorative: hidden from screen readers
 */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("class", name === "chevron" ? "icon chevron" : "icon");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", ICONS[name] ?? "");
  svg.append(path);
  return svg;
}

/**
 * @param {string} tag
 * @param {Record<string, any>} [properties] `class`, `on…` listeners, `data` (an object), `aria-…`; the rest are properties
 * @param {...(Node|string|number|null|undefined|false)} children texts become text nodes
 * @returns {HTMLElement}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined) continue;
    if (name === "class") element.className = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.includes("-") || name === "role" || name === "for" || name === "list")
      element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(
    ...children
      .filter((child) => child !== null && child !== undefined && child !== false)
      .map((child) => (child instanceof Node ? child : String(child))),
  );
  return element;
}

/**
 * A square button with an icon and a spoken name.
 * @param {string} name of the icon
 * @param {string} label
 * @param {(event: MouseEvent) => void} onclick
 * @param {Record<string, any>} [properties]
 */
export function iconButton(name, label, onclick, properties = {}) {
  return h(
    "button",
    { type: "button", class: "icon-button", title: label, "aria-label": label, onclick, ...properties },
    icon(name),
  );
}

/** @param {string} id */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no element with the id ${id}`);
  return element;
}

/** Puts the icons where the document says `data-icon`. @param {ParentNode} root */
export function fillIcons(root) {
  for (const element of root.querySelectorAll("[data-icon]")) element.prepend(icon(element.dataset.icon));
}

/**
 * Says a text to a screen reader. Each text is its own node: a live region reads additions only.
 * @param {string} text
 * @param {boolean} [urgent] interrupts what is being read
 */
export function announce(text, urgent = false) {
  if (!text.trim()) return;
  const region = document.getElementById(urgent ? "assertive" : "polite");
  if (!region) return;
  region.append(h("p", {}, text));
  while (region.childElementCount > 12) region.firstElementChild.remove();
}

// What a text may hide or turn around: controls, bidirectional marks, zero-width and tag characters.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/**
 * The second guard behind the server's own escaping: no hidden character reaches a confirmation.
 * @param {string} text
 */
export function visible(text) {
  return String(text).replace(HIDDEN, (character) => `\\u{${character.codePointAt(0).toString(16).toUpperCase()}}`);
}

/**
 * Opens a modal dialog that closes with Escape and gives the focus back.
 * @param {string} title
 * @param {(Node|string)[]} content
 * @param {HTMLElement[]} actions
 * @returns {HTMLDialogElement}
 */
export function dialog(title, content, actions) {
  const heading = h("h2", { id: `dialog-${Date.now()}` }, title);
  const element = h(
    "dialog",
    { "aria-labelledby": heading.id },
    heading,
    ...content,
    h("div", { class: "dialog-actions" }, ...actions),
  );
  element.addEventListener("close", () => element.remove());
  element.addEventListener("click", (event) => {
    if (event.target === element) element.close();
  });
  document.body.append(element);
  element.showModal();
  return element;
}

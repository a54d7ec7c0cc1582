// The one place where markup enters the page: the server's sanitised `html`. Everything else is text nodes.
import { dialog, h, iconButton } from "./dom.js";
import { t } from "./i18n.js";

const ALLOWED = new Set(
  "A ABBR B BLOCKQUOTE BR CODE DEL DIV DL DT DD EM H1 H2 H3 H4 H5 H6 HR I INPUT KBD LI MARK OL P PRE S SPAN STRONG SUB SUP TABLE TBODY TD TFOOT TH THEAD TR UL".split(
    " ",
  ),
);
const KEPT = {
  A: ["href", "title"],
  CODE: ["class"],
  OL: ["start"],
  TD: ["align"],
  TH: ["align", "scope"],
  INPUT: ["type", "checked", "disabled"],
  SPAN: ["class"],
};

/**
 * Replaces what `target` holds. The markup has been sanitised by the server; a template is inert, so the walk over
 * it is a second guard that runs before anything of it is part of the page.
 * @param {HTMLElement} target
 * @param {string} html
 */
export function showHtml(target, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const element of [...template.content.querySelectorAll("*")]) {
    if (!ALLOWED.has(element.tagName)) {
      element.replaceWith(document.createTextNode(element.textContent));
      continue;
    }
    for (const { name } of [...element.attributes])
      if (!KEPT[element.tagName]?.includes(name)) element.removeAttribute(name);
    if (element.tagName === "INPUT") {
      element.type = "checkbox";
      element.disabled = true;
    }
    if (element.tagName === "A") element.rel = "noopener noreferrer nofollow";
  }
  for (const table of template.content.querySelectorAll("table")) {
    const frame = h("div", { class: "wide" });
    table.replaceWith(frame);
    frame.append(table);
  }
  target.replaceChildren(template.content);
}

/** Makes finished markup usable: code can be copied, what is too wide can be scrolled by key. @param {HTMLElement} target */
export function finishHtml(target) {
  for (const pre of target.querySelectorAll("pre")) {
    if (pre.parentElement.classList.contains("code")) continue;
    const frame = h("div", { class: "code" });
    pre.replaceWith(frame);
    frame.append(
      pre,
      copyButton(() => pre.textContent),
    );
  }
  for (const wide of target.querySelectorAll("pre, .wide")) {
    if (wide.scrollWidth <= wide.clientWidth) continue;
    wide.tabIndex = 0;
    wide.setAttribute("role", "region");
    wide.setAttribute(
      "aria-label",
      wide.querySelector("code")?.className.replace("language-", "") || t("log.assistant"),
    );
  }
}

/** @param {() => string} text */
export function copyButton(text) {
  const button = iconButton(
    "copy",
    t("copy"),
    async () => {
      try {
        await navigator.clipboard.writeText(text());
        button.title = t("copied");
        button.setAttribute("aria-label", t("copied"));
        setTimeout(() => {
          button.title = t("copy");
          button.setAttribute("aria-label", t("copy"));
        }, 1500);
      } catch {
        // Without the permission the text can still be selected.
      }
    },
    { class: "icon-button copy" },
  );
  return button;
}

/**
 * The deepest last place where more of a streamed text belongs, so that it does not jump when its markup arrives.
 * @param {HTMLElement} target
 * @returns {HTMLElement}
 */
export function growingEnd(target) {
  let place = target;
  while (
    place.lastElementChild &&
    /^(P|UL|OL|LI|BLOCKQUOTE|PRE|CODE|H[1-6])$/.test(place.lastElementChild.tagName) &&
    place.lastElementChild === lastMeaningful(place)
  ) {
    place = place.lastElementChild;
  }
  return place;
}

function lastMeaningful(place) {
  let node = place.lastChild;
  while (node && node.nodeType === Node.TEXT_NODE && !node.data.trim()) node = node.previousSibling;
  return node;
}

/** Links open only after their address was shown: an answer may name one address and hold another. @param {HTMLElement} root */
export function guardLinks(root) {
  const show = (event) => {
    const link = event.target instanceof Element ? event.target.closest(".prose a") : null;
    if (!link) return;
    event.preventDefault();
    if (event.type === "click" || event.button === 1) confirmLink(link.getAttribute("href") ?? "");
  };
  root.addEventListener("click", show);
  root.addEventListener("auxclick", show);
  root.addEventListener("dragstart", (event) => {
    if (event.target instanceof Element && event.target.closest(".prose a")) event.preventDefault();
  });
}

function confirmLink(href) {
  let address = null;
  try {
    address = new URL(href, location.origin);
  } catch {
    /* shown as it is, and not opened */
  }
  const opens = address && ["http:", "https:", "mailto:"].includes(address.protocol);
  const cancel = h("button", { type: "button", class: "button", onclick: () => box.close() }, t("cancel"));
  const open = h(
    "button",
    {
      type: "button",
      class: "button primary",
      onclick: () => {
        window.open(address.href, "_blank", "noopener,noreferrer");
        box.close();
      },
    },
    t("link.open"),
  );
  const box = dialog(
    t("link.title"),
    [
      h("p", { class: "address mono" }, address?.href ?? href),
      !opens && h("p", { class: "small muted" }, t("link.unsafe")),
    ].filter(Boolean),
    opens ? [cancel, open] : [cancel],
  );
}

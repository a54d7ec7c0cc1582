// Keys of the whole page. Typing is never taken for a command, and Enter in the message box never approves.
import { byId, dialog, h } from "./dom.js";
import { t } from "./i18n.js";

/**
 * @param {{conversation: import("./conversation.js").Conversation, composer: import("./composer.js").Composer, voice: import("./voice.js").Voice,
 *   threads: import("./threads.js").Threads, toggleSide: () => void, closeDrawers: () => boolean}} page
 */
export function listenToKeys(page) {
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]") || event.isComposing) return;
    if (event.key === "Enter" && event.altKey && !event.ctrlKey && !event.metaKey) return approve(event, page);
    // In a search field or a list, Escape is that control's own.
    if (event.key === "Escape")
      return event.target instanceof Element && event.target.matches("input, select") ? undefined : escape(event, page);
    if (event.key === " " && !isForTyping(event.target) && page.voice.isAvailable) {
      event.preventDefault();
      if (!event.repeat) page.voice.hold();
      return;
    }
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      byId("thread-search").focus();
      byId("thread-search").select();
      return;
    }
    if (event.ctrlKey || event.metaKey || isForTyping(event.target)) {
      if (!event.altKey) return;
    }
    if (event.altKey) return alternate(event, page);
    if (event.key === "?") {
      event.preventDefault();
      showKeys();
    }
    if (event.key === "/") {
      event.preventDefault();
      byId("message").focus();
    }
  });
  document.addEventListener("keyup", (event) => {
    if (event.key === " ") page.voice.release();
  });
}

function approve(event, page) {
  event.preventDefault();
  if (!event.repeat) page.conversation.openQuestion()?.approveByKey();
}

function escape(event, page) {
  if (page.closeDrawers()) {
    event.preventDefault();
    return;
  }
  const question = page.conversation.openQuestion();
  if (question) question.reply(false);
  else if (page.voice.player.isPlaying) page.voice.hush();
  else page.composer.stop();
}

function alternate(event, page) {
  if (event.ctrlKey || event.metaKey) return;
  if (event.code === "KeyN") {
    event.preventDefault();
    page.threads.startNew();
  }
  if (event.code === "KeyP") {
    event.preventDefault();
    page.toggleSide();
  }
}

// Space belongs to whatever can be pressed, opened or typed in.
function isForTyping(target) {
  return (
    target instanceof Element &&
    target.closest("input, textarea, select, button, a, summary, [role=tab], [contenteditable]") !== null
  );
}

/** The list of keys. */
export function showKeys() {
  const rows = [
    ["Enter", "send"],
    ["Shift Enter", "line"],
    ["Alt Enter", "approve"],
    [t("keys.escape"), "refuse"],
    [t("keys.space"), "talk"],
    ["/", "message"],
    ["Ctrl K", "search"],
    ["Alt N", "new"],
    ["Alt P", "side"],
  ];
  const close = h("button", { type: "button", class: "button primary", onclick: () => box.close() }, t("close"));
  const box = dialog(
    t("keys.title"),
    [
      h(
        "div",
        { class: "keys" },
        ...rows.flatMap(([keys, name]) => [
          h("span", {}, ...keys.split(" ").flatMap((key, index) => [index ? " " : "", h("kbd", {}, key)])),
          h("span", {}, t(`keys.${name}`)),
        ]),
      ),
    ],
    [close],
  );
}

// The message box: text, thinking level, files, send and stop.
import { byId, h } from "./dom.js";
import { Files } from "./files.js";
import { t } from "./i18n.js";

const LEVELS = ["default", "off", "low", "medium", "high"];

/** The bottom of the page. */
export class Composer {
  /**
   * @param {import("./store.js").Store} store
   * @param {import("./socket.js").Socket} socket
   * @param {import("./conversation.js").Conversation} conversation
   */
  constructor(store, socket, conversation) {
    Object.assign(this, { store, socket, conversation });
    this.field = byId("message");
    this.think = byId("think");
    this.sendButton = byId("send");
    this.stopButton = byId("stop");
    this.files = new Files(() => this.refresh());
    this.field.addEventListener("input", () => {
      this.#fit();
      this.refresh();
      this.#keepDraft();
    });
    this.field.addEventListener("keydown", (event) => this.#key(event));
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.stopButton.addEventListener("click", () => this.stop());
    for (const name of ["turn", "finished", "thread", "state"]) store.on(name, () => this.refresh());
    store.on("thread", () => this.#restoreDraft());
    this.translate();
    this.refresh();
  }

  /** The texts that are made here, in the page's language. */
  translate() {
    const chosen = this.think.value || "default";
    this.think.replaceChildren(...LEVELS.map((level) => h("option", { value: level }, t(`think.${level}`))));
    this.think.value = chosen;
    if (window.matchMedia("(pointer: coarse)").matches) this.field.enterKeyHint = "send";
  }

  /** Buttons follow what can be done now. */
  refresh() {
    const isRunning = Boolean(this.store.running);
    const hasText = this.field.value.trim() !== "" || this.files.count > 0;
    this.stopButton.hidden = !isRunning;
    // While a turn runs, a text (a word of feedback, the emergency word) can still be sent.
    this.sendButton.hidden = isRunning && !hasText;
    this.sendButton.disabled = !hasText || this.files.isBusy;
    const thinks = this.store.session?.model?.thinks !== false;
    this.think.disabled = !thinks;
    this.think.title = thinks ? "" : t("think.no");
  }

  #key(event) {
    if (event.key !== "Enter" || event.isComposing || event.altKey) return;
    if (event.shiftKey) return;
    event.preventDefault();
    if (!event.repeat) this.submit();
  }

  /** @param {string} [given] a text instead of the field's */
  async submit(given) {
    const typed = (given ?? this.field.value).trim();
    if (this.files.isBusy || (!typed && this.files.count === 0)) return;
    const text = [typed, this.files.take()].filter(Boolean).join("\n\n");
    const id = newId();
    const message = { type: "say", thread: this.store.thread, text, id };
    if (this.think.value !== "default" && !this.think.disabled) message.think = this.think.value;
    this.conversation.showPending(id, text, this.socket.isOpen);
    this.socket.say(message);
    if (given === undefined) this.field.value = "";
    this.#fit();
    this.refresh();
    this.#keepDraft();
  }

  /** Ends the running turn. */
  stop() {
    if (this.store.running) this.socket.send({ type: "stop", thread: this.store.thread });
  }

  // `field-sizing` is not everywhere yet; a height set here never makes the page jump, for the dock grows upwards.
  #fit() {
    this.field.style.setProperty("height", "auto");
    this.field.style.setProperty("height", `${this.field.scrollHeight + 2}px`);
  }

  // A reload must not lose what was being written.
  #keepDraft() {
    try {
      sessionStorage.setItem(`tenpass.draft.${this.store.thread}`, this.field.value);
    } catch {
      /* no storage, no draft */
    }
  }

  #restoreDraft() {
    if (this.drafted === this.store.thread) return;
    const isFirst = this.drafted === undefined;
    this.drafted = this.store.thread;
    if (isFirst && this.field.value) return;
    try {
      this.field.value = sessionStorage.getItem(`tenpass.draft.${this.store.thread}`) ?? "";
    } catch {
      this.field.value = "";
    }
    this.#fit();
    this.refresh();
  }
}

/** An id that no other message has. `randomUUID` is missing on plain http from another machine. */
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

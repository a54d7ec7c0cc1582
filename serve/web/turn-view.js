// One exchange on the page: the person's message, thinking, tools, questions, the answer, and what can be done with it.
import { CallList, ThinkingFold } from "./calls.js";
import { ConfirmBubble } from "./confirm.js";
import { h, icon, iconButton } from "./dom.js";
import * as format from "./format.js";
import { copyButton, finishHtml, growingEnd, showHtml } from "./html.js";
import { t, word } from "./i18n.js";
import { latencyBar } from "./latency.js";

/**
 * @typedef {{confirm: (question: any, approve: boolean) => void, verdict: (turn: string, verdict: string, correction?: string) => Promise<void>,
 *   undo: (turn: string) => void, retry: () => void, memory: () => void}} TurnActions
 */

/** The view of a turn. */
export class TurnView {
  /** @type {Map<string, ConfirmBubble>} */ bubbles = new Map();
  text = "";
  hasEnded = false;

  /** @param {string} turn @param {TurnActions} actions */
  constructor(turn, actions) {
    this.turn = turn;
    this.actions = actions;
    this.bubble = h("div", { class: "bubble", hidden: true });
    this.meta = h("div", { class: "bubble-meta", hidden: true });
    this.thinking = new ThinkingFold();
    this.calls = new CallList();
    this.questions = h("div", { class: "questions", hidden: true });
    this.answer = h("div", { class: "answer prose", hidden: true });
    this.extra = h("div", { class: "extra", hidden: true });
    this.foot = h("div", { class: "foot", hidden: true });
    this.element = h(
      "article",
      { class: "turn", data: { turn } },
      h("h2", { class: "sr" }, t("log.you")),
      this.bubble,
      this.meta,
      h("h2", { class: "sr" }, t("log.assistant")),
      this.thinking.element,
      this.calls.element,
      this.questions,
      this.answer,
      this.extra,
      this.foot,
    );
    this.tail = new Text();
  }

  /** @param {string} text @param {{time?: string, voice?: boolean, pending?: boolean}} [details] */
  setUser(text, { time, voice, pending } = {}) {
    this.userText = text;
    this.bubble.hidden = !text;
    this.bubble.textContent = text;
    this.bubble.classList.toggle("pending", Boolean(pending));
    const parts = [
      pending ? t("composer.waiting") : "",
      voice ? t("log.spoken") : "",
      time ? format.time(time) : "",
    ].filter(Boolean);
    this.meta.textContent = parts.join(" · ");
    this.meta.hidden = !voice && !pending;
    if (time) this.bubble.title = format.time(time);
  }

  /** The turn runs: the place of the answer is held from now on. */
  begin() {
    this.answer.hidden = false;
  }

  /** @param {string} piece shown at once, inside the markup that it continues */
  appendText(piece) {
    this.answer.hidden = false;
    if (!this.text) this.thinking.rest();
    this.text += piece;
    if (!this.tail.isConnected) {
      this.tail = new Text();
      const end = growingEnd(this.answer);
      // A row that is not complete has no place yet; the next markup brings it, within a fifth of a second.
      if (end === this.answer && this.answer.lastElementChild?.matches(".wide")) return;
      if (end === this.answer) {
        const paragraph = h("p", { class: "tail" });
        this.answer.append(paragraph);
        paragraph.append(this.tail);
      } else end.append(this.tail);
    }
    this.tail.appendData(piece);
  }

  /** @param {string} html the whole answer so far */
  setHtml(html) {
    this.answer.hidden = false;
    showHtml(this.answer, html);
    this.tail = new Text();
  }

  /** What was streamed is withdrawn. */
  discard() {
    this.text = "";
    this.answer.replaceChildren();
    this.tail = new Text();
  }

  /** @param {any} question */
  ask(question) {
    if (this.bubbles.has(question.id)) return;
    const bubble = new ConfirmBubble(question, (approve) => this.actions.confirm(question, approve));
    this.bubbles.set(question.id, bubble);
    this.questions.hidden = false;
    this.questions.append(bubble.element);
  }

  /** @param {any} message `confirmed` */
  answered(message) {
    this.bubbles.get(message.id)?.settle(message.how, message.by);
  }

  /** @param {string} text @param {"info"|"warn"} [name] @param {string} [html] */
  note(text, name = "info", html) {
    this.extra.hidden = false;
    const body = h("div", { class: html ? "prose" : "" }, html ? null : text);
    if (html) {
      showHtml(body, html);
      finishHtml(body);
    }
    this.extra.append(h("div", { class: "note" }, icon(name), body));
  }

  /** @param {string} section @param {string} text */
  memory(section, text) {
    this.extra.hidden = false;
    this.extra.append(
      h(
        "button",
        { type: "button", class: "memory-note", onclick: () => this.actions.memory() },
        icon("memory"),
        h("span", {}, t("memory.written", { section: word("memory", section), text })),
      ),
    );
  }

  /** The answer is complete. @param {any} message `finished`, or a message of a snapshot */
  finish(message) {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.element.classList.add("ended");
    this.text = message.text ?? this.text;
    this.thinking.finish(message.thinking);
    for (const bubble of this.bubbles.values())
      if (!bubble.element.classList.contains("answered")) bubble.settle("stopped");
    if (message.html) this.setHtml(message.html);
    else if (message.text) {
      this.answer.replaceChildren(h("p", { class: "tail" }, message.text));
    }
    this.answer.hidden = !this.text;
    finishHtml(this.answer);
    if (message.end && message.end !== "natural")
      this.note(word("end", message.end), message.end === "failed" ? "warn" : "info");
    this.#claims(message.claims);
    this.#foot(message);
    if (message.latency) this.latency(message.latency);
    if (message.verdict) this.verdict(message.verdict, message.correction);
    if (message.undone) this.undone();
  }

  #claims(claims) {
    if (!claims?.length) return;
    this.extra.hidden = false;
    this.extra.append(
      h(
        "div",
        { class: "claims" },
        t("claims.title"),
        h(
          "ul",
          {},
          ...claims.map((claim) =>
            h("li", {}, typeof claim === "string" ? claim : claim.why ? `${claim.text} (${claim.why})` : claim.text),
          ),
        ),
      ),
    );
  }

  #foot(message) {
    const judge = (verdict) => () => this.actions.verdict(this.turn, verdict);
    this.good = iconButton("up", t("verdict.good"), judge("good"), { "aria-pressed": "false" });
    this.bad = iconButton("thumb_down", t("verdict.bad"), judge("bad"), { "aria-pressed": "false" });
    this.fix = iconButton("edit", t("verdict.correct"), () => this.#openCorrection(), { "aria-pressed": "false" });
    this.undoButton = iconButton("undo", t("undo"), () => this.actions.undo(this.turn), { hidden: true });
    this.retryButton = iconButton("retry", t("retry"), () => this.actions.retry(), { hidden: true });
    const by = [
      message.author,
      message.ms ? format.duration(message.ms) : "",
      message.time ? format.time(message.time) : "",
    ]
      .filter(Boolean)
      .join(" · ");
    this.foot.replaceChildren(
      this.good,
      this.bad,
      this.fix,
      copyButton(() => this.text),
      this.retryButton,
      this.undoButton,
      h("span", { class: "by" }, by),
    );
    this.foot.hidden = false;
  }

  /** Only the last exchange can be taken back or asked again. @param {boolean} isLast */
  setLast(isLast) {
    if (!this.undoButton) return;
    const isUndone = this.element.classList.contains("undone");
    this.undoButton.hidden = this.retryButton.hidden = !isLast || isUndone;
  }

  #openCorrection() {
    if (this.form) {
      this.form.querySelector("textarea").focus();
      return;
    }
    const field = h("textarea", { class: "field", "aria-label": t("verdict.correction"), value: this.text });
    const close = () => {
      this.form?.remove();
      this.form = null;
      this.fix.focus();
    };
    const save = async () => {
      if (!field.value.trim()) return;
      await this.actions.verdict(this.turn, "corrected", field.value.trim());
      close();
    };
    this.form = h(
      "form",
      {
        class: "correction",
        onsubmit: (event) => {
          event.preventDefault();
          save();
        },
      },
      h("label", { class: "small muted" }, t("verdict.correction")),
      field,
      h(
        "div",
        { class: "dialog-actions" },
        h("button", { type: "button", class: "button", onclick: close }, t("cancel")),
        h("button", { type: "submit", class: "button primary" }, t("verdict.save")),
      ),
    );
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        close();
      }
    });
    this.foot.before(this.form);
    field.style.setProperty("height", `${Math.min(field.scrollHeight + 4, 320)}px`);
    field.focus();
    field.setSelectionRange(0, 0);
    field.scrollTop = 0;
  }

  /** @param {string} verdict @param {string} [correction] */
  verdict(verdict, correction) {
    if (!this.good) return;
    for (const [button, name] of [
      [this.good, "good"],
      [this.bad, "bad"],
      [this.fix, "corrected"],
    ])
      button.setAttribute("aria-pressed", String(verdict === name));
    this.corrected?.remove();
    if (verdict === "corrected" && correction) {
      this.corrected = h("p", { class: "corrected" }, t("verdict.corrected", { text: correction }));
      this.foot.before(this.corrected);
    }
  }

  /** @param {{total_ms: number, parts: {part: string, ms: number}[]}} latency */
  latency(latency) {
    this.latencyElement?.remove();
    this.latencyElement = latencyBar(latency);
    (this.foot.hidden ? this.extra : this.foot).after(this.latencyElement);
  }

  /** The exchange was taken back. */
  undone() {
    this.element.classList.add("undone");
    this.setLast(false);
    this.note(t("undone"));
  }
}

// A question before something happens: the real arguments, complete, as text. Nothing is hidden, cut or scrolled away.
import { announce, h, icon, visible } from "./dom.js";
import { t, word } from "./i18n.js";

// Keys that were meant for the question before must not answer this one.
const ARMED_AFTER_MS = 600;

/** One confirmation bubble. */
export class ConfirmBubble {
  /**
   * @param {any} question the `confirm` message
   * @param {(approve: boolean) => void} answer
   */
  constructor(question, answer) {
    this.question = question;
    this.answer = answer;
    this.shownAt = performance.now();
    this.isAnswered = false;
    const isRed = question.tier !== "confirm" && question.tier !== "auto";
    const title = t(isRed ? "confirm.title_irreversible" : "confirm.title");
    const id = `confirm-${question.id}`;
    this.title = h("h3", { id }, title);
    this.timer = h("span", { class: "confirm-time" });
    this.approve = h(
      "button",
      { type: "button", class: isRed ? "button danger" : "button primary", onclick: () => this.reply(true) },
      t("confirm.approve"),
      h("span", { class: "key" }, "Alt ↵"),
    );
    this.refuse = h(
      "button",
      { type: "button", class: "button", onclick: () => this.reply(false) },
      t("confirm.refuse"),
      h("span", { class: "key" }, t("keys.escape")),
    );
    this.actions = h("div", { class: "confirm-actions" }, this.refuse, this.approve);
    this.body = h("div", { class: "confirm-body" }, ...this.#content());
    this.element = h(
      "section",
      {
        class: "confirm",
        "aria-labelledby": id,
        data: { tier: isRed ? "irreversible" : question.tier, confirm: question.id },
      },
      h("div", { class: "confirm-head" }, icon(isRed ? "warn" : "shield"), this.title, this.timer),
      this.body,
      this.actions,
    );
    this.expiresAt = this.shownAt + (question.expires_s ?? 60) * 1000;
    this.#tick();
    this.interval = setInterval(() => this.#tick(), 500);
    announce(
      t("confirm.announce", {
        title,
        tool: question.tool,
        arguments: pairs(question)
          .map(([name, value]) => `${name}: ${value}`)
          .join("; "),
      }),
      true,
    );
  }

  #content() {
    const { question } = this;
    const shown = pairs(question);
    return [
      h(
        "p",
        { class: "confirm-tool" },
        h("strong", { class: "mono" }, visible(question.tool)),
        " ",
        h(
          "span",
          { class: "badge", data: { tone: question.tier === "confirm" ? "warn" : "danger" } },
          word("tier", question.tier),
        ),
      ),
      question.reason ? h("p", { class: "small" }, t("confirm.reason", { reason: visible(question.reason) })) : null,
      shown.length === 0
        ? h("p", { class: "muted small" }, t("confirm.no_arguments"))
        : h(
            "dl",
            { class: "shown" },
            ...shown.map(([name, value]) =>
              h(
                "div",
                { class: name === "!" ? "shown-warning" : "" },
                h("dt", { class: "mono" }, name),
                h("dd", {}, h("pre", {}, value)),
              ),
            ),
          ),
      question.preview?.length
        ? h(
            "div",
            {},
            h("p", { class: "small muted" }, t("confirm.preview")),
            h("ul", { class: "preview mono" }, ...question.preview.map((line) => h("li", {}, visible(line)))),
          )
        : null,
    ];
  }

  #tick() {
    const seconds = Math.max(0, Math.ceil((this.expiresAt - performance.now()) / 1000));
    this.timer.textContent = t("confirm.expires", { seconds });
    if (!this.element?.isConnected && performance.now() - this.shownAt > 2000) clearInterval(this.interval);
  }

  /** True when the end of the question is on the screen: only then may a key approve it. */
  isSeen() {
    const box = this.actions.getBoundingClientRect();
    return box.top >= 0 && box.bottom <= window.innerHeight;
  }

  /** The answer by a click or a key. @param {boolean} approve */
  reply(approve) {
    if (this.isAnswered) return;
    if (approve && performance.now() - this.shownAt < ARMED_AFTER_MS) return;
    this.isAnswered = true;
    this.approve.disabled = this.refuse.disabled = true;
    this.timer.textContent = t("confirm.sent");
    clearInterval(this.interval);
    this.answer(approve);
  }

  /** The answer by key. Approving needs the end of the question in view. */
  approveByKey() {
    if (this.isSeen()) return this.reply(true);
    this.actions.scrollIntoView({ block: "end", behavior: "smooth" });
    this.approve.focus({ preventScroll: true });
    announce(t("confirm.unseen"), true);
  }

  /** @param {string} how approved, refused, expired or stopped @param {string} [by] */
  settle(how, by) {
    this.isAnswered = true;
    clearInterval(this.interval);
    const hadFocus = this.element.contains(document.activeElement);
    this.element.classList.add("answered");
    const outcome = t(`confirm.${how}`) + (by === "voice" ? ` ${t("confirm.by_voice")}` : "");
    this.actions.remove();
    this.title.textContent = outcome;
    // What was asked stays readable, folded.
    this.element.replaceChildren(
      h(
        "details",
        { class: "fold" },
        h(
          "summary",
          { title: t("confirm.details") },
          icon("chevron"),
          icon(how === "approved" ? "check" : "shield"),
          this.title,
          h("span", { class: "mono" }, visible(this.question.tool)),
        ),
        this.body,
      ),
    );
    announce(outcome);
    if (hadFocus) document.getElementById("message")?.focus();
  }
}

function pairs(question) {
  const shown =
    question.shown ??
    Object.entries(question.arguments ?? {}).map(([name, value]) => [
      name,
      typeof value === "string" ? value : JSON.stringify(value, null, 2),
    ]);
  return shown.map(([name, value]) => [
    visible(name),
    visible(typeof value === "string" ? value : JSON.stringify(value, null, 2)),
  ]);
}

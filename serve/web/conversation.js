// The followed thread: builds it from a snapshot, keeps it up with the messages, and holds the scroll position.
import { announce, byId, h, icon } from "./dom.js";
import { finishHtml, guardLinks, showHtml } from "./html.js";
import { post } from "./http.js";
import { t } from "./i18n.js";
import { SentenceReader } from "./sentences.js";
import { TurnView } from "./turn-view.js";

const NEAR_END_PX = 56;

/** The middle of the page. */
export class Conversation {
  /** @type {Map<string, TurnView>} */ turns = new Map();
  /** Messages that the server has not accepted yet, by client id. @type {Map<string, TurnView>} */ pending = new Map();
  #reader = new SentenceReader();
  #isPinned = true;
  #isPlanned = false;
  #lastTop = 0;

  /**
   * @param {import("./store.js").Store} store
   * @param {import("./socket.js").Socket} socket
   * @param {{suggest: (text: string) => void, openMemory: () => void}} page
   */
  constructor(store, socket, page) {
    Object.assign(this, { store, socket, page });
    this.log = byId("log");
    this.scroll = byId("scroll");
    this.jump = byId("jump");
    guardLinks(document.body);
    this.scroll.addEventListener("scroll", () => this.#watchScroll(), { passive: true });
    new ResizeObserver(() => this.#keepEnd()).observe(this.log);
    new ResizeObserver(() => this.#keepEnd()).observe(this.scroll);
    this.jump.addEventListener("click", () => {
      this.#isPinned = true;
      this.#keepEnd();
      byId("message").focus();
    });
    this.#listen();
  }

  #listen() {
    const on = (name, handle) =>
      this.store.on(name, (message) => {
        handle(message);
        this.#keepEnd();
      });
    on("thread", (message) => this.#snapshot(message));
    on("turn", (message) => this.#begin(message));
    on("text", ({ turn, text }) => {
      this.#view(turn).appendText(text);
      this.#reader.push(text);
    });
    on("html", ({ turn, html }) => this.#view(turn).setHtml(html));
    on("thinking", ({ turn, text }) => this.#view(turn).thinking.append(text));
    on("discard", ({ turn }) => {
      this.#view(turn).discard();
      this.#reader.drop();
    });
    on("call", (message) => this.#view(message.turn).calls.show(message));
    on("called", (message) => this.#view(message.turn).calls.finish(message));
    on("confirm", (message) => this.#view(message.turn).ask(message));
    on("confirmed", (message) => {
      for (const view of this.turns.values()) view.answered(message);
    });
    on("memory", ({ turn, section, text }) => (turn ? this.#view(turn).memory(section, text) : null));
    on("note", (message) => this.#note(message));
    on("finished", (message) => this.#finish(message));
    on("verdict", ({ turn, verdict, correction }) => this.turns.get(turn)?.verdict(verdict, correction));
    on("undone", ({ turn }) => {
      this.turns.get(turn)?.undone();
      this.#markLast();
    });
    on("latency", (message) => this.turns.get(message.turn)?.latency(message));
    on("error", (message) => this.#error(message));
    on("accepted", (message) => this.#accepted(message));
    on("cut", ({ heard }) => this.line(t("voice.cut", { text: heard })));
  }

  #actions() {
    return {
      confirm: (question, approve) =>
        this.socket.send({ type: "confirm", id: question.id, digest: question.digest, approve }),
      verdict: async (turn, verdict, correction) => {
        try {
          await post(`/api/turns/${encodeURIComponent(turn)}/verdict`, { verdict, correction });
          this.turns.get(turn)?.verdict(verdict, correction);
          announce(t("verdict.saved"));
        } catch (error) {
          this.line(error.message, "danger");
        }
      },
      undo: (turn) => this.#undo(turn),
      retry: () => this.socket.send({ type: "retry", thread: this.store.thread }),
      memory: () => this.page.openMemory(),
    };
  }

  async #undo(turn) {
    try {
      const { memory } = await post(`/api/turns/${encodeURIComponent(turn)}/undo`);
      if (memory?.length)
        this.turns
          .get(turn)
          ?.note(
            `${t("undo.memory")} ${memory.map((entry) => (typeof entry === "string" ? entry : entry.text)).join(" · ")}`,
            "memory",
          );
      announce(t("undone"));
    } catch (error) {
      this.line(error.message, "danger");
    }
  }

  /** The view of a turn, made when it is new. @param {string} turn @returns {TurnView} */
  #view(turn) {
    let view = this.turns.get(turn);
    if (!view) {
      view = new TurnView(turn, this.#actions());
      this.turns.set(turn, view);
      this.log.append(view.element);
    }
    return view;
  }

  #snapshot({ messages = [], turn: running, title, waiting = [] }) {
    const isSame = this.title !== undefined && this.shownThread === this.store.thread;
    const hadPending = isSame ? [...this.pending].filter(([id]) => this.socket.isUnanswered(id)) : [];
    const scrolledTo = this.scroll.scrollTop;
    for (const view of this.turns.values()) for (const bubble of view.bubbles.values()) clearInterval(bubble.interval);
    this.shownThread = this.store.thread;
    this.title = title;
    this.turns.clear();
    this.pending.clear();
    this.#reader.drop();
    this.log.replaceChildren();
    for (const message of messages) this.#stored(message);
    if (running) this.#running(running);
    // What was said while a turn ran, and waits for its own.
    for (const { id, text } of waiting) this.#wait(id ?? `waiting-${this.pending.size}`, text, false);
    for (const [id, view] of hadPending) {
      this.pending.set(id, view);
      this.log.append(view.element);
    }
    if (!messages.length && !running && !this.pending.size) this.#welcome();
    this.#markLast();
    if (!isSame) this.#isPinned = true;
    else if (!this.#isPinned) this.scroll.scrollTop = scrolledTo;
  }

  #accepted({ client_id, again }) {
    const view = this.pending.get(client_id);
    if (!view) return;
    view.setUser(view.userText);
    if (!again) return;
    // It had come before the connection broke: the snapshot, or the turn that follows, shows it.
    this.pending.delete(client_id);
    view.element.remove();
  }

  #stored(message) {
    if (message.role === "note") return this.line(message.text, "", message.html);
    const view = this.#view(message.turn);
    if (message.role === "user") {
      view.setUser(message.text, { time: message.time });
      if (message.undone) view.element.classList.add("undone");
      return undefined;
    }
    for (const call of message.calls ?? []) view.calls.show(call);
    return view.finish(message);
  }

  #running(turn) {
    const view = this.#view(turn.turn);
    view.setUser(turn.user, { voice: turn.voice });
    view.begin();
    if (turn.thinking) view.thinking.append(turn.thinking);
    for (const call of turn.calls ?? []) view.calls.show(call);
    if (turn.text) view.appendText(turn.text);
    if (turn.confirmation) view.ask({ ...turn.confirmation, turn: turn.turn });
  }

  /** Shows a message before the server has it. @param {string} id @param {string} text @param {boolean} isSent */
  showPending(id, text, isSent) {
    this.log.querySelector(".welcome")?.remove();
    this.#wait(id, text, !isSent);
    this.#isPinned = true;
    this.#keepEnd();
  }

  #wait(id, text, isUnsent) {
    const view = new TurnView(id, this.#actions());
    view.setUser(text, { pending: isUnsent });
    this.pending.set(id, view);
    this.log.append(view.element);
  }

  #begin(message) {
    this.log.querySelector(".welcome")?.remove();
    const waiting = message.client_id ? this.pending.get(message.client_id) : null;
    if (waiting) {
      // The bubble that is on the page already becomes the turn: nothing jumps.
      this.pending.delete(message.client_id);
      waiting.turn = message.turn;
      waiting.element.dataset.turn = message.turn;
      this.turns.set(message.turn, waiting);
    }
    const view = this.#view(message.turn);
    view.setUser(message.user, { voice: message.voice });
    view.begin();
    this.#markLast();
    if (!this.title) this.title = message.user.slice(0, 60);
  }

  #finish(message) {
    const view = this.#view(message.turn);
    view.finish(message);
    this.#reader.flush();
    this.#markLast();
  }

  #note(message) {
    const waiting = message.client_id ? this.pending.get(message.client_id) : null;
    if (waiting) {
      this.pending.delete(message.client_id);
      waiting.bubble.classList.remove("pending");
      waiting.note(message.text, "info", message.html);
    } else if (message.turn && this.turns.has(message.turn))
      this.turns.get(message.turn).note(message.text, "info", message.html);
    else this.line(message.text, "", message.html);
    announce(message.text);
  }

  #error(message) {
    this.pending.delete(message.client_id);
    this.line(message.hint ? `${message.message}. ${message.hint}` : message.message, "danger");
    announce(message.message, true);
  }

  /** A line of the application in the conversation. @param {string} text @param {string} [tone] @param {string} [html] */
  line(text, tone = "", html) {
    this.log.querySelector(".welcome")?.remove();
    const body = h("div", { class: html ? "prose" : "" }, html ? null : text);
    if (html) {
      showHtml(body, html);
      finishHtml(body);
    }
    this.log.append(h("div", { class: "note", data: { tone } }, icon(tone === "danger" ? "warn" : "info"), body));
    this.#keepEnd();
  }

  #welcome() {
    const tries = [1, 2, 3, 4].map((index) => t(`welcome.try_${index}`));
    this.log.append(
      h(
        "div",
        { class: "welcome" },
        h("h2", {}, t("welcome.title")),
        h("p", {}, t("welcome.text")),
        h(
          "ul",
          { class: "suggestions" },
          ...tries.map((text) =>
            h("li", {}, h("button", { type: "button", onclick: () => this.page.suggest(text) }, text)),
          ),
        ),
      ),
    );
  }

  #markLast() {
    const views = [...this.turns.values()].filter((view) => !view.element.classList.contains("undone"));
    views.forEach((view, index) => view.setLast(index === views.length - 1 && !this.store.running));
  }

  /** The open question that is asked first. */
  openQuestion() {
    for (const view of this.turns.values())
      for (const bubble of view.bubbles.values()) if (!bubble.isAnswered) return bubble;
    return null;
  }

  #watchScroll() {
    // Only a person scrolls up: content that grew between a scroll and its event must not look like it.
    const wentUp = this.scroll.scrollTop < this.#lastTop - 1;
    this.#lastTop = this.scroll.scrollTop;
    if (this.#left() <= NEAR_END_PX) this.#isPinned = true;
    else if (wentUp) this.#isPinned = false;
    this.#showJump();
  }

  // Once a frame at most: reading the layout after every token would make each token slower.
  #keepEnd() {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    requestAnimationFrame(() => {
      this.#isPlanned = false;
      if (this.#isPinned) this.scroll.scrollTop = this.scroll.scrollHeight;
      this.#showJump();
    });
  }

  #left() {
    return this.scroll.scrollHeight - this.scroll.scrollTop - this.scroll.clientHeight;
  }

  #showJump() {
    this.jump.hidden = this.#isPinned || this.#left() <= NEAR_END_PX;
    const label = t(this.store.questions.size ? "log.question" : "log.jump");
    if (this.jump.lastChild.textContent !== label) this.jump.lastChild.textContent = label;
  }
}

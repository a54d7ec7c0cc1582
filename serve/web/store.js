// What the page knows. Views listen by name; nothing in here touches the document.

/** @typedef {(data: any) => void} Listener */

/** The state of the page and the one place that decides whether a message is news. */
export class Store {
  /** @type {Map<string, Set<Listener>>} */ #listeners = new Map();
  /** The answer of `GET /api/session`. @type {any} */ session = null;
  /** @type {any} */ settings = null;
  /** The followed thread. @type {string|null} */ thread = null;
  /** The last `seq` that was shown. */ seq = -1;
  /** The turn that runs in the followed thread. @type {string|null} */ running = null;
  /** @type {"connecting"|"open"|"lost"|"refused"} */ connection = "connecting";
  /** The server's voice state. */ voice = "off";
  /** What the running turn does. */ state = "done";
  /** Open questions by id, oldest first. @type {Map<string, any>} */ questions = new Map();
  /** Points of the orb by id. @type {Map<string, any>} */ points = new Map();

  /** @param {string} name @param {Listener} listener @returns {() => void} ends it */
  on(name, listener) {
    if (!this.#listeners.has(name)) this.#listeners.set(name, new Set());
    this.#listeners.get(name).add(listener);
    return () => this.#listeners.get(name).delete(listener);
  }

  /** @param {string} name @param {any} [data] */
  emit(name, data) {
    for (const listener of this.#listeners.get(name) ?? []) listener(data);
  }

  /** A message of the server. @param {any} message */
  receive(message) {
    if (message.type !== "thread" && typeof message.seq === "number") {
      if (message.thread !== this.thread) return this.emit("elsewhere", message);
      // After a reconnect the snapshot holds what would come twice.
      if (message.seq <= this.seq) return;
      this.seq = message.seq;
    }
    this.#apply(message);
    this.emit(message.type, message);
  }

  #apply(message) {
    switch (message.type) {
      case "thread":
        this.thread = message.thread;
        this.seq = message.seq ?? -1;
        this.running = message.turn?.turn ?? null;
        this.state = message.turn?.state ?? "done";
        this.questions.clear();
        if (message.turn?.confirmation) this.questions.set(message.turn.confirmation.id, message.turn.confirmation);
        break;
      case "turn":
        this.running = message.turn;
        this.state = "thinking";
        break;
      case "state":
        this.state = message.state;
        break;
      case "confirm":
        this.questions.set(message.id, message);
        break;
      case "confirmed":
        this.questions.delete(message.id);
        break;
      case "finished":
        if (this.running === message.turn) this.running = null;
        this.state = message.end === "failed" ? "error" : "done";
        this.questions.clear();
        break;
      case "model":
        if (this.session) Object.assign(this.session, { model_state: message.state, model_error: message.error });
        break;
      case "voice":
        this.voice = message.state;
        break;
      case "positions":
        this.points.clear();
        for (const point of message.points) this.points.set(point.id, point);
        break;
    }
  }
}

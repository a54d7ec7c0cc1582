// The WebSocket: reconnects with backoff, follows the thread again, and sends again what was never accepted.

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8000;

/** One connection to `/api/socket` that outlives the sockets it is made of. */
export class Socket {
  /** @type {WebSocket|null} */ #socket = null;
  #waitMs = FIRST_WAIT_MS;
  #timer = 0;
  #wasOpen = false;
  /** What was said and not yet accepted, by its own id. @type {Map<string, object>} */ #unanswered = new Map();

  /**
   * @param {{onMessage: (message: any) => void, onSound: (data: ArrayBuffer) => void,
   *   onState: (state: "open"|"lost"|"refused") => void, thread: () => string|null}} handlers
   */
  constructor(handlers) {
    this.handlers = handlers;
    // A laptop that wakes up, or a network that is back: do not wait for the backoff.
    window.addEventListener("online", () => this.#hurry());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.#hurry();
    });
  }

  /** Opens the connection; safe to call again. */
  connect() {
    clearTimeout(this.#timer);
    if (this.#socket && this.#socket.readyState <= WebSocket.OPEN) return;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/api/socket`);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    this.#wasOpen = false;
    socket.onopen = () => {
      this.#wasOpen = true;
      this.#waitMs = FIRST_WAIT_MS;
      this.send({ type: "open", thread: this.handlers.thread() });
      for (const message of this.#unanswered.values()) this.send(message);
      this.handlers.onState("open");
    };
    socket.onmessage = (event) => {
      if (typeof event.data !== "string") return this.handlers.onSound(event.data);
      const message = JSON.parse(event.data);
      if (message.client_id) this.#unanswered.delete(message.client_id);
      this.handlers.onMessage(message);
    };
    socket.onclose = () => {
      if (this.#socket === socket) this.#lost();
    };
  }

  /** @param {object} message @returns {boolean} whether it left */
  send(message) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  /** Sends a `say` and keeps it until the server has it. @param {{id: string}} message */
  say(message) {
    this.#unanswered.set(message.id, message);
    return this.send(message);
  }

  /** Sound that could not leave at once is worthless later: it is dropped. @param {ArrayBuffer} samples */
  sendSound(samples) {
    if (this.#socket?.readyState === WebSocket.OPEN && this.#socket.bufferedAmount < 256 * 1024)
      this.#socket.send(samples);
  }

  /** @param {string} id of a `say` */
  isUnanswered(id) {
    return this.#unanswered.has(id);
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  #lost() {
    this.#socket = null;
    this.handlers.onState("lost");
    // A socket that never opened may have been refused for its cookie: ask, so that the person is told what to do.
    if (!this.#wasOpen) this.#askWhy();
    const jitter = 0.75 + Math.random() * 0.5;
    this.#timer = setTimeout(() => this.connect(), this.#waitMs * jitter);
    this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_WAIT_MS);
  }

  async #askWhy() {
    try {
      const answer = await fetch("/api/session", { credentials: "same-origin", cache: "no-store" });
      if (answer.status === 401 || answer.status === 403) this.handlers.onState("refused");
    } catch {
      // The server is away: "lost" says so already.
    }
  }

  #hurry() {
    if (this.#socket) return;
    this.#waitMs = FIRST_WAIT_MS;
    this.connect();
  }
}

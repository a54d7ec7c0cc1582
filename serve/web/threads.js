// The list of conversations, with full-text search.
import { announce, byId, h } from "./dom.js";
import { dayGroup } from "./format.js";
import { get, post } from "./http.js";
import { t } from "./i18n.js";

const SEARCH_WAIT_MS = 160;

/** The left side. */
export class Threads {
  #request = 0;
  #timer = 0;

  /** @param {import("./store.js").Store} store @param {(id: string) => void} open */
  constructor(store, open) {
    this.store = store;
    this.openThread = open;
    this.list = byId("threads");
    this.search = byId("thread-search");
    this.search.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.load(), SEARCH_WAIT_MS);
    });
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") {
        event.preventDefault();
        this.list.querySelector("button")?.focus();
      }
    });
    this.list.addEventListener("keydown", (event) => this.#arrows(event));
    byId("new-thread").addEventListener("click", () => this.startNew());
    store.on("thread", () => this.#markCurrent());
    store.on("finished", () => this.load());
    store.on("elsewhere", (message) => {
      if (message.type === "finished") this.load();
    });
  }

  async startNew() {
    try {
      const { id } = await post("/api/threads");
      this.openThread(id);
    } catch (error) {
      this.store.emit("error", { message: error.message });
    }
  }

  /** Asks for the list, or for what matches the search. An answer that was overtaken is dropped. */
  async load() {
    const query = this.search.value.trim();
    this.#request += 1;
    const mine = this.#request;
    try {
      const { threads } = await get(`/api/threads?limit=50${query ? `&query=${encodeURIComponent(query)}` : ""}`);
      if (mine !== this.#request) return;
      this.#show(threads, query);
      if (query) announce(t("threads.found", { count: threads.length }));
    } catch {
      // The banner says that the server is away; the old list is still of use.
    }
  }

  #show(threads, query) {
    const items = [];
    let group = "";
    for (const thread of threads) {
      const heading = query ? "" : dayGroup(thread.updated);
      if (heading !== group) {
        group = heading;
        items.push(h("li", { class: "group" }, heading));
      }
      const button = h(
        "button",
        { type: "button", class: "thread", data: { thread: thread.id }, onclick: () => this.openThread(thread.id) },
        h("span", { class: "thread-title" }, thread.title || t("threads.untitled")),
        thread.match ? matchLine(thread.match) : null,
      );
      items.push(h("li", {}, button));
    }
    if (!threads.length)
      items.push(h("li", { class: "group" }, query ? t("threads.no_match", { query }) : t("threads.none")));
    this.list.replaceChildren(...items);
    this.#markCurrent();
  }

  #markCurrent() {
    for (const button of this.list.querySelectorAll("button")) {
      if (button.dataset.thread === this.store.thread) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  #arrows(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const buttons = [...this.list.querySelectorAll("button")];
    const next = buttons[buttons.indexOf(document.activeElement) + step];
    (next ?? (step < 0 ? this.search : document.activeElement)).focus();
  }
}

// Matches stand between U+2068 and U+2069 in the snippet.
function matchLine(match) {
  const parts = match.split(/\u2068|\u2069/);
  return h("span", { class: "thread-match" }, ...parts.map((part, index) => (index % 2 ? h("mark", {}, part) : part)));
}

// The tabs of the side, each loaded when it is shown and again when something in it changed.
import { byId, h, icon } from "./dom.js";
import { t } from "./i18n.js";
import { showMemory } from "./memory.js";
import { errorBox } from "./panel-parts.js";
import { showCapabilities, showJournals, showRuntime, showSpend, showWatchdog } from "./panel-views.js";
import { showSettings } from "./settings.js";

const PANELS = {
  memory: ["memory", showMemory],
  journals: ["journal", showJournals],
  watchdog: ["shield", showWatchdog],
  spend: ["coin", showSpend],
  capabilities: ["tools", showCapabilities],
  runtime: ["chip", showRuntime],
  settings: ["settings", showSettings],
};

/** The right side under the orb. */
export class Panels {
  current = "memory";
  #alerts = 0;
  #shown = 0;

  /** @param {import("./store.js").Store} store @param {any} context handed to the panels @param {() => boolean} isOpen */
  constructor(store, context, isOpen) {
    this.context = context;
    this.isOpen = isOpen;
    this.panel = byId("panel");
    this.tabs = byId("tabs");
    this.tabs.addEventListener("keydown", (event) => this.#arrows(event));
    store.on("memory", ({ id, text }) => {
      this.context.newest = { id, text };
      this.#refresh("memory");
    });
    store.on("undone", () => this.#refresh("memory"));
    store.on("finished", () => {
      this.#refresh("journals");
      this.#refresh("spend");
      this.#refresh("capabilities");
    });
    store.on("model", () => this.#refresh("runtime"));
    store.on("alert", () => {
      this.#alerts += 1;
      this.translate();
      this.#refresh("watchdog");
    });
    this.translate();
  }

  /** Draws the tabs again, in the page's language. */
  translate() {
    const hadFocus = this.tabs.contains(document.activeElement);
    this.tabs.replaceChildren(
      ...Object.entries(PANELS).map(([name, [picture]]) => {
        const isSelected = name === this.current;
        const count = name === "watchdog" && this.#alerts > 0 && !isSelected ? this.#alerts : 0;
        return h(
          "button",
          {
            type: "button",
            class: "tab",
            role: "tab",
            id: `tab-${name}`,
            title: t(`panel.${name}`),
            "aria-label": t(`panel.${name}`) + (count ? ` (${count})` : ""),
            "aria-selected": String(isSelected),
            "aria-controls": "panel",
            tabIndex: isSelected ? 0 : -1,
            onclick: () => this.open(name),
          },
          icon(picture),
          count ? h("span", { class: "count", "aria-hidden": "true" }, String(count)) : null,
        );
      }),
    );
    this.panel.setAttribute("aria-labelledby", `tab-${this.current}`);
    if (hadFocus) byId(`tab-${this.current}`).focus();
  }

  /** @param {string} name */
  open(name) {
    this.current = name in PANELS ? name : "memory";
    if (this.current === "watchdog") this.#alerts = 0;
    this.translate();
    this.panel.scrollTop = 0;
    return this.load();
  }

  /** Loads the shown panel; what is there stays until the new content has come. */
  async load() {
    if (!this.isOpen()) return;
    this.#shown += 1;
    const mine = this.#shown;
    const name = this.current;
    const root = h("div");
    if (this.panel.dataset.panel !== name) this.panel.replaceChildren(h("p", { class: "muted" }, t("loading")));
    try {
      await PANELS[name][1](root, this.context);
    } catch (error) {
      root.replaceChildren(
        h("h2", {}, t(`panel.${name}`)),
        errorBox(error, () => this.load()),
      );
    }
    if (mine !== this.#shown) return;
    const scrolledTo = this.panel.dataset.panel === name ? this.panel.scrollTop : 0;
    this.panel.replaceChildren(root);
    this.panel.dataset.panel = name;
    this.panel.scrollTop = scrolledTo;
    if (name === "memory") this.context.newest = null;
  }

  // A panel that someone works in with the keyboard is not pulled from under them.
  #refresh(name) {
    if (
      name === this.current &&
      this.isOpen() &&
      !(this.panel.contains(document.activeElement) && document.activeElement !== this.panel)
    )
      this.load();
  }

  #arrows(event) {
    const names = Object.keys(PANELS);
    const at = names.indexOf(this.current);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.open(names[(next + names.length) % names.length]);
    byId(`tab-${this.current}`).focus();
  }
}

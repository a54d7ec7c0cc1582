// Files dropped on the page or picked: sent at once, named in the message that follows.
import { byId, h, iconButton } from "./dom.js";
import * as format from "./format.js";
import { request } from "./http.js";
import { t } from "./i18n.js";

const LIMIT_BYTES = 32 * 1024 * 1024;

/** The files that go with the next message. */
export class Files {
  /** @type {{path: string, element: HTMLElement}[]} */ #sent = [];

  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    this.list = byId("attached");
    const input = byId("file");
    byId("attach").addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      this.add(input.files);
      input.value = "";
    });
    this.#acceptDrops();
  }

  #acceptDrops() {
    const veil = byId("drop");
    let depth = 0;
    const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");
    window.addEventListener("dragenter", (event) => {
      if (holdsFiles(event)) {
        depth += 1;
        veil.hidden = false;
      }
    });
    window.addEventListener("dragleave", (event) => {
      if (holdsFiles(event)) {
        depth -= 1;
        veil.hidden = depth <= 0;
      }
    });
    window.addEventListener("dragover", (event) => {
      if (holdsFiles(event)) event.preventDefault();
    });
    window.addEventListener("drop", (event) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      depth = 0;
      veil.hidden = true;
      this.add(event.dataTransfer.files);
    });
    byId("message").addEventListener("paste", (event) => {
      if (event.clipboardData?.files.length) {
        event.preventDefault();
        this.add(event.clipboardData.files);
      }
    });
  }

  /** @param {Iterable<File>} files */
  add(files) {
    for (const file of files) this.#send(file);
  }

  async #send(file) {
    const label = h("span", {}, t("files.sending", { name: file.name }));
    const item = { path: "", element: h("li", { "aria-busy": "true" }, label) };
    item.element.append(iconButton("close", t("files.remove", { name: file.name }), () => this.#remove(item)));
    this.list.append(item.element);
    this.list.hidden = false;
    this.#sent.push(item);
    this.changed();
    try {
      if (file.size > LIMIT_BYTES) throw new Error(t("files.too_big", { limit: format.bytes(LIMIT_BYTES) }));
      const form = new FormData();
      form.append("file", file, file.name);
      const stored = await request("POST", "/api/files", form);
      item.path = stored.path;
      label.textContent = `${stored.name} · ${format.bytes(stored.bytes)}`;
    } catch (error) {
      label.textContent = t("files.failed", { name: file.name, reason: error.message });
      item.element.dataset.tone = "danger";
    }
    item.element.removeAttribute("aria-busy");
    this.changed();
  }

  #remove(item) {
    item.element.remove();
    this.#sent = this.#sent.filter((other) => other !== item);
    this.list.hidden = this.#sent.length === 0;
    byId("message").focus();
    this.changed();
  }

  /** True while one is on its way: the message waits for its name. */
  get isBusy() {
    return this.#sent.some((item) => item.element.hasAttribute("aria-busy"));
  }

  get count() {
    return this.#sent.filter((item) => item.path).length;
  }

  /** The lines that name the files in the message; the list is empty afterwards. */
  take() {
    const lines = this.#sent.filter((item) => item.path).map((item) => t("files.prefix", { path: item.path }));
    this.#sent = [];
    this.list.replaceChildren();
    this.list.hidden = true;
    return lines.join("\n");
  }
}

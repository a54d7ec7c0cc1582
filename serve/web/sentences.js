// Sentences for the screen reader: a live region that changes with every token would never stop talking.
import { announce } from "./dom.js";

/** Gathers streamed text and announces it by finished sentences. */
export class SentenceReader {
  #rest = "";

  /** @param {string} piece */
  push(piece) {
    this.#rest += piece;
    const end = Math.max(
      ...[". ", "! ", "? ", "… ", ".\n", "!\n", "?\n", ":\n", "\n\n"].map((mark) => {
        const at = this.#rest.lastIndexOf(mark);
        return at < 0 ? -1 : at + mark.length;
      }),
    );
    if (end < 24) return;
    announce(plain(this.#rest.slice(0, end)));
    this.#rest = this.#rest.slice(end);
  }

  /** The turn ended: what is left is said too. */
  flush() {
    announce(plain(this.#rest));
    this.#rest = "";
  }

  /** The text was withdrawn. */
  drop() {
    this.#rest = "";
  }
}

/** Without the marks of Markdown, which would be read aloud. @param {string} text */
export function plain(text) {
  return text
    .replace(/```\w*/g, "")
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replace(/(^|\s)[#>*-]+\s/g, "$1")
    .replace(/[*_`|]{1,3}/g, "")
    .trim();
}

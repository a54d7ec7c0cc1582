// The words of the page in the session's language, else the browser's.
import english from "./words-en.js";
import french from "./words-fr.js";

const TABLES = { en: english, fr: french };
let language = document.documentElement.lang === "fr" ? "fr" : "en";

/** @returns {"en"|"fr"} */
export function currentLanguage() {
  return language;
}

/**
 * @param {string} key
 * @param {Record<string, string|number>} [values] for the `{name}` in the text
 * @returns {string} the key itself when there is no such text
 */
export function t(key, values = {}) {
  const text = TABLES[language][key] ?? TABLES.en[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/**
 * A text for a value that the server names; a value that is new to the page is shown as it is.
 * @param {string} group
 * @param {string} value
 */
export function word(group, value) {
  const key = `${group}.${value}`;
  return key in TABLES[language] ? TABLES[language][key] : String(value).replaceAll("_", " ");
}

/** @param {string|undefined} wanted "en", "fr" or "auto" @returns {boolean} whether it changed */
export function setLanguage(wanted) {
  const next = wanted === "en" || wanted === "fr" ? wanted : /^fr/i.test(navigator.language) ? "fr" : "en";
  const changed = next !== language;
  language = next;
  document.documentElement.lang = next;
  try {
    localStorage.setItem("tenpass.language", wanted === "en" || wanted === "fr" ? wanted : "auto");
  } catch {
    // Without storage the language is asked from the session at every start.
  }
  return changed;
}

/** Writes the texts that the document names in `data-t…`. @param {ParentNode} root */
export function fillTexts(root) {
  for (const element of root.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  for (const element of root.querySelectorAll("[data-t-placeholder]"))
    element.placeholder = t(element.dataset.tPlaceholder);
  for (const element of root.querySelectorAll("[data-t-label]")) {
    const text = t(element.dataset.tLabel);
    element.setAttribute("aria-label", text);
    if (element instanceof HTMLButtonElement) element.title = text;
  }
}

// What the page may change, and the theme.
import { announce, byId, h } from "./dom.js";
import { get, request } from "./http.js";
import { setLanguage, t, word } from "./i18n.js";
import { panelHead } from "./panel-parts.js";

const THEMES = ["auto", "dark", "light"];

/** @returns {string} */
export function currentTheme() {
  return document.documentElement.dataset.theme ?? "auto";
}

/** @param {string} theme */
export function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("tenpass.theme", theme);
  } catch {
    /* it holds until the page is closed */
  }
  byId("theme").setAttribute("aria-label", t("theme", { name: t(`theme.${theme}`) }));
  byId("theme").title = byId("theme").getAttribute("aria-label");
}

/** The next of automatic, dark and light. */
export function nextTheme() {
  return THEMES[(THEMES.indexOf(currentTheme()) + 1) % THEMES.length];
}

/** Whether a memory write may be heard: kept in this browser. */
export function chimes() {
  try {
    return localStorage.getItem("tenpass.chime") !== "off";
  } catch {
    return true;
  }
}

/**
 * @param {HTMLElement} root
 * @param {{store: import("./store.js").Store, changed: (settings: any) => void}} context
 */
export async function showSettings(root, { store, changed }) {
  const settings = store.settings ?? (await get("/api/settings"));
  const save = async (change) => {
    Object.assign(settings, change, await request("PUT", "/api/settings", change));
    store.settings = settings;
    if ("language" in change) setLanguage(change.language);
    if ("theme" in change) setTheme(change.theme);
    changed(change);
    announce(t("settings.saved"));
  };
  const chime = (isOn) => {
    try {
      localStorage.setItem("tenpass.chime", isOn ? "on" : "off");
    } catch {
      /* stays on */
    }
  };
  root.replaceChildren(
    h("h2", {}, t("panel.settings")),
    choice(
      "settings.language",
      settings.language,
      [
        ["auto", t("settings.auto")],
        ["en", "English"],
        ["fr", "Français"],
      ],
      (language) => save({ language }),
    ),
    choice(
      "settings.theme",
      settings.theme ?? currentTheme(),
      THEMES.map((theme) => [theme, t(`theme.${theme}`)]),
      (theme) => save({ theme }),
    ),
    // How much is asked is decided where the server is started, never by a page.
    settings.profile
      ? h(
          "div",
          { class: "setting" },
          h("span", {}, t("settings.profile"), h("span", { class: "meta" }, t("settings.profile_note"))),
          h("span", { class: "badge" }, word("profile", settings.profile)),
        )
      : "",
    toggle("settings.speak", settings.speak, (speak) => save({ speak })),
    toggle(
      "settings.hands_free",
      settings.hands_free,
      (hands_free) => save({ hands_free }),
      "settings.hands_free_note",
    ),
    toggle("settings.chime", chimes(), chime),
  );
}

function choice(key, value, options, change, note) {
  const select = h(
    "select",
    {},
    ...options.map(([name, text]) => h("option", { value: name, selected: name === value }, text)),
  );
  select.addEventListener("change", () => guarded(select, change(select.value)));
  return h(
    "label",
    { class: "setting" },
    h("span", {}, t(key), note ? h("span", { class: "meta" }, t(note)) : null),
    select,
  );
}

function toggle(key, value, change, note) {
  const box = h("input", { type: "checkbox", class: "switch", role: "switch", checked: Boolean(value) });
  box.addEventListener("change", () => guarded(box, change(box.checked)));
  return h(
    "label",
    { class: "setting" },
    h("span", {}, t(key), note ? h("span", { class: "meta" }, t(note)) : null),
    box,
  );
}

async function guarded(control, work) {
  try {
    await work;
  } catch (error) {
    control.closest(".setting").after(h("p", { class: "panel-error" }, error.message));
  }
}

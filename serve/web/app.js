// The start of the conversation page: makes the parts and connects them. Nothing here waits for the server to paint.
import { chime } from "./chime.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { announce, byId, fillIcons, h } from "./dom.js";
import { dollars } from "./format.js";
import { get, request } from "./http.js";
import { fillTexts, setLanguage, t } from "./i18n.js";
import { listenToKeys, showKeys } from "./keys.js";
import { Orb } from "./orb.js";
import { Panels } from "./panels.js";
import { chimes, currentTheme, nextTheme, setTheme } from "./settings.js";
import { Socket } from "./socket.js";
import { Store } from "./store.js";
import { Threads } from "./threads.js";
import { Voice } from "./voice.js";

const root = document.documentElement;
const store = new Store();
fillIcons(document);
fillTexts(document);
setTheme(currentTheme());
store.thread = remembered();

const socket = new Socket({
  onMessage: (message) => store.receive(message),
  onSound: (data) => voice.player.sound(data),
  onState: (state) => connectionChanged(state),
  thread: () => store.thread,
});
const conversation = new Conversation(store, socket, {
  suggest: (text) => {
    composer.submit(text);
    byId("message").focus();
  },
  openMemory: () => {
    setSide(true);
    panels.open("memory");
  },
});
const composer = new Composer(store, socket, conversation);
const voice = new Voice(store, socket, {
  changed: () => showMood(),
  problem: (text) => conversation.line(text, "danger"),
});
const threads = new Threads(store, (id) => openThread(id));
const panels = new Panels(
  store,
  { store, changed: settingsChanged, spend: showSpendChip, newest: null },
  () => root.dataset.side === "open",
);
const orb = new Orb(byId("orb"), { level: () => voice.level(), points: () => store.points.values(), hover: showTip });
listenToKeys({
  conversation,
  composer,
  voice,
  threads,
  toggleSide: () => setSide(root.dataset.side !== "open", true),
  closeDrawers,
});

/** The thread of this tab, so that a reload comes back to it. */
function remembered() {
  try {
    return sessionStorage.getItem("tenpass.thread");
  } catch {
    return null;
  }
}

function openThread(id) {
  setRail(false);
  if (store.thread === id && store.seq >= 0) {
    byId("message").focus();
    return;
  }
  store.thread = id;
  store.seq = -1;
  socket.send({ type: "open", thread: id });
  if (!window.matchMedia("(pointer: coarse)").matches) byId("message").focus();
}

function connectionChanged(state) {
  const before = store.connection;
  store.connection = state;
  if (state === "open") {
    showModel();
    if (before !== "connecting") {
      announce(t("net.back"));
      loadSession();
      threads.load();
      panels.load();
    }
    voice.resume();
  } else {
    // A blink of the network is not worth a word.
    if (state === "refused") showBanner(t("net.refused"), "danger");
    else
      setTimeout(() => {
        if (store.connection === "lost") showBanner(t("net.lost"));
      }, 600);
  }
  voice.refresh();
}

function showBanner(text, tone = "") {
  const banner = byId("banner");
  banner.hidden = !text;
  banner.dataset.tone = tone;
  if (banner.textContent !== text) banner.textContent = text;
}

async function loadSession() {
  try {
    const [session, settings] = await Promise.all([get("/api/session"), get("/api/settings")]);
    store.session = session;
    store.settings = settings;
    if (setLanguage(settings.language ?? session.language)) translate();
    if (settings.theme && settings.theme !== currentTheme()) setTheme(settings.theme);
    store.emit("session", session);
    showModel();
    composer.refresh();
    get("/api/spend").then(showSpendChip, () => {});
  } catch (error) {
    if (error.status === 401 || error.status === 403) connectionChanged("refused");
  }
}

function translate() {
  fillTexts(document);
  setTheme(currentTheme());
  composer.translate();
  panels.translate();
  panels.load();
  threads.load();
  voice.refresh();
  showModel();
  // The thread's own lines are made anew from a snapshot.
  if (socket.isOpen) socket.send({ type: "open", thread: store.thread });
}

function settingsChanged(change) {
  if ("language" in change) translate();
  if ("hands_free" in change && store.session?.voice?.available) voice.setHandsFree(change.hands_free);
}

function showModel() {
  const { session } = store;
  if (store.connection === "open")
    showBanner(
      session?.model_state === "failed" ? t("model.why", { reason: session.model_error ?? "" }) : "",
      "danger",
    );
  if (!session) return;
  const state = session.model_state;
  const name = session.model?.name ?? session.model?.spec ?? t("model.none");
  byId("model-chip").querySelector(".dot").dataset.state = state;
  byId("model-chip").querySelector(".chip-text").textContent = t(`model.${state}`, { name });
  byId("model-chip").title = session.model_error ?? session.model?.spec ?? "";
}

function showSpendChip(spend) {
  const chip = byId("spend-chip");
  chip.hidden = spend.usd === 0;
  chip.textContent = `${dollars(spend.usd)} / ${dollars(spend.cap_usd)}`;
  chip.setAttribute("aria-label", `${t("panel.spend")}: ${chip.textContent}`);
}

function showMood() {
  const mood = voice.mood();
  orb.setState(mood);
  let thoughts = 0,
    memories = 0;
  for (const point of store.points.values()) point.kind === "memory" ? (memories += 1) : (thoughts += 1);
  byId("orb").setAttribute("aria-label", t("orb.label", { state: byId("voice-name").textContent, thoughts, memories }));
}

function showTip(point) {
  const tip = byId("orb-tip");
  tip.hidden = !point;
  if (point)
    tip.replaceChildren(
      h("span", { class: "meta" }, t(`orb.${point.kind === "memory" ? "memory" : "thought"}`)),
      " ",
      point.text,
    );
}

function setSide(isOpen, isAsked = false) {
  if (isOpen) root.dataset.side = "open";
  else delete root.dataset.side;
  byId("side-open").setAttribute("aria-expanded", String(isOpen));
  if (window.innerWidth >= 1180) {
    try {
      localStorage.setItem("tenpass.side", isOpen ? "open" : "closed");
    } catch {
      /* not kept */
    }
  }
  showScrim();
  if (isOpen) panels.load();
  if (isAsked) (isOpen ? byId(`tab-${panels.current}`) : byId("side-open")).focus();
}

function setRail(isOpen) {
  const wasOpen = root.dataset.rail === "open";
  if (isOpen) root.dataset.rail = "open";
  else delete root.dataset.rail;
  byId("rail-open").setAttribute("aria-expanded", String(isOpen));
  showScrim();
  if (isOpen) byId("rail-close").focus();
  else if (wasOpen) byId("rail-open").focus();
}

// A drawer that lies over the conversation makes what is under it unreachable, as it looks.
function showScrim() {
  const width = window.innerWidth;
  const isRailOver = root.dataset.rail === "open" && width < 900;
  const isSideOver = root.dataset.side === "open" && width < 1180;
  byId("scrim").hidden = !(isRailOver || isSideOver);
  byId("talk").inert = isRailOver || isSideOver;
  byId("rail").inert = isSideOver || (width < 900 && !isRailOver);
  byId("side").inert = isRailOver;
}

function closeDrawers() {
  if (byId("scrim").hidden) return false;
  if (root.dataset.rail === "open") setRail(false);
  else setSide(false, true);
  return true;
}

byId("rail-open").addEventListener("click", () => setRail(true));
byId("rail-close").addEventListener("click", () => setRail(false));
byId("side-open").addEventListener("click", () => setSide(root.dataset.side !== "open", true));
byId("side-close").addEventListener("click", () => setSide(false, true));
byId("scrim").addEventListener("click", closeDrawers);
byId("model-chip").addEventListener("click", () => {
  setSide(true, true);
  panels.open("runtime");
});
byId("spend-chip").addEventListener("click", () => {
  setSide(true, true);
  panels.open("spend");
});
byId("keys").addEventListener("click", showKeys);
byId("theme").addEventListener("click", () => {
  const theme = nextTheme();
  setTheme(theme);
  announce(t("theme", { name: t(`theme.${theme}`) }));
  if (store.settings) {
    store.settings.theme = theme;
    request("PUT", "/api/settings", { theme }).catch(() => {});
  }
});
window.addEventListener("resize", showScrim);

store.on("thread", ({ thread, title }) => {
  try {
    if (thread) sessionStorage.setItem("tenpass.thread", thread);
  } catch {
    /* a reload opens the latest */
  }
  showTitle(title);
});
store.on("turn", ({ user }) => {
  if (byId("title").textContent === t("threads.untitled")) showTitle(user.slice(0, 80));
});
store.on("memory", () => {
  orb.pulse();
  if (chimes()) chime();
});
store.on("positions", () => {
  orb.redraw();
  showMood();
});
store.on("model", showModel);
store.on("alert", ({ level, text }) => {
  if (level === "alarm") conversation.line(text, "danger");
  announce(text, level === "alarm");
});

function showTitle(title) {
  byId("title").textContent = title || t("threads.untitled");
  document.title = title ? `${title} · tenpass` : "tenpass";
}

byId("side-open").setAttribute("aria-expanded", String(root.dataset.side === "open"));
showScrim();
socket.connect();
loadSession();
threads.load();
panels.load();
if (!window.matchMedia("(pointer: coarse)").matches) byId("message").focus({ preventScroll: true });

// Blind votes: two answers without names, a vote by key or click, the result only when every pair has one.
import { announce, byId, h, icon } from "./dom.js";
import { number } from "./format.js";
import { finishHtml, guardLinks, showHtml } from "./html.js";
import { get, post } from "./http.js";
import { fillTexts, t } from "./i18n.js";

const KEYS = {
  ArrowLeft: "left",
  1: "left",
  ArrowRight: "right",
  2: "right",
  ArrowDown: "tie",
  3: "tie",
  0: "both_bad",
  4: "both_bad",
};
const view = byId("view");
let vote = null;

fillTexts(document);
document.title = `${t("blind.title")} · tenpass`;
guardLinks(document.body);
document.addEventListener("keydown", (event) => {
  const choice = KEYS[event.key];
  if (
    !vote ||
    !choice ||
    event.ctrlKey ||
    event.altKey ||
    event.metaKey ||
    event.repeat ||
    document.querySelector("dialog[open]")
  )
    return;
  event.preventDefault();
  vote(choice);
});
window.addEventListener("hashchange", show);
show();

async function show() {
  vote = null;
  const [, id, what] = /^#([^/]+)(\/result)?$/.exec(location.hash) ?? [];
  try {
    if (id && what) await showResult(decodeURIComponent(id));
    else if (id) await showPair(decodeURIComponent(id));
    else await showSessions();
  } catch (error) {
    view.replaceChildren(
      h("p", { class: "failure", role: "alert" }, error.status === 409 ? t("blind.not_yet") : error.message),
      h("button", { type: "button", class: "button", onclick: show }, t("try_again")),
    );
  }
}

async function showSessions() {
  const { sessions } = await get("/api/blind");
  if (!sessions.length) {
    view.replaceChildren(
      h("p", {}, `${t("blind.none")} `, h("code", {}, "tenpass blind new --models A,B,C --prompts FILE")),
    );
    return;
  }
  view.replaceChildren(
    h(
      "ul",
      { class: "sessions" },
      ...sessions.map((session) =>
        h(
          "li",
          { class: "card" },
          h(
            "div",
            {},
            h("strong", {}, session.title),
            h("div", { class: "muted small" }, t("blind.pairs", { votes: session.votes, pairs: session.pairs })),
          ),
          h(
            "a",
            {
              class: session.done ? "button" : "button primary",
              href: `#${encodeURIComponent(session.id)}${session.done ? "/result" : ""}`,
            },
            t(session.done ? "blind.see" : session.votes ? "blind.continue" : "blind.start"),
          ),
        ),
      ),
    ),
  );
}

async function showPair(id) {
  const pair = await get(`/api/blind/${encodeURIComponent(id)}/next`);
  if (pair.done) {
    location.hash = `#${encodeURIComponent(id)}/result`;
    return;
  }
  const shownAt = performance.now();
  const sides = { left: sideCard(pair.left, t("blind.left")), right: sideCard(pair.right, t("blind.right")) };
  const cast = async (choice) => {
    // A vote on speech that was not heard says nothing.
    if ([sides.left, sides.right].some((side) => side.audio && !side.isHeard)) {
      announce(t("blind.listen_first"), true);
      hint.textContent = t("blind.listen_first");
      return;
    }
    vote = null;
    for (const button of buttons.children) button.disabled = true;
    try {
      await post(`/api/blind/${encodeURIComponent(id)}/votes`, {
        pair: pair.pair,
        choice,
        ms: Math.round(performance.now() - shownAt),
      });
      await show();
    } catch (error) {
      view.prepend(h("p", { class: "failure", role: "alert" }, error.message));
      vote = cast;
      for (const button of buttons.children) button.disabled = false;
    }
  };
  const hint = h("p", { class: "muted small", role: "status" });
  const buttons = h(
    "div",
    { class: "votes" },
    ...[
      ["left", "←"],
      ["right", "→"],
      ["tie", "↓"],
      ["both_bad", "0"],
    ].map(([choice, key]) =>
      h(
        "button",
        { type: "button", class: "button", data: { choice }, onclick: () => cast(choice) },
        t(`blind.${choice}`),
        h("kbd", { "aria-hidden": "true" }, key),
      ),
    ),
  );
  const heading = h(
    "div",
    { class: "prompt card", tabIndex: -1 },
    h("strong", { class: "muted small" }, t("blind.prompt")),
    "\n",
    pair.prompt,
  );
  view.replaceChildren(
    progress(pair),
    heading,
    h("div", { class: "pair" }, sides.left.element, sides.right.element),
    hint,
    buttons,
  );
  for (const body of view.querySelectorAll(".prose")) finishHtml(body);
  vote = cast;
  heading.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function progress({ pair, of }) {
  const fill = h("span");
  fill.style.setProperty("transform", `scaleX(${(pair - 1) / of})`);
  return h(
    "div",
    { class: "progress" },
    h("div", { class: "track", "aria-hidden": "true" }, fill),
    h("span", {}, t("blind.of", { pair, of })),
  );
}

function sideCard(answer, name) {
  const side = { audio: null, isHeard: false };
  const body = h("div", { class: "prose" });
  if (answer.audio) {
    side.audio = h("audio", { src: answer.audio, preload: "auto" });
    side.audio.addEventListener("ended", () => {
      side.isHeard = true;
    });
    const play = h(
      "button",
      {
        type: "button",
        class: "button",
        onclick: () => {
          for (const other of document.querySelectorAll("audio")) if (other !== side.audio) other.pause();
          side.audio.currentTime = 0;
          side.audio.play();
        },
      },
      icon("play"),
      t("blind.play", { side: name }),
    );
    body.append(side.audio, play);
  } else showHtml(body, answer.html);
  side.element = h("section", { class: "card side-card", "aria-label": name }, h("h2", {}, name), body);
  return side;
}

async function showResult(id) {
  const result = await get(`/api/blind/${encodeURIComponent(id)}/result`);
  const figure = (p) => (p < 0.001 ? "< 0.001" : number(p, 3));
  const rows = result.pairs.map((pair) =>
    h(
      "tr",
      {},
      h("td", {}, h("strong", {}, pair.a), " / ", pair.b),
      h("td", {}, tally(pair)),
      h("td", { class: "number" }, `${pair.wins_a} : ${pair.wins_b}`),
      h("td", { class: "number" }, String(pair.ties)),
      h("td", { class: "number" }, figure(pair.p)),
      h("td", {}, pair.verdict),
    ),
  );
  view.replaceChildren(
    h(
      "div",
      { class: "result" },
      h("h2", { tabIndex: -1, id: "result-title" }, t("blind.result")),
      h("p", { class: "muted small" }, t("blind.models")),
      h("ul", { class: "models" }, ...result.models.map((model) => h("li", { class: "badge" }, model))),
      h(
        "div",
        { class: "scroller card", tabIndex: 0, role: "region", "aria-label": t("blind.result") },
        h(
          "table",
          {},
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "col" }, t("blind.models")),
              h("td", {}),
              ...["wins", "ties", "p"].map((name) => h("th", { scope: "col", class: "number" }, t(`blind.${name}`))),
              h("th", { scope: "col" }, t("blind.verdict")),
            ),
          ),
          h("tbody", {}, ...rows),
        ),
      ),
      h("p", { class: "muted" }, t("blind.position", { ...result.position, p: figure(result.position.p) })),
      h("p", { class: "muted" }, t("blind.consistency", result.consistency)),
    ),
  );
  byId("result-title").focus({ preventScroll: true });
}

function tally({ wins_a, wins_b, ties }) {
  const part = (name, count) => {
    const piece = h("span", { class: name });
    piece.style.setProperty("flex", `${count} 0 0`);
    return piece;
  };
  return h("div", { class: "tally", "aria-hidden": "true" }, part("a", wins_a), part("t", ties), part("b", wins_b));
}

// Recording of one's own wake word and commands: say it, see the level, hear it, keep it or say it again.
import { announce, byId, h, icon } from "./dom.js";
import { duration, number } from "./format.js";
import { get, request } from "./http.js";
import { fillTexts, t } from "./i18n.js";
import { Microphone } from "./microphone.js";
import { drawWave, toWav } from "./wav.js";

// The server takes no body over 1 MiB: 25 s of 16 kHz are 800 kB.
const LONGEST_MS = 25000;
const view = byId("view");
const state = {
  items: [],
  at: 0,
  /** @type {Map<string, any>} */ clips: new Map(),
  frames: [],
  isRecording: false,
  timer: 0,
};
const microphone = new Microphone((samples, db) => {
  if (state.isRecording) state.frames.push(new Int16Array(samples));
  showLevel(db);
});
let parts = null;

fillTexts(document);
document.title = `${t("record.title")} · tenpass`;
byId("plan").addEventListener("submit", (event) => {
  event.preventDefault();
  makePlan();
});
document.addEventListener("keydown", (event) => {
  if (
    event.key !== " " ||
    !parts ||
    (event.target instanceof Element && event.target.closest("input, button, a, select"))
  )
    return;
  event.preventDefault();
  if (!event.repeat) begin();
});
document.addEventListener("keyup", (event) => {
  if (event.key === " ") end();
});
window.addEventListener("blur", end);

async function makePlan() {
  try {
    const plan = await get(
      `/api/record/plan?word=${encodeURIComponent(byId("word").value.trim())}&count=${encodeURIComponent(byId("count").value)}`,
    );
    Object.assign(state, { items: plan.items, at: 0 });
    state.clips.clear();
    build();
    try {
      await microphone.start();
    } catch (error) {
      say(t("voice.no_microphone", { reason: error.message }), "danger");
    }
  } catch (error) {
    view.replaceChildren(h("p", { class: "failure", role: "alert" }, error.message));
  }
}

function build() {
  const hold = h(
    "button",
    { type: "button", class: "hold", "aria-pressed": "false", "aria-label": t("record.hold") },
    icon("mic"),
  );
  hold.addEventListener("pointerdown", (event) => {
    if (event.button === 0) {
      hold.setPointerCapture(event.pointerId);
      begin();
    }
  });
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) hold.addEventListener(name, end);
  hold.addEventListener("contextmenu", (event) => event.preventDefault());
  hold.addEventListener("keydown", (event) => {
    if ([" ", "Enter"].includes(event.key)) {
      event.preventDefault();
      event.stopPropagation();
      if (!event.repeat) begin();
    }
  });
  hold.addEventListener("keyup", (event) => {
    if ([" ", "Enter"].includes(event.key)) {
      event.preventDefault();
      event.stopPropagation();
      end();
    }
  });
  parts = {
    hold,
    say: h("p", { class: "say", lang: "" }),
    kind: h("p", { class: "kind" }),
    line: h("p", { class: "verdict-line", role: "status" }),
    wave: h("canvas", { class: "waveform", role: "img", hidden: true }),
    trimmed: h("p", { class: "muted small", hidden: true }, t("record.trimmed")),
    actions: h("div", { class: "studio-actions" }),
    list: h("ul", { class: "clips" }),
    progress: h("div", { class: "progress" }),
    fill: h("span"),
    level: h("span", {}, ""),
    vu: h("div", { class: "vu-track" }, h("span")),
  };
  const vu = h(
    "div",
    { class: "vu", role: "img", "aria-label": t("record.level") },
    parts.vu,
    h("div", { class: "vu-label" }, h("span", {}, "−60 dB"), parts.level, h("span", {}, "0 dB")),
  );
  view.replaceChildren(
    h(
      "div",
      { class: "card studio" },
      h("p", { class: "muted small" }, t("record.say")),
      parts.say,
      parts.kind,
      hold,
      h("p", { class: "muted small" }, t("record.hold")),
      vu,
      parts.line,
      parts.wave,
      parts.trimmed,
      parts.actions,
    ),
    h("h2", {}, t("record.list")),
    parts.progress,
    parts.list,
  );
  showItem();
}

function showItem() {
  const item = state.items[state.at];
  const isDone = !item;
  parts.hold.disabled = isDone;
  parts.say.textContent = isDone ? t("record.done") : `“${item.say}”`;
  parts.say.lang = item?.language ?? "";
  parts.kind.replaceChildren(
    ...(isDone
      ? []
      : [
          h("span", { class: "badge" }, item.language),
          h("span", { class: "badge", data: { tone: "accent" } }, item.intent),
        ]),
  );
  parts.wave.hidden = parts.trimmed.hidden = true;
  say("");
  parts.actions.replaceChildren(
    ...(isDone ? [] : [h("button", { type: "button", class: "button", onclick: next }, t("record.skip"))]),
  );
  showList();
  announce(parts.say.textContent);
}

function showList() {
  const { items, clips } = state;
  parts.fill.style.setProperty("transform", `scaleX(${items.length ? clips.size / items.length : 0})`);
  parts.progress.replaceChildren(
    h("div", { class: "track", "aria-hidden": "true" }, parts.fill),
    h("span", {}, t("record.progress", { done: clips.size, total: items.length })),
  );
  parts.list.replaceChildren(
    ...items.map((item, index) => {
      const clip = clips.get(item.id);
      return h(
        "li",
        { "aria-current": index === state.at ? "true" : null },
        h("span", { lang: item.language }, item.say),
        clip ? h("span", { class: "badge", data: { tone: "good" } }, duration(clip.duration_ms)) : null,
        clip
          ? h("button", { type: "button", class: "link-button", onclick: () => remove(item) }, t("record.delete"))
          : h(
              "button",
              {
                type: "button",
                class: "link-button",
                onclick: () => {
                  state.at = index;
                  showItem();
                  parts.hold.focus();
                },
              },
              t("record.say"),
            ),
      );
    }),
  );
}

async function begin() {
  if (state.isRecording || !state.items[state.at]) return;
  state.frames = [];
  state.isRecording = true;
  parts.hold.setAttribute("aria-pressed", "true");
  say(t("record.recording"));
  state.timer = setTimeout(end, LONGEST_MS);
  try {
    await microphone.start();
  } catch (error) {
    state.isRecording = false;
    parts.hold.setAttribute("aria-pressed", "false");
    say(t("voice.no_microphone", { reason: error.message }), "danger");
  }
}

async function end() {
  if (!state.isRecording) return;
  clearTimeout(state.timer);
  state.isRecording = false;
  parts.hold.setAttribute("aria-pressed", "false");
  const item = state.items[state.at],
    frames = state.frames;
  if (!frames.length) {
    say(t("record.hold"));
    return;
  }
  say(t("record.checking"));
  const wav = toWav(frames);
  try {
    const clip = await request("POST", `/api/record/clips?item=${encodeURIComponent(item.id)}`, wav);
    judged(item, clip, frames, wav);
  } catch (error) {
    say(error.message, "danger");
  }
}

function judged(item, clip, frames, wav) {
  if (clip.accepted) {
    state.clips.set(item.id, clip);
    showList();
  }
  say(
    clip.accepted
      ? t("record.kept", { ms: clip.trimmed_ms[1] - clip.trimmed_ms[0], db: number(clip.level_db, 1) })
      : `${t("record.rejected")}: ${clip.problems.join("; ")}`,
    clip.accepted ? "good" : "danger",
  );
  parts.wave.hidden = parts.trimmed.hidden = false;
  parts.wave.setAttribute("aria-label", t("record.wave", { from: clip.trimmed_ms[0], to: clip.trimmed_ms[1] }));
  drawWave(parts.wave, frames, clip.trimmed_ms);
  const player = new Audio(URL.createObjectURL(wav));
  const following = h(
    "button",
    {
      type: "button",
      class: clip.accepted ? "button primary" : "button",
      onclick: () => {
        URL.revokeObjectURL(player.src);
        next();
      },
    },
    t(clip.accepted ? "record.next" : "record.skip"),
  );
  parts.actions.replaceChildren(
    h(
      "button",
      {
        type: "button",
        class: "button",
        onclick: () => {
          player.currentTime = 0;
          player.play();
        },
      },
      icon("play"),
      t("record.play"),
    ),
    clip.accepted
      ? h(
          "button",
          { type: "button", class: "button", onclick: () => remove(item).then(() => showItem()) },
          t("record.again"),
        )
      : "",
    following,
  );
  if (clip.accepted) following.focus();
}

async function remove(item) {
  const clip = state.clips.get(item.id);
  try {
    await request("DELETE", `/api/record/clips/${encodeURIComponent(clip.clip)}`);
    state.clips.delete(item.id);
    showList();
  } catch (error) {
    say(error.message, "danger");
  }
}

function next() {
  const { items, clips } = state;
  const missing = items.findIndex((item, index) => index > state.at && !clips.has(item.id));
  const first = items.findIndex((item, index) => index !== state.at && !clips.has(item.id));
  state.at = missing >= 0 ? missing : first >= 0 ? first : items.length;
  showItem();
  parts.hold.focus();
}

function say(text, tone = "") {
  parts.line.textContent = text;
  parts.line.dataset.tone = tone;
}

function showLevel(db) {
  if (!parts) return;
  const share = Math.min(Math.max((db + 60) / 60, 0), 1);
  parts.vu.firstElementChild.style.setProperty("transform", `scaleX(${share.toFixed(3)})`);
  parts.vu.dataset.tone = db > -6 ? "danger" : db < -40 ? "warn" : "";
  parts.level.textContent = `${number(db)} dB`;
}

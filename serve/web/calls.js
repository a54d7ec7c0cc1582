// Tool calls: one line each, with tier and outcome; the whole call in its fold.
import { h, icon, visible } from "./dom.js";
import { t, word } from "./i18n.js";

const TIER_TONE = { auto: "", confirm: "warn", irreversible: "danger" };
const OUTCOME_TONE = { ok: "good", repeated: "good", error: "danger", rejected: "danger", blocked: "danger" };

/** The list of calls of a turn. */
export class CallList {
  /** @type {Map<number, {call: any, element: HTMLElement}>} */ #rows = new Map();

  constructor() {
    this.element = h("div", { class: "calls" });
  }

  /** @param {{call: number, tool: string, tier: string, arguments: any, outcome?: string, summary?: string}} call */
  show(call) {
    const known = this.#rows.get(call.call);
    const element = row(call);
    if (known) {
      element.open = known.element.open;
      known.element.replaceWith(element);
    } else this.element.append(element);
    this.#rows.set(call.call, { call, element });
  }

  /** @param {{call: number, tool: string, outcome: string, summary: string}} result */
  finish(result) {
    const known = this.#rows.get(result.call)?.call ?? { tier: "auto", arguments: {} };
    this.show({
      ...known,
      call: result.call,
      tool: result.tool ?? known.tool,
      outcome: result.outcome,
      summary: result.summary,
    });
  }
}

function row(call) {
  const outcome = call.outcome ?? "";
  const summary = h(
    "summary",
    {},
    h("span", { class: "call-mark" }),
    h("span", { class: "call-tool mono" }, call.tool),
    h("span", { class: "call-line" }, oneLine(call.arguments)),
    h("span", { class: "badge", data: { tone: TIER_TONE[call.tier] ?? "danger" } }, word("tier", call.tier)),
    h(
      "span",
      { class: "badge", data: { tone: OUTCOME_TONE[outcome] ?? "" } },
      outcome ? word("outcome", outcome) : t("call.running"),
    ),
  );
  const empty = Object.keys(call.arguments ?? {}).length === 0;
  return h(
    "details",
    { class: "call", data: { outcome, call: call.call } },
    summary,
    h(
      "div",
      { class: "call-body" },
      h("h3", {}, t("call.arguments")),
      empty
        ? h("p", { class: "muted" }, t("call.none"))
        : h("pre", { class: "plain" }, visible(JSON.stringify(call.arguments, null, 2))),
      call.summary ? h("h3", {}, t("call.result")) : null,
      call.summary ? h("pre", { class: "plain" }, visible(call.summary)) : null,
    ),
  );
}

function oneLine(values) {
  return visible(
    Object.values(values ?? {})
      .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
      .join(" · ")
      .replace(/\s+/g, " ")
      .slice(0, 160),
  );
}

/** A fold for the model's reasoning. */
export class ThinkingFold {
  constructor() {
    this.label = h("span", {}, t("think.now"));
    this.body = h("div", { class: "fold-body", tabIndex: 0, role: "region", "aria-label": t("think.fold") });
    this.element = h(
      "details",
      { class: "fold thinking", hidden: true },
      h("summary", {}, icon("chevron"), this.label),
      this.body,
    );
    this.text = new Text();
    this.body.append(this.text);
  }

  /** @param {string} piece */
  append(piece) {
    this.element.hidden = false;
    this.label.textContent = t("think.now");
    const isAtEnd = this.body.scrollHeight - this.body.scrollTop - this.body.clientHeight < 24;
    this.text.appendData(piece);
    if (isAtEnd) this.body.scrollTop = this.body.scrollHeight;
  }

  /** The model writes: it does not think any more. */
  rest() {
    this.label.textContent = t("think.fold");
  }

  /** @param {string|undefined} whole replaces what was streamed, when it is given */
  finish(whole) {
    if (whole) this.text.data = whole;
    this.rest();
    this.element.hidden = !this.text.data;
  }
}

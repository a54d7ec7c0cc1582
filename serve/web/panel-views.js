// The panels that only read: journals, watchdog, spend, capabilities, what runs where.
import { h } from "./dom.js";
import * as format from "./format.js";
import { get } from "./http.js";
import { t, word } from "./i18n.js";
import { badge, errorBox, gauge, panelHead } from "./panel-parts.js";

/** @param {HTMLElement} root */
export async function showJournals(root) {
  const journals = await get("/api/journals?limit=50");
  const list = h("ul", { class: "rows" });
  const more = h("button", { type: "button", class: "button more" }, t("more"));
  let oldest = null;
  const add = (entries) => {
    for (const entry of entries) {
      list.append(
        h(
          "li",
          {},
          h(
            "div",
            { class: "row" },
            h("span", { class: "mono" }, entry.kind),
            h("span", { class: "meta" }, `${format.time(entry.time)} · ${entry.seq}`),
          ),
          entry.summary ? h("div", { class: "meta" }, entry.summary) : null,
        ),
      );
      oldest = entry.seq;
    }
    more.hidden = entries.length < 50;
  };
  more.addEventListener("click", async () => {
    try {
      add((await get(`/api/journals?limit=50&before=${oldest}`)).entries);
    } catch (error) {
      more.after(errorBox(error));
    }
  });
  add(journals.entries);
  root.replaceChildren(
    ...panelHead("journals", "journals.lead"),
    chain(t("journals.trace"), journals.trace),
    chain(t("journals.intentions"), journals.intentions),
    h("h3", {}, t("journals.trace")),
    list,
    more,
  );
}

function chain(name, journal) {
  return h(
    "div",
    { class: "setting" },
    h(
      "div",
      {},
      name,
      h("span", { class: "meta" }, t("journals.records", { count: format.number(journal.records) })),
      journal.problem ? h("span", { class: "meta" }, journal.problem) : null,
    ),
    journal.intact ? badge(t("journals.intact"), "good") : badge(t("journals.broken"), "danger"),
  );
}

/** @param {HTMLElement} root */
export async function showWatchdog(root) {
  const { alerts } = await get("/api/watchdog");
  root.replaceChildren(
    ...panelHead("watchdog", "watchdog.lead"),
    ...(alerts.length ? alerts.map(alertRow) : [h("p", { class: "muted" }, t("watchdog.none"))]),
  );
}

function alertRow(alert) {
  const tone = { notice: "accent", warning: "warn", alarm: "danger" }[alert.level];
  return h(
    "div",
    { class: "alert-row", data: { level: alert.level } },
    h("div", { class: "row" }, h("strong", {}, word("rule", alert.rule)), badge(word("watchdog", alert.level), tone)),
    h("p", {}, alert.text),
    h("p", { class: "meta" }, t("watchdog.since", { count: alert.count, time: format.time(alert.since) })),
  );
}

/** @param {HTMLElement} root @param {{spend?: (spend: any) => void}} context */
export async function showSpend(root, context) {
  const spend = await get("/api/spend");
  context.spend?.(spend);
  const usd = (value) => format.dollars(value);
  root.replaceChildren(
    ...panelHead("spend", "spend.lead"),
    gauge(t("spend.today"), spend.usd, spend.cap_usd, t("spend.of", { used: usd(spend.usd), cap: usd(spend.cap_usd) })),
    gauge(
      t("spend.searches"),
      spend.searches,
      spend.cap_searches,
      t("spend.of", { used: format.number(spend.searches), cap: format.number(spend.cap_searches) }),
    ),
    spend.fail_open ? h("p", { class: "small" }, t("spend.fail_open")) : "",
    spend.by_provider.length === 0
      ? h("p", { class: "muted" }, t("spend.none"))
      : table(
          [t("spend.provider"), t("spend.calls"), t("spend.cost")],
          spend.by_provider.map((row) => [row.name, format.number(row.calls), usd(row.usd)]),
        ),
  );
}

function table(heads, rows) {
  const isNumber = (index) => (index > 0 ? "number" : "");
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...heads.map((head, index) => h("th", { scope: "col", class: isNumber(index) }, head)))),
    h(
      "tbody",
      {},
      ...rows.map((row) => h("tr", {}, ...row.map((cell, index) => h("td", { class: isNumber(index) }, cell)))),
    ),
  );
}

/** @param {HTMLElement} root */
export async function showCapabilities(root) {
  const { tools } = await get("/api/capabilities");
  const statusTone = { seen_working: "good", known_limit: "warn", missing: "danger" };
  const tierTone = { auto: "", confirm: "warn", irreversible: "danger" };
  root.replaceChildren(
    ...panelHead("capabilities", "capabilities.lead"),
    h(
      "ul",
      { class: "rows" },
      ...tools.map((tool) =>
        h(
          "li",
          {},
          h(
            "div",
            { class: "row" },
            h("strong", { class: "mono" }, tool.name),
            badge(word("status", tool.status), statusTone[tool.status]),
          ),
          h("p", {}, tool.note),
          badge(word("tier", tool.tier), tierTone[tool.tier] ?? "danger"),
        ),
      ),
    ),
  );
}

/** @param {HTMLElement} root */
export async function showRuntime(root) {
  const runtime = await get("/api/runtime");
  const { gpu, process } = runtime;
  root.replaceChildren(
    ...panelHead("runtime", "runtime.lead"),
    h("ul", { class: "rows" }, ...runtime.rows.map(runtimeRow)),
    h("h3", {}, t("runtime.gpu")),
    gpu
      ? gauge(
          gpu.name,
          gpu.used_bytes,
          gpu.memory_bytes,
          t("spend.of", { used: format.bytes(gpu.used_bytes), cap: format.bytes(gpu.memory_bytes) }),
        )
      : h("p", { class: "muted" }, t("runtime.no_gpu")),
    gpu?.processes?.length
      ? table(
          [t("runtime.process"), t("runtime.rss")],
          gpu.processes.map((row) => [`${row.name} (${row.pid})`, format.bytes(row.bytes)]),
        )
      : "",
    h("h3", {}, t("runtime.process")),
    h(
      "table",
      {},
      h(
        "tbody",
        {},
        ...[
          [t("runtime.rss"), process.rss_bytes ? format.bytes(process.rss_bytes) : t("none")],
          [t("runtime.threads"), process.threads ? format.number(process.threads) : t("none")],
          [t("runtime.uptime"), format.uptime(process.uptime_s)],
        ].map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "number" }, value))),
      ),
    ),
  );
}

function runtimeRow(row) {
  const details = [row.engine, row.state, row.memory_bytes ? format.bytes(row.memory_bytes) : ""]
    .filter(Boolean)
    .join(" · ");
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row" },
      h("strong", {}, word("part", row.part)),
      badge(word("device", row.device), row.device === "gpu" ? "accent" : ""),
    ),
    h("div", { class: "meta" }, details),
    row.note ? h("div", { class: "meta" }, row.note) : null,
  );
}

// The memory panel: everything that is kept, 30 entries a section, each deletable.
import { announce, h, icon, iconButton } from "./dom.js";
import * as format from "./format.js";
import { get, request } from "./http.js";
import { t, word } from "./i18n.js";
import { errorBox, panelHead } from "./panel-parts.js";

/**
 * @param {HTMLElement} root
 * @param {{newest?: {id?: string, text: string}|null, store?: import("./store.js").Store}} context `newest`: an entry that was just written
 */
export async function showMemory(root, context = {}) {
  const memory = await get("/api/memory?offset=0");
  root.replaceChildren(
    ...panelHead("memory", "memory.lead"),
    h("h3", {}, t("memory.portrait")),
    memory.portrait
      ? h(
          "div",
          { class: "portrait", tabIndex: 0, role: "region", "aria-label": t("memory.portrait") },
          memory.portrait,
        )
      : h("p", { class: "muted" }, t("memory.portrait_none")),
    ...memory.sections.map((section) => sectionView(section, context)),
    pointList(context.store),
  );
}

// What the orb shows by place, for whoever cannot see or point at it.
function pointList(store) {
  const points = [...(store?.points.values() ?? [])];
  if (!points.length) return "";
  return h(
    "details",
    { class: "fold points" },
    h("summary", {}, icon("chevron"), t("orb.list")),
    h(
      "ul",
      { class: "rows" },
      ...points.map((point) =>
        h("li", {}, point.text, h("div", { class: "meta" }, t(point.kind === "memory" ? "orb.memory" : "orb.thought"))),
      ),
    ),
  );
}

function sectionView(section, context) {
  const count = h("span", { class: "meta" }, format.number(section.total));
  const list = h("ul", { class: "rows" });
  const more = h("button", { type: "button", class: "button more" }, t("more"));
  const view = { total: section.total, offset: 0 };
  const add = (entries) => {
    for (const entry of entries)
      list.append(
        entryView(entry, context, () => {
          view.total -= 1;
          view.offset -= 1;
          refresh();
        }),
      );
    view.offset += entries.length;
    refresh();
  };
  const refresh = () => {
    count.textContent = format.number(view.total);
    more.hidden = view.offset >= view.total;
    empty.hidden = view.total > 0;
  };
  const empty = h("p", { class: "muted small" }, t("memory.empty"));
  more.addEventListener("click", async () => {
    more.disabled = true;
    try {
      const first = list.childElementCount;
      const page = await get(`/api/memory/${encodeURIComponent(section.name)}?offset=${view.offset}`);
      view.total = page.total;
      add(page.entries);
      list.children[first]?.querySelector("button")?.focus();
    } catch (error) {
      more.after(errorBox(error));
    }
    more.disabled = false;
  });
  add(section.entries);
  return h(
    "section",
    { data: { section: section.name } },
    h("h3", {}, word("memory", section.name), count),
    empty,
    list,
    more,
  );
}

function isNewest(entry, newest) {
  return Boolean(newest) && (newest.id ? newest.id === entry.id : newest.text === entry.text);
}

function entryView(entry, context, removed) {
  const remove = iconButton("trash", t("memory.delete", { text: entry.text.slice(0, 80) }), async () => {
    remove.disabled = true;
    try {
      await request("DELETE", `/api/memory/${encodeURIComponent(entry.id)}`);
    } catch (error) {
      // 404: it was deleted elsewhere, which is what was wanted.
      if (error.status !== 404) {
        item.append(errorBox(error));
        remove.disabled = false;
        return;
      }
    }
    const next = item.nextElementSibling ?? item.previousElementSibling;
    item.remove();
    (next?.querySelector("button") ?? document.getElementById("panel"))?.focus();
    announce(t("memory.deleted"));
    removed();
  });
  const meta = [entry.date ? format.day(entry.date) : "", entry.uncertain ? t("memory.uncertain") : ""]
    .filter(Boolean)
    .join(" · ");
  const item = h(
    "li",
    { class: isNewest(entry, context.newest) ? "entry-new" : "" },
    h(
      "div",
      { class: "row" },
      h("div", {}, h("div", {}, entry.text), meta ? h("div", { class: "meta" }, meta) : null),
      remove,
    ),
  );
  return item;
}

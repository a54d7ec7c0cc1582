// Figures and times as people read them, in the page's language.
import { currentLanguage, t } from "./i18n.js";

const locale = () => (currentLanguage() === "fr" ? "fr-FR" : "en-GB");

/** @param {number} value @param {number} [digits] */
export function number(value, digits = 0) {
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: digits, minimumFractionDigits: digits }).format(
    value,
  );
}

/** @param {number} ms */
export function duration(ms) {
  return ms < 1000 ? `${number(ms)} ms` : `${number(ms / 1000, ms < 10000 ? 1 : 0)} s`;
}

/** @param {number} bytes */
export function bytes(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes,
    unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${number(value, unit === 0 || value >= 100 ? 0 : 1)} ${units[unit]}`;
}

/** @param {number} usd sums under ten cents keep their digits */
export function dollars(usd) {
  return `$${new Intl.NumberFormat(locale(), { minimumFractionDigits: 2, maximumFractionDigits: Math.abs(usd) < 0.1 ? 4 : 2 }).format(usd)}`;
}

/** @param {number} seconds */
export function uptime(seconds) {
  const hours = Math.floor(seconds / 3600),
    minutes = Math.floor((seconds % 3600) / 60);
  if (hours >= 48) return `${number(hours / 24)} d`;
  return hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min` : `${Math.floor(seconds)} s`;
}

/** Time alone today, else the day too. @param {string} text RFC 3339 */
export function time(text) {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return text ?? "";
  const today = date.toDateString() === new Date().toDateString();
  return date.toLocaleString(
    locale(),
    today
      ? { hour: "2-digit", minute: "2-digit" }
      : { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" },
  );
}

/** @param {string} text RFC 3339 or a date */
export function day(text) {
  const date = new Date(text);
  return Number.isNaN(date.getTime())
    ? (text ?? "")
    : date.toLocaleDateString(locale(), { day: "numeric", month: "short", year: "numeric" });
}

/** The heading of the list of threads that a time falls under. @param {string} text RFC 3339 */
export function dayGroup(text) {
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  const age = midnight.getTime() - new Date(text).getTime();
  if (age <= 0) return t("threads.today");
  if (age <= 86_400_000) return t("threads.yesterday");
  return age <= 6 * 86_400_000 ? t("threads.week") : t("threads.older");
}

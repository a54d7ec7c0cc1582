// Holds the calls of an answer against what tenpass expects of the case: the same matchers, the same rules.
const expect = context.test.metadata.tenpass.expect;
const reads = context.test.metadata.tenpass.reads || [];
const isTable = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const parsed = (text) => { try { return JSON.parse(text); } catch { return undefined; } };
const calls = (() => {
  let answer = typeof output === 'string' ? parsed(output) : output;
  if (isTable(answer) && Array.isArray(answer.tool_calls)) answer = answer.tool_calls;
  return (Array.isArray(answer) ? answer : [answer]).filter(isTable).map((call) => {
    const made = isTable(call.function) ? call.function : call;
    const given = made.arguments ?? made.input ?? made.args ?? {};
    return { name: made.name, args: typeof given === 'string' ? parsed(given) ?? {} : given };
  }).filter((call) => typeof call.name === 'string');
})();
const same = (a, b) => {
  if (typeof a === 'string' && typeof b === 'string') return a.trim() === b.trim();
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, i) => same(one, b[i]));
  if (isTable(a) && isTable(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => key in b && same(a[key], b[key]));
  }
  return a === b;
};
const loose = (text) => String(text).toLowerCase().replace(/[\s,./\-_*^'"]/g, '');
const pattern = (text) => {
  const flags = /^\(\?([imsu]+)\)/.exec(text);
  return new RegExp(flags ? text.slice(flags[0].length) : text, flags ? flags[1].replace('u', '') + 'u' : 'u');
};
const day = (text) => {
  const iso = /(\d{4})-(\d{2})-(\d{2})/.exec(text);
  if (iso) return iso[0];
  const numbers = /(\d{1,2})[./](\d{1,2})[./](\d{4})/.exec(text);
  if (numbers) return `${numbers[3]}-${numbers[2].padStart(2, '0')}-${numbers[1].padStart(2, '0')}`;
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? '' : new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 10);
};
const permuted = (wanted, given) => wanted.length === given.length && (wanted.length === 0
  || given.some((value, i) => fits(wanted[0], value, true)
    && permuted(wanted.slice(1), given.filter((_, other) => other !== i))));
function fits(wanted, value, present) {
  if (!isTable(wanted)) return present && same(wanted, value);
  if (!present) return wanted.absent === true || wanted.absent_ok === true;
  if ('exact' in wanted) return same(wanted.exact, value);
  if ('number' in wanted) return typeof value === 'number' && Math.abs(value - wanted.number) <= (wanted.within ?? 0);
  if ('set' in wanted) return Array.isArray(value) && permuted(wanted.set, value);
  if ('regex' in wanted) return typeof value === 'string' && pattern(wanted.regex).test(value);
  if ('date' in wanted) return typeof value === 'string' && day(value) === wanted.date;
  if ('contains' in wanted) return typeof value === 'string' && value.toLowerCase().includes(wanted.contains.toLowerCase());
  if ('loose' in wanted) return typeof value === 'string' && loose(value) === loose(wanted.loose);
  if ('any_of' in wanted) return wanted.any_of.some((one) => fits(one, value, true));
  if ('null' in wanted) return value === null;
  if ('items' in wanted) return Array.isArray(value) && value.length === wanted.items.length && wanted.items.every((one, i) => fits(one, value[i], true));
  if ('object' in wanted) {
    return isTable(value) && Object.entries(wanted.object).every(([key, one]) => fits(one, value[key], key in value))
      && (!wanted.only || Object.keys(value).every((key) => key in wanted.object));
  }
  return wanted.any === true;
}
const meets = (wanted, call) => call.name === wanted.tool
  && Object.entries(wanted.arguments || {}).every(([key, one]) => fits(one, call.args[key], key in call.args))
  && (!wanted.only || Object.keys(call.args).every((key) => key in (wanted.arguments || {})));
// Every expected call has a call of its own; what is left over may only read.
const assigned = (wanted, from, left) => {
  if (wanted.length === 0) return left.every((call) => reads.includes(call.name));
  return left.some((call, i) => meets(wanted[0], call) && (!expect.ordered || call.at >= from)
    && assigned(wanted.slice(1), call.at + 1, left.filter((_, other) => other !== i)));
};
const made = calls.map((call, at) => ({ ...call, at }));
const said = `called: ${made.map((call) => `${call.name}(${JSON.stringify(call.args)})`).join(', ') || 'nothing'}`;
const judged = (pass, why) => ({ pass, score: pass ? 1 : 0, reason: pass ? said : `${why}; ${said}` });
if (expect.no_call) return judged(made.length === 0, 'no call was right');
const forbidden = made.find((call) => (expect.forbid || []).includes(call.name));
if (forbidden) return judged(false, `${forbidden.name} is forbidden`);
const alternatives = expect.alternatives || [];
if (alternatives.length === 0) return judged(true, '');
return judged(alternatives.some((wanted) => assigned(wanted, 0, made)), 'not the calls that were expected');

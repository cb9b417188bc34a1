// Numbers and times as places on an axis.

export function linear(low, high, from, to) {
  const factor = (to - from) / (high - low || 1);
  return value => from + (value - low) * factor;
}

/** Round numbers between two, about so many. */
export function ticksOf(low, high, many) {
  const raw = (high - low) / Math.max(1, many) || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map(factor => factor * power).find(step => step >= raw) || raw;
  const ticks = [];
  for (let number = Math.ceil(low / step - 1e-9); number * step <= high + step * 1e-9 && ticks.length < 100; number++) ticks.push(Number((number * step).toPrecision(12)));
  return ticks;
}

const DAY = 86_400_000;
const STEPS = [1000, 60_000, 3_600_000, 6 * 3_600_000, DAY, 7 * DAY, 30.44 * DAY, 91.31 * DAY, 365.25 * DAY, 5 * 365.25 * DAY, 10 * 365.25 * DAY, 50 * 365.25 * DAY, 100 * 365.25 * DAY, 1000 * 365.25 * DAY];

/** Times between two, with their texts. */
export function timeTicks(low, high, many) {
  const step = STEPS.find(step => (high - low) / step <= many) || STEPS.at(-1);
  const ticks = [];
  for (let at = Math.ceil(low / step) * step; at <= high && ticks.length < 100; at += step) {
    const iso = new Date(at).toISOString();
    const text = step >= 365 * DAY ? iso.slice(0, iso.indexOf('-', 1)) : step >= 30 * DAY ? iso.slice(0, 7) : step >= DAY ? iso.slice(0, 10) : iso.slice(11, 16);
    ticks.push({ at, text });
  }
  return ticks;
}

/** Values by range: `{ from, to, count }`. */
export function bins(values, many) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low === high) return [{ from: low - 0.5, to: high + 0.5, count: values.length }];
  const isWhole = values.every(Number.isInteger) && high - low < many;
  const ticks = isWhole ? [] : ticksOf(low, high, many);
  const step = isWhole ? 1 : ticks.length > 1 ? ticks[1] - ticks[0] : high - low;
  const start = isWhole ? low - 0.5 : Math.floor(low / step) * step;
  const found = [];
  for (let from = start; from <= high && found.length < 200; from += step) found.push({ from, to: from + step, count: 0 });
  for (const value of values) found[Math.min(found.length - 1, Math.floor((value - start) / step))].count++;
  return found;
}

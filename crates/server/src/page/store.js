// What the browser keeps: texts of queries and choices for good, a log-in for as long as the tab is open. All of it is bounded.

const TEXT_MAX = 200_000;

function storage(kind) {
  // Some browsers refuse it in private windows.
  try {
    return window[kind];
  } catch {
    return null;
  }
}

/** Of each database of this server apart. */
const scope = 'lode:' + new URL('.', location.href).pathname + ':';

export function read(name, otherwise) {
  try {
    return JSON.parse(storage('localStorage').getItem(scope + name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Keeps a value; where there is no room, nothing happens. */
export function keep(name, value) {
  try {
    storage('localStorage').setItem(scope + name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** The newest entries that have room together. */
export function bounded(entries, entriesMax) {
  let length = 0;
  return entries.slice(0, entriesMax).filter(entry => (length += JSON.stringify(entry).length) < TEXT_MAX);
}

export const forTab = {
  read: name => storage('sessionStorage')?.getItem('lode:' + name) ?? null,
  keep: (name, value) => storage('sessionStorage')?.setItem('lode:' + name, value),
  drop: name => storage('sessionStorage')?.removeItem('lode:' + name),
};

// Elements. Text of data only ever becomes a text node, so that nothing in it is markup.

const SVG = 'http://www.w3.org/2000/svg';

export const $ = id => document.getElementById(id);

/** Sets attributes, and listeners (`onclick`), of an element. */
function dress(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value' || name === 'checked') element[name] = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
}

/** An element: `el('button.small', { onclick }, 'Run')`. */
export function el(kind, attributes = {}, ...children) {
  const [tag, ...classes] = kind.split('.');
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(' ');
  dress(element, attributes);
  element.append(...children.flat(Infinity).filter(child => child !== undefined && child !== null && child !== false));
  return element;
}

/** An element of a drawing. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  dress(element, attributes);
  element.append(...children.flat(Infinity).filter(child => child !== undefined && child !== null && child !== false));
  return element;
}

const ICONS = {
  run: 'M5 3.5v9l7.5-4.5z',
  stop: 'M4.5 4.5h7v7h-7z',
  close: 'M4 4l8 8M12 4l-8 8',
  add: 'M8 3.5v9M3.5 8h9',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  open: 'M6.5 3.5h-4v10h10v-4M9.5 2.5h4v4M13.5 2.5l-6 6',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z',
  sun: 'M8 5.2a2.8 2.8 0 1 0 .01 0zM8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M12.6 3.4l-1.1 1.1M4.5 11.5l-1.1 1.1',
  person: 'M8 2.5a2.6 2.6 0 1 0 .01 0zM2.8 13.8c.5-3 2.4-4.3 5.2-4.3s4.700 1.300 5.200 4.300',
  keys: 'M1.500 4.500h13v7.500h-13zM4 7h.5M7 7h.5M10 7h.5M4.500 9.700h7',
  share: 'M6.300 9.700l3.400-3.400M7.200 4.600l1.700-1.700a2.700 2.700 0 0 1 4 4l-1.700 1.700M8.800 11.400l-1.700 1.700a2.700 2.700 0 0 1-4-4l1.700-1.700',
  save: 'M4 2.500h8v11.500l-4-3-4 3z',
  history: 'M2.800 5.200A6 6 0 1 1 2 8M2.500 2.500v3h3M8 5v3.300l2.300 1.400',
  format: 'M2.500 3.500h11M5.500 6.500h8M5.500 9.500h8M2.500 12.500h11',
  plus: 'M8 3.500v9M3.500 8h9',
  minus: 'M3.500 8h9',
  fit: 'M2.500 6v-3.500h3.500M10 2.500h3.500v3.500M13.500 10v3.500h-3.500M6 13.500h-3.500v-3.500',
};

/** A small picture beside a text, or in a button that has a label. */
export function icon(name) {
  const filled = name === 'run' || name === 'stop';
  return svg('svg', { viewBox: '0 0 16 16', class: filled ? 'icon filled' : 'icon', 'aria-hidden': 'true' }, svg('path', { d: ICONS[name] }));
}

export const grouped = number => Math.round(number).toLocaleString('en');

export function count(number, one, many = one + 's') {
  return grouped(number) + ' ' + (number === 1 ? one : many);
}

/** 12.3K, for places without room. */
export function short(number) {
  for (const [size, unit] of [[1e9, 'G'], [1e6, 'M'], [1e4, 'K']]) {
    if (number >= size) return (number / (unit === 'K' ? 1e3 : size)).toFixed(number / (unit === 'K' ? 1e3 : size) < 100 ? 1 : 0) + unit;
  }
  return grouped(number);
}

export function seconds(time) {
  if (time < 1e-3) return (time * 1e6).toFixed(0) + ' µs';
  if (time < 1) return (time * 1e3).toFixed(time < 0.1 ? 1 : 0) + ' ms';
  return time.toFixed(time < 100 ? 1 : 0) + ' s';
}

export function bytes(number) {
  for (const unit of ['B', 'KiB', 'MiB', 'GiB']) {
    if (number < 1000) return (unit === 'B' ? Math.round(number) : number.toPrecision(3)) + ' ' + unit;
    number /= 1024;
  }
  return number.toPrecision(3) + ' TiB';
}

/** Whether an IRI may become a link: no script, no file. */
export function isWeb(iri) {
  try {
    return ['http:', 'https:'].includes(new URL(iri).protocol);
  } catch {
    return false;
  }
}

let told;
/** Tells readers of the screen, and shows it for a moment. */
export function tell(text) {
  const place = $('toast');
  place.textContent = text;
  place.classList.add('shown');
  clearTimeout(told);
  told = setTimeout(() => place.classList.remove('shown'), 2500);
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el('textarea', { value: text, 'aria-label': 'Copied text' });
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  tell('Copied');
}

/** Gives a file to the browser. */
export function saveAs(blob, name) {
  const link = el('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Calls once it has been quiet for so long. */
export function calmly(milliseconds, call) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), milliseconds);
  };
}

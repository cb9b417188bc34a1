// Charts of rows: what kind fits is chosen by the types of the columns, and can be chosen.

import { Drawing, whenSeen } from './canvas.js';
import { count, el, grouped, short, svg } from './dom.js';
import { bins, linear, timeTicks, ticksOf } from './scales.js';
import { isNumber, isTime, shownIri, textOf } from './terms.js';

const BARS_MAX = 40;
const POINTS_MAX = 5000;
const KINDS = [['bar', 'Bars'], ['line', 'Line'], ['scatter', 'Points'], ['histogram', 'Histogram']];

/** The columns by what is in them. */
function columnsOf({ vars, rows }) {
  return vars.map(name => {
    const terms = rows.map(row => row[name]).filter(Boolean);
    const share = test => terms.length > 0 && terms.filter(test).length >= terms.length * 0.8;
    return { name, kind: share(isNumber) ? 'number' : share(isTime) ? 'time' : 'text', distinct: new Set(terms.map(textOf)).size };
  });
}

/** The kind that fits, and its columns. */
function chosenOf(columns, rows) {
  const numbers = columns.filter(column => column.kind === 'number');
  const time = columns.find(column => column.kind === 'time');
  const text = columns.find(column => column.kind === 'text' && column.distinct > 1);
  if (!numbers.length) return time ? { kind: 'histogram', x: time.name, y: '' } : null;
  if (time) return { kind: 'line', x: time.name, y: numbers[0].name };
  if (text && text.distinct >= rows.length * 0.5) return { kind: 'bar', x: text.name, y: numbers[0].name };
  if (numbers.length > 1) {
    const isSeries = /year|month|day|date|time|week/i.test(numbers[0].name);
    return { kind: isSeries ? 'line' : 'scatter', x: numbers[0].name, y: numbers[1].name };
  }
  return rows.length > 12 && !text ? { kind: 'histogram', x: numbers[0].name, y: '' } : { kind: 'bar', x: (text || columns[0]).name, y: numbers[0].name };
}

const valueOf = term => (isTime(term) ? Date.parse(term.value.length === 4 ? term.value + '-01-01' : term.value) : Number(term?.value));

export function chartView(answer) {
  const columns = columnsOf(answer);
  const chosen = chosenOf(columns, answer.rows);
  if (!chosen || !answer.rows.length) return el('p.empty-note', {}, 'A chart needs a column of numbers or dates.');
  const place = el('div');
  const note = el('span.muted', { role: 'status' });
  const select = (label, name, options) => {
    const box = el('select', { id: 'chart-' + name, onchange: () => { chosen[name] = box.value; draw(); } }, options.map(([value, text]) => el('option', { value }, text)));
    box.value = chosen[name];
    return el('label.field', {}, label, box);
  };
  const numeric = columns.filter(column => column.kind !== 'text').map(({ name }) => [name, name]);
  const tools = el('div.bar.view-tools', {}, select('Kind', 'kind', KINDS), select('X', 'x', columns.map(({ name }) => [name, name])), select('Y', 'y', [...numeric]), note);
  function draw() {
    tools.children[2].hidden = chosen.kind === 'histogram';
    if (!chosen.y && numeric.length) chosen.y = numeric.at(-1)[0];
    tools.querySelector('#chart-y').value = chosen.y;
    const chart = new Chart(answer.rows, columns, chosen);
    note.textContent = chart.note;
    place.replaceChildren(chart.element);
  }
  draw();
  return el('div.chart-view', {}, tools, place);
}

class Chart {
  constructor(rows, columns, { kind, x, y }) {
    Object.assign(this, { rows, kind, x, y, note: '' });
    this.isTime = columns.find(column => column.name === x)?.kind === 'time';
    this.isText = columns.find(column => column.name === x)?.kind === 'text';
    this.points = this.pointsOf();
    this.picture = svg('svg', { role: 'img', 'aria-label': this.label() });
    this.tip = el('div.tip', { hidden: true, 'aria-hidden': 'true' });
    this.element = el('div.drawing.chart', {}, this.picture, this.tip);
    whenSeen(this.element, () => this.draw());
  }

  label() {
    const name = KINDS.find(([kind]) => kind === this.kind)[1];
    return `${name} of ${this.kind === 'histogram' ? this.x : this.y + ' by ' + this.x}: ${count(this.points.length, 'value')}`;
  }

  /** `{ x, y, label }`; of a histogram only `x`. */
  pointsOf() {
    const isByName = this.kind === 'bar' || this.isText && this.kind !== 'histogram';
    const all = this.rows.filter(row => row[this.x] && (this.kind === 'histogram' || row[this.y])).map((row, at) => ({ x: isByName ? at : valueOf(row[this.x]), y: valueOf(row[this.y]), label: row[this.x].type === 'uri' ? shownIri(row[this.x].value) : textOf(row[this.x]) }));
    const fit = all.filter(point => Number.isFinite(point.x) && (this.kind === 'histogram' || Number.isFinite(point.y)));
    const max = this.kind === 'bar' ? BARS_MAX : this.kind === 'histogram' ? Infinity : POINTS_MAX;
    if (fit.length > max) this.note = `The first ${grouped(max)} of ${count(fit.length, 'row')}`;
    const points = fit.slice(0, max);
    if (this.kind === 'line' && !isByName) points.sort((a, b) => a.x - b.x);
    if (isByName) points.forEach((point, at) => { point.x = at; });
    return points;
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.element;
    this.picture.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.picture.replaceChildren();
    if (!this.points.length) return this.picture.append(svg('text', { x: width / 2, y: height / 2, 'text-anchor': 'middle' }, 'No values that can be drawn'));
    if (this.kind === 'bar') this.bars(width, height);
    else if (this.kind === 'histogram') this.histogram(width, height);
    else this.curve(width, height);
  }

  /** A horizontal bar for each row: names have room there. */
  bars(width, height) {
    const { points } = this;
    const longest = Math.max(...points.map(point => [...point.label].length));
    const left = Math.min(width * 0.4, longest * 6.8 + 20);
    const step = Math.min(34, Math.max(8, (height - 44) / points.length));
    const [low, high] = [Math.min(0, ...points.map(point => point.y)), Math.max(0, ...points.map(point => point.y))];
    const scale = linear(low, high, left, width - 70);
    const bottom = 12 + step * points.length;
    for (const tick of ticksOf(low, high, Math.max(2, Math.floor((width - left) / 110)))) {
      this.picture.append(svg('line', { class: 'grid', x1: scale(tick), x2: scale(tick), y1: 8, y2: bottom }), this.text(scale(tick), bottom + 18, short2(tick), 'tick'));
    }
    const room = Math.floor((left - 16) / 6.8);
    points.forEach((point, at) => {
      const y = 12 + at * step;
      const bar = svg('rect', { class: 'mark-bar series-0', x: Math.min(scale(0), scale(point.y)), y: y + step * 0.12, width: Math.max(1, Math.abs(scale(point.y) - scale(0))), height: step * 0.76, rx: 2 });
      this.picture.append(bar);
      this.hover(bar, `${point.label}\n${this.y}: ${grouped2(point.y)}`);
      if (step >= 11) this.picture.append(this.text(left - 8, y + step / 2 + 4, point.label.length > room ? '…' + point.label.slice(1 - room) : point.label, '', 'end'), this.text(Math.max(scale(0), scale(point.y)) + 6, y + step / 2 + 4, short2(point.y), 'tick', 'start'));
    });
    this.picture.append(svg('line', { class: 'axis', x1: scale(0), x2: scale(0), y1: 8, y2: bottom }));
  }

  frame(width, height, lowX, highX, lowY, highY) {
    const [x, y] = [linear(lowX, highX, 64, width - 20), linear(lowY, highY, height - 44, 16)];
    for (const tick of ticksOf(lowY, highY, Math.max(2, Math.floor(height / 60)))) this.picture.append(svg('line', { class: 'grid', x1: 64, x2: width - 20, y1: y(tick), y2: y(tick) }), this.text(56, y(tick) + 4, short2(tick), 'tick', 'end'));
    const many = Math.max(2, Math.floor(width / 120));
    const ticks = this.isTime ? timeTicks(lowX, highX, many) : ticksOf(lowX, highX, many).map(at => ({ at, text: this.isText ? (this.points[at] && Number.isInteger(at) ? this.points[at].label.slice(0, 14) : '') : short2(at) }));
    for (const { at, text } of ticks) this.picture.append(svg('line', { class: 'axis', x1: x(at), x2: x(at), y1: height - 44, y2: height - 39 }), this.text(x(at), height - 24, text, 'tick'));
    this.picture.append(svg('line', { class: 'axis', x1: 64, x2: width - 20, y1: height - 44, y2: height - 44 }), this.text((64 + width - 20) / 2, height - 7, this.x, 'tick'));
    return { x, y };
  }

  curve(width, height) {
    const { points } = this;
    const [lowX, highX] = extent(points.map(point => point.x));
    const [lowY, highY] = extent(points.map(point => point.y), this.kind === 'line' ? 0 : null);
    const { x, y } = this.frame(width, height, lowX, highX, lowY, highY);
    if (this.kind === 'line') this.picture.append(svg('path', { class: 'mark-line series-0', d: points.map((point, at) => `${at ? 'L' : 'M'}${x(point.x).toFixed(1)} ${y(point.y).toFixed(1)}`).join('') }));
    if (this.kind === 'line' && points.length > 150) return;
    for (const point of points) {
      const dot = svg('circle', { class: 'mark-dot series-0', cx: x(point.x).toFixed(1), cy: y(point.y).toFixed(1), r: points.length > 500 ? 2 : 3.5 });
      this.picture.append(dot);
      this.hover(dot, `${this.x}: ${point.label}\n${this.y}: ${grouped2(point.y)}`);
    }
  }

  histogram(width, height) {
    const found = bins(this.points.map(point => point.x), Math.min(40, Math.max(6, Math.floor(width / 30))));
    const most = Math.max(...found.map(bin => bin.count));
    const { x, y } = this.frame(width, height, found[0].from, found.at(-1).to, 0, most);
    for (const bin of found) {
      const [left, right] = [x(bin.from), x(bin.to)];
      const bar = svg('rect', { class: 'mark-bar series-0', x: left + 0.5, width: Math.max(1, right - left - 1), y: y(bin.count), height: y(0) - y(bin.count), rx: 1 });
      this.picture.append(bar);
      const name = value => (this.isTime ? new Date(value).toISOString().slice(0, 10) : grouped2(value));
      this.hover(bar, `${name(bin.from)} to ${name(bin.to)}\n${count(bin.count, 'row')}`);
    }
  }

  text(x, y, text, kind, anchor = 'middle') {
    return svg('text', { x, y, class: kind, 'text-anchor': anchor }, text);
  }

  hover(element, text) {
    element.addEventListener('pointermove', event => Drawing.prototype.say.call(this, text, event));
    element.addEventListener('pointerleave', event => Drawing.prototype.say.call(this, '', event));
  }
}

function extent(values, with0 = null) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (with0 === 0 && low > 0 && low < high * 0.4) low = 0;
  if (low === high) return [low - 1, high + 1];
  return [low, high];
}

const grouped2 = value => value.toLocaleString('en', { maximumFractionDigits: 6 });
const short2 = value => (Math.abs(value) >= 10_000 ? (value < 0 ? '-' : '') + short(Math.abs(value)) : grouped2(value));

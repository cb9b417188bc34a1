// A table of rows, of which only those in sight are there. Columns can be sorted and made wider, rows be searched.

import { calmly, count, el, grouped, icon } from './dom.js';
import { compare, isNumber, showTerm, shownIri, termOf, textOf } from './terms.js';

const ROW = 29;
const AROUND = 12;
const [WIDTH_MIN, WIDTH_MAX] = [72, 460];
/** Where there is room, columns get wider for their longest values, up to this; where there is none, those of texts get narrower. */
const [WIDTH_FULL, WIDTH_NARROW] = [900, 84];

export class Table {
  /** `why` is called with a row of which it can be asked why it holds. */
  constructor(vars, why = null) {
    [this.vars, this.why] = [vars, why];
    this.rows = [];
    this.order = [];
    this.sorted = null;
    this.search = '';
    this.widths = null;
    this.body = el('tbody');
    this.columns = el('colgroup');
    this.headRow = el('tr', { 'aria-rowindex': '1' });
    this.table = el('table.rows', {}, el('caption.hidden', {}, 'Rows of the answer'), this.columns, el('thead', {}, this.headRow), this.body);
    this.scroller = el('div.scroll.table-scroll', { tabindex: '0', role: 'region', 'aria-label': 'Result table', onscroll: () => this.draw() }, this.table);
    this.found = el('span.muted', { role: 'status' });
    const searched = calmly(120, event => this.find(event.target.value));
    this.tools = el('div.bar.view-tools', {},
      el('label.field', {}, 'Find in rows', el('input', { type: 'search', oninput: searched, placeholder: 'text' })), this.found);
    this.element = el('div.table-view', {}, this.tools, this.scroller);
    this.observer = new ResizeObserver(() => this.layout());
    this.observer.observe(this.scroller);
    this.rendered = new Map();
  }

  /** Rows that came; those before them are the same as before. */
  setRows(rows) {
    this.rows = rows;
    this.arrange();
    if (!this.widths && rows.length) this.measure();
    this.layout();
  }

  arrange() {
    const search = this.search.toLowerCase();
    let order = this.rows.map((_, number) => number);
    if (search) order = order.filter(number => this.vars.some(name => textOf(this.rows[number][name]).toLowerCase().includes(search)));
    if (this.sorted) {
      const { name, down } = this.sorted;
      order.sort((a, b) => (down ? -1 : 1) * compare(this.rows[a][name], this.rows[b][name]) || a - b);
    }
    this.order = order;
    this.found.textContent = search ? `${grouped(order.length)} of ${count(this.rows.length, 'row')}` : '';
    this.table.setAttribute('aria-rowcount', String(order.length + 1));
  }

  find(text) {
    this.search = text;
    this.scroller.scrollTop = 0;
    this.arrange();
    this.draw(true);
  }

  sort(name) {
    const now = this.sorted?.name === name ? this.sorted : null;
    this.sorted = !now ? { name, down: false } : now.down ? null : { name, down: true };
    this.arrange();
    this.drawHead();
    this.draw(true);
  }

  /** Widths by what is in the first rows. */
  measure() {
    const sample = this.rows.slice(0, 60);
    const width = chars => Math.max(WIDTH_MIN, chars * 7.6 + 66);
    [this.full, this.least] = [[], []];
    this.widths = this.vars.map(name => {
      const lengths = sample.map(row => {
        const term = row[name];
        return term ? Math.min(120, (term.type === 'uri' ? shownIri(term.value) : textOf(term)).length) + (term.type === 'literal' && !isNumber(term) && (term['xml:lang'] || term.datatype) ? 9 : 0) : 0;
      }).sort((a, b) => a - b);
      const usual = Math.max(lengths[Math.floor(lengths.length * 0.9)] || 0, name.length + 4);
      this.least.push(Math.max(56, Math.max(name.length, lengths[lengths.length - 1] || 0) * 7.6 + 34));
      this.full.push(Math.min(WIDTH_FULL, width(Math.max(usual, lengths[lengths.length - 1] || 0))));
      return Math.round(Math.min(WIDTH_MAX, width(usual)));
    });
    this.numeric = new Set(this.vars.filter(name => {
      const terms = sample.map(row => row[name]).filter(Boolean);
      return terms.length && terms.every(isNumber);
    }));
  }

  layout() {
    const widths = this.widths || this.vars.map(() => 160);
    const number = String(this.rows.length).length * 8 + (this.why ? 66 : 22);
    this.shown = this.resized ? [...widths] : this.fitted(widths, this.scroller.clientWidth - number);
    this.columns.replaceChildren(...[number, ...this.shown].map(width => {
      const column = el('col');
      column.style.width = width + 'px';
      return column;
    }));
    this.table.style.width = this.shown.reduce((all, one) => all + one, number) + 'px';
    this.drawHead();
    this.draw(true);
  }

  /** Widths for so much room: numbers stay in sight, and what is left goes to values that are cut, and to no others. */
  fitted(widths, room) {
    const missing = widths.reduce((all, one) => all + one, 0) - room;
    const gives = widths.map((width, at) => Math.max(0, width - (this.numeric?.has(this.vars[at]) ? this.least?.[at] ?? width : WIDTH_NARROW)));
    const takes = widths.map((width, at) => Math.max(0, (this.full?.[at] ?? width) - width));
    const changes = missing > 0 ? gives.map(one => -one) : takes;
    const most = Math.abs(changes.reduce((all, one) => all + one, 0));
    const part = most ? Math.min(1, Math.abs(missing) / most) : 0;
    return widths.map((width, at) => Math.floor(width + changes[at] * part));
  }

  drawHead() {
    const focused = document.activeElement?.dataset?.column;
    this.headRow.replaceChildren(el('th.index', { scope: 'col' }, el('span.hidden', {}, 'Row')), ...this.vars.map((name, at) => this.head(name, at)));
    if (focused !== undefined) this.headRow.querySelector(`button[data-column="${Number(focused)}"]`)?.focus();
  }

  head(name, at) {
    const sorted = this.sorted?.name === name ? (this.sorted.down ? 'descending' : 'ascending') : 'none';
    const grip = el('span.grip', {
      role: 'separator', 'aria-orientation': 'vertical', 'aria-label': 'Width of ' + name, tabindex: '0', 'aria-valuenow': String(Math.round(this.shown?.[at] || 0)),
      onpointerdown: event => this.drag(event, at),
      ondblclick: () => this.fit(at),
      onkeydown: event => {
        const step = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
        if (step) this.resize(at, this.shown[at] + step);
      },
    });
    return el('th' + (this.numeric?.has(name) ? '.number' : ''), { scope: 'col', 'aria-sort': sorted },
      el('button.sort', { 'data-column': String(at), onclick: () => this.sort(name), title: 'Sort by ' + name }, el('span', {}, name), el('span.arrow', { 'aria-hidden': 'true' }, { none: '', ascending: '▲', descending: '▼' }[sorted])), grip);
  }

  drag(event, at) {
    event.preventDefault();
    const [start, width] = [event.clientX, this.shown[at]];
    const move = moved => this.resize(at, width + moved.clientX - start);
    const grip = event.target;
    grip.setPointerCapture(event.pointerId);
    grip.addEventListener('pointermove', move);
    grip.addEventListener('pointerup', () => grip.removeEventListener('pointermove', move), { once: true });
  }

  resize(at, width) {
    this.widths = this.resized ? this.widths : [...this.shown];
    this.resized = true;
    this.widths[at] = Math.max(40, Math.round(width));
    this.shown = [...this.widths];
    // Of the head only the widths change, so that the grip stays under the pointer.
    this.columns.children[at + 1].style.width = this.widths[at] + 'px';
    this.headRow.children[at + 1].querySelector('.grip').setAttribute('aria-valuenow', String(this.widths[at]));
    this.table.style.width = this.widths.reduce((all, one) => all + one, Number.parseFloat(this.columns.children[0].style.width)) + 'px';
  }

  /** As wide as the widest cell in sight. */
  fit(at) {
    const cells = [...this.body.querySelectorAll(`td:nth-child(${at + 2})`)];
    this.resize(at, Math.max(80, ...cells.map(cell => cell.firstElementChild?.scrollWidth + 26 || 0)));
  }

  draw(isNew = false) {
    const { scrollTop, clientHeight } = this.scroller;
    const first = Math.max(0, Math.floor(scrollTop / ROW) - AROUND);
    const last = Math.min(this.order.length, Math.ceil((scrollTop + clientHeight) / ROW) + AROUND);
    if (!isNew && this.first === first && this.last === last) return;
    if (isNew) this.rendered.clear();
    [this.first, this.last] = [first, last];
    const rows = [];
    const rendered = new Map();
    for (let place = first; place < last; place++) {
      const row = this.rendered.get(place) || this.row(place);
      rendered.set(place, row);
      rows.push(row);
    }
    this.rendered = rendered;
    this.body.replaceChildren(this.space(first * ROW), ...rows, this.space((this.order.length - last) * ROW));
  }

  /** Stands for rows that are not there. */
  space(height) {
    const row = el('tr.space', { 'aria-hidden': 'true' }, el('td', { colspan: String(this.vars.length + 1) }));
    row.style.height = height + 'px';
    row.hidden = height === 0;
    return row;
  }

  row(place) {
    const number = this.order[place];
    const row = this.rows[number];
    return el('tr' + (number % 2 ? '.odd' : ''), { 'aria-rowindex': String(place + 2) },
      el('td.index', {}, grouped(number + 1), this.why ? [' ', el('button.link', { 'aria-label': `Why does row ${number + 1} hold?`, onclick: () => this.why(row) }, 'why?')] : null),
      this.vars.map(name => this.cell(row[name])));
  }

  cell(term) {
    if (!term) return el('td.empty');
    return el('td' + (isNumber(term) ? '.number' : ''), {},
      el('div.cell', { title: term.type === 'literal' ? term.value.slice(0, 1000) : null }, termOf(term, { lengthMax: 300 })),
      el('button.more', { 'aria-label': 'All of this term', title: 'Whole value, copy, open', onclick: () => showTerm(term) }, icon('open')));
  }
}

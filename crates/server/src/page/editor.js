// The editor: a text area that is the text, the caret and the undo, above a layer that has its colours and marks.
// Only the lines in sight are drawn.

import { calmly, el } from './dom.js';
import { onKey, onText } from './editing.js';
import { Lines } from './tokens.js';

const LINE = 20;
const ROUND = 20;
const UNDO_LINES_MAX = 300;

export class Editor {
  constructor(label, { onchange }) {
    this.known = new Lines();
    this.isStale = false;
    this.marks = [];
    this.brackets = [];
    this.onchange = onchange;
    this.keys = [];
    this.area = el('textarea', {
      id: 'query', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', wrap: 'off', 'aria-label': label, 'aria-autocomplete': 'list',
      'aria-describedby': 'problems',
    });
    this.layer = el('div.layer');
    this.numbers = el('div.numbers');
    this.sheet = el('div.sheet', { 'aria-hidden': 'true' }, this.layer);
    this.gutter = el('div.gutter', { 'aria-hidden': 'true' }, this.numbers);
    this.element = el('div.editor', {}, this.gutter, el('div.text', {}, this.sheet, this.area));
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  listen() {
    const { area } = this;
    area.addEventListener('input', event => this.changed(event));
    area.addEventListener('scroll', () => this.draw());
    area.addEventListener('blur', () => { area.scrollLeft = 0; });
    area.addEventListener('keydown', event => {
      for (const key of this.keys) if (key(event)) return;
      onKey(this, event);
    });
    area.addEventListener('beforeinput', event => onText(this, event));
    const moved = calmly(30, () => {
      this.matchBrackets();
      this.scrollBack();
    });
    document.addEventListener('selectionchange', () => document.activeElement === area && moved());
  }

  get text() {
    return this.area.value;
  }

  get position() {
    return this.area.selectionStart;
  }

  /** Another text, without a way back: that of another tab. */
  show(text) {
    this.area.value = text;
    this.area.setSelectionRange(0, 0);
    this.area.scrollTop = this.area.scrollLeft = 0;
    this.marks = [];
    this.isStale = true;
    this.drawChange();
  }

  /** The lines of the text as it is now: read anew only when somebody asks. */
  get lines() {
    if (this.isStale) {
      this.isStale = false;
      this.known.update(this.text);
    }
    return this.known;
  }

  /** A text of many lines comes in as many changes: all of them are drawn at once. */
  changed(event) {
    this.isStale = true;
    if (event) this.marks = [];
    if (this.waits) return;
    this.waits = requestAnimationFrame(() => this.drawChange(event));
  }

  drawChange(event) {
    cancelAnimationFrame(this.waits);
    this.waits = null;
    this.matchBrackets();
    this.draw();
    this.scrollBack();
    this.onchange?.(event);
  }

  /** How far a position is from the beginning of its line on the screen. */
  distance(position) {
    return this.rectAt(position).x - this.area.getBoundingClientRect().x + this.area.scrollLeft;
  }

  /** Shows the beginnings of lines again once the caret has left the end of a long one. */
  scrollBack() {
    const { area } = this;
    if (area.scrollLeft && area.selectionStart === area.selectionEnd && this.distance(this.position) < area.clientWidth - 24) area.scrollLeft = 0;
  }

  /** Replaces a part, so that undo brings it back. */
  replace(from, to, text, select) {
    const { area } = this;
    area.focus();
    area.setSelectionRange(from, to);
    // Browsers take seconds to insert many lines so that they can be undone.
    const isLong = text.split('\n').length > UNDO_LINES_MAX;
    const done = text === '' && from === to || !isLong && document.execCommand(text === '' ? 'delete' : 'insertText', false, text);
    if (!done) {
      area.setRangeText(text, from, to, 'end');
      area.dispatchEvent(new InputEvent('input', { inputType: 'insertText' }));
    }
    if (select) area.setSelectionRange(select[0], select[1]);
  }

  /** The whole text, so that undo brings the old one back; the caret stays in its line. */
  replaceAll(text) {
    if (text === this.text) return;
    const line = this.lines.at(this.position);
    const old = this.text;
    let from = 0;
    while (from < old.length && old[from] === text[from]) from++;
    let same = 0;
    while (same < Math.min(old.length, text.length) - from && old[old.length - 1 - same] === text[text.length - 1 - same]) same++;
    this.replace(from, old.length - same, text.slice(from, text.length - same));
    this.goTo(this.lines.lines[Math.min(line, this.lines.lines.length - 1)].offset);
  }

  setMarks(marks) {
    this.marks = marks;
    this.draw();
  }

  goTo(position, to = position) {
    this.area.focus();
    this.area.setSelectionRange(position, to);
    const line = this.lines.at(position);
    const { area } = this;
    if (line * LINE < area.scrollTop || (line + 2) * LINE > area.scrollTop + area.clientHeight) {
      area.scrollTop = Math.max(0, line * LINE - area.clientHeight / 2);
    }
    this.draw();
    const distance = this.distance(position);
    area.scrollLeft = distance < area.clientWidth - 24 ? 0 : distance - area.clientWidth / 2;
    this.draw();
  }

  matchBrackets() {
    const found = this.area.selectionStart === this.area.selectionEnd ? this.lines.match(this.position) : null;
    const brackets = !found ? [] : found.other === undefined ? [{ at: found.at, kind: 'unmatched' }] : [{ at: found.at, kind: 'matched' }, { at: found.other, kind: 'matched' }];
    const current = this.lines.at(this.position);
    if (JSON.stringify([brackets, current]) === this.drawn) return;
    this.drawn = JSON.stringify([brackets, current]);
    this.brackets = brackets;
    this.current = current;
    this.draw();
  }

  draw() {
    const { scrollTop, scrollLeft, clientHeight } = this.area;
    const first = Math.max(0, Math.floor(scrollTop / LINE) - ROUND);
    const last = Math.min(this.lines.lines.length, Math.ceil((scrollTop + clientHeight) / LINE) + ROUND);
    const shown = this.lines.lines.slice(first, last);
    this.layer.replaceChildren(...shown.map((line, at) => this.drawLine(line, first + at)));
    this.numbers.replaceChildren(...shown.map((line, at) => this.drawNumber(line, first + at)));
    const top = first * LINE - scrollTop;
    this.layer.style.transform = `translate(${-scrollLeft}px, ${top}px)`;
    this.numbers.style.transform = `translateY(${top}px)`;
    this.gutter.style.width = Math.max(3, String(this.lines.lines.length).length + 1) + 1 + 'ch';
    this.first = first;
  }

  /** The marks in a line. */
  marksIn(line) {
    const end = line.offset + line.text.length;
    return this.marks.filter(mark => mark.from <= end && mark.to > line.offset || mark.from === end && mark.from >= line.offset);
  }

  drawNumber(line, number) {
    const marks = this.marksIn(line).filter(mark => mark.from >= line.offset);
    const kind = marks.some(mark => mark.kind === 'error') ? '.error' : marks.length ? '.warning' : '';
    return el('div.number' + kind + (number === this.current ? '.current' : ''), { title: marks.map(mark => mark.message).join('\n') || null }, String(number + 1));
  }

  drawLine(line, number) {
    const element = el('div.line' + (number === this.current ? '.current' : ''));
    const marks = this.marksIn(line);
    const at = column => column + line.offset;
    const brackets = this.brackets.filter(bracket => bracket.at >= line.offset && bracket.at < line.offset + line.text.length);
    const cuts = new Set([0, line.text.length]);
    for (const part of line.parts) cuts.add(part.from).add(part.to);
    for (const mark of marks) for (const end of [mark.from, mark.to]) cuts.add(Math.min(Math.max(end - line.offset, 0), line.text.length));
    const places = [...cuts].sort((a, b) => a - b);
    let part = 0;
    for (let piece = 0; piece + 1 < places.length; piece++) {
      const [from, to] = [places[piece], places[piece + 1]];
      while (part < line.parts.length && line.parts[part].to <= from) part++;
      const kind = line.parts[part] && line.parts[part].from <= from ? line.parts[part].kind : '';
      const mark = marks.find(mark => mark.from <= at(from) && mark.to >= at(to));
      const bracket = brackets.find(bracket => bracket.at === at(from));
      const classes = [kind && 't-' + kind, mark && 'mark ' + mark.kind, bracket?.kind].filter(Boolean).join(' ');
      element.append(classes ? el('span', { class: classes }, line.text.slice(from, to)) : line.text.slice(from, to));
    }
    const atEnd = marks.find(mark => mark.from >= line.offset + line.text.length);
    if (atEnd) element.append(el('span', { class: 'mark ' + atEnd.kind }, ' '));
    if (!line.text) element.append('\u200b');
    return element;
  }

  /** Where a position is on the screen. */
  rectAt(position) {
    const number = this.lines.at(position);
    const element = this.layer.children[number - this.first];
    const line = this.lines.lines[number];
    if (!element || !line) return this.area.getBoundingClientRect();
    let rest = position - line.offset;
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    let node = walker.nextNode();
    while (node && rest > node.length) {
      rest -= node.length;
      node = walker.nextNode();
    }
    const range = document.createRange();
    if (!node) return element.getBoundingClientRect();
    range.setStart(node, Math.min(rest, node.length));
    range.collapse(true);
    const rect = range.getClientRects()[0] || element.getBoundingClientRect();
    return new DOMRect(rect.x, rect.y, 0, LINE);
  }

  /** The position at a place of the screen; none beside the text. */
  positionAt(x, y) {
    const box = this.area.getBoundingClientRect();
    const number = Math.floor((y - box.top - 8 + this.area.scrollTop) / LINE);
    const line = this.lines.lines[number];
    if (!line) return null;
    const [start, end] = [this.rectAt(line.offset).x, this.rectAt(line.offset + line.text.length).x];
    if (x < start || x > end) return null;
    let [low, high] = [0, line.text.length];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.rectAt(line.offset + middle).x <= x) low = middle;
      else high = middle - 1;
    }
    return line.offset + low;
  }
}

// What the server knows of a text while it is written: mistakes, what a name is, and how it is set out.

import { failureOf, markOf, send, session, withoutNumber } from './api.js';
import { calmly, count, el, tell } from './dom.js';
import { addPrefix } from './complete.js';
import { declaredIn, shortened, usual, withPrefix } from './prefixes.js';
import { isUpdate } from './tokens.js';

const JSON_TYPE = 'application/json';

/** Asks one of the services; none where the server has it not, or says nothing. */
async function ask(service, body, signal) {
  if (!session.assist) return null;
  const response = await send('api/' + service, { method: 'POST', type: JSON_TYPE, accept: JSON_TYPE, body: JSON.stringify(body), signal, allowed: [400, 404, 405] });
  if (response.status === 400) throw await failureOf(response, body.text);
  return response.status === 200 ? response.json() : null;
}

/** Sets the text out. */
export async function format(editor) {
  try {
    const answer = await ask('format', { text: editor.text });
    if (!answer) tell('This server does not format');
    else editor.replaceAll(answer.text);
  } catch (error) {
    tell('Not formatted: ' + withoutNumber(error.message).split('\n')[0]);
  }
}

/** Prefixes that are used and not declared, of those that are known. */
function missingPrefixes(editor) {
  const declared = declaredIn(editor.text);
  const names = new Set();
  for (const line of editor.lines.lines) {
    for (const part of line.parts) {
      if (part.kind === 'name' && !/\bprefix\s+\S*$/i.test(line.text.slice(0, part.to))) names.add(line.text.slice(part.from, part.to).split(':')[0]);
    }
  }
  return [...names].filter(name => !declared.has(name) && usual(name));
}

/** The text with the usual prefixes that it uses without saying so; `origin` tells where a place in it is in the text as it is written. */
export function withUsualPrefixes(editor) {
  let { text } = editor;
  const added = missingPrefixes(editor).map(name => {
    const { at, line } = withPrefix(text, name, usual(name));
    text = text.slice(0, at) + line + text.slice(at);
    return { at, size: line.length, name };
  });
  const origin = place => added.reduceRight((found, { at, size }) => (found >= at + size ? found - size : Math.min(found, at)), place);
  return { text, origin, names: added.map(({ name }) => name) };
}

/** Declares prefixes in the editor; who was elsewhere stays there. */
export function declare(editor, names) {
  const before = document.activeElement;
  for (const name of names) addPrefix(editor, name, usual(name));
  if (before !== editor.area) before?.focus({ preventScroll: true });
  tell('Added ' + names.map(name => name + ':').join(', '));
}

/** Marks that are said below the editor. */
const SHOWN_MAX = 20;

/** Marks what is wrong while it is written. */
export class Checker {
  constructor(editor, reason, onshow, run) {
    this.editor = editor;
    this.reason = reason;
    this.onshow = onshow;
    this.run = run;
    this.marks = [];
    this.place = document.getElementById('problems');
    this.later = calmly(800, () => this.check());
    editor.area.addEventListener('input', event => {
      if (!this.place.hidden) this.show([]);
      this.later(event);
    });
  }

  /** Another text is there: what was said was not of it. */
  anew() {
    this.show([]);
    this.later();
  }

  async check() {
    const { text } = this.editor;
    this.asked?.abort();
    if (!text.trim()) return this.show([]);
    this.asked = new AbortController();
    try {
      // What is checked is what would be run.
      const sent = withUsualPrefixes(this.editor);
      const kind = isUpdate(text) ? 'update' : 'query';
      const answer = await ask('check', { text: sent.text, kind, reason: this.reason.value }, this.asked.signal);
      if (!answer || this.editor.text !== text) return;
      const written = found => ({ ...markOf(found), from: sent.origin(markOf(found).from), to: sent.origin(markOf(found).to) });
      const errors = answer.errors.map(written);
      const warnings = answer.warnings.map(found => ({ ...written(found), kind: 'warning' }));
      this.show([...errors, ...warnings]);
    } catch {
      // It is said once the query is run.
    }
  }

  /** Marks, and says them below the editor. */
  show(marks) {
    this.marks = marks.slice(0, SHOWN_MAX);
    this.editor.setMarks(marks.filter(mark => mark.isPlaced));
    this.place.replaceChildren(...this.marks.map(mark => this.problem(mark)));
    this.place.hidden = !marks.length;
    this.onshow();
  }

  /** Whether a warning of a run is said here. */
  says(text) {
    return this.marks.some(({ message, help }) => text === (help ? message + '; ' + help : message));
  }

  problem(mark) {
    const line = this.editor.lines.at(mark.from);
    const { offset, text } = this.editor.lines.lines[line];
    // In characters, as the server counts, which may be two units each.
    const column = [...text.slice(0, mark.from - offset)].length;
    const unknown = mark.message.match(/prefix [`'"]?([^\s:`'"]*):[`'"]? is not declared/i);
    const declared = mark.help.match(/PREFIX ([^\s:]*): <(\w+:[^>]*)>/i);
    const prefix = declared ? [declared[1], declared[2]] : unknown && usual(unknown[1]) ? [unknown[1], usual(unknown[1])] : null;
    return el('li.' + mark.kind, {},
      mark.isPlaced ? el('button.place', { onclick: () => this.editor.goTo(mark.from, mark.to), title: 'Go there' }, `${line + 1}:${column + 1}`) : null,
      el('span', {}, mark.message, mark.help ? el('span.help', {}, ' ' + mark.help) : null),
      prefix ? el('button.small', { onclick: () => this.fix(prefix) }, 'Add ' + prefix[0] + ':') : null,
      mark.code === 'only-below' ? el('button.small', { onclick: () => this.reasonAndRun() }, 'Reason with hierarchies') : null);
  }

  /** The answer is what was missed: with these rules it is another one. */
  reasonAndRun() {
    this.reason.choose('hierarchies');
    this.run();
  }

  fix([name, iri]) {
    addPrefix(this.editor, name, iri);
    this.editor.area.focus();
  }
}

/** What is known of the name under the pointer, or at the caret (Ctrl+I). */
export class Hover {
  constructor(editor) {
    this.editor = editor;
    this.card = el('div.hover', { role: 'tooltip', hidden: true });
    document.querySelector('main').append(this.card);
    const later = calmly(350, event => this.look(editor.positionAt(event.clientX, event.clientY)));
    editor.area.addEventListener('pointermove', event => {
      this.close();
      if (event.pointerType === 'mouse' && !event.buttons) later(event);
    });
    for (const name of ['pointerleave', 'input', 'scroll', 'blur']) editor.area.addEventListener(name, () => this.close());
    editor.keys.push(event => {
      if (event.key === 'Escape') this.close();
      if (!(event.ctrlKey && event.key.toLowerCase() === 'i')) return false;
      event.preventDefault();
      this.look(editor.position);
      return true;
    });
  }

  close() {
    this.asked?.abort();
    this.asked = null;
    this.card.hidden = true;
  }

  async look(position) {
    const { editor } = this;
    if (position === null) return;
    const mark = editor.marks.find(mark => mark.from <= position && position <= mark.to);
    const part = editor.lines.partAt(position);
    if (!mark && (!part || !['iri', 'name', 'function', 'keyword', 'variable'].includes(part.kind))) return;
    const asked = this.asked = new AbortController();
    let answer = null;
    try {
      answer = await ask('hover', { text: editor.text, position }, asked.signal);
    } catch {
      // There is still what is known here.
    }
    if (asked.signal.aborted || !mark && !answer) return;
    this.show(mark?.from ?? answer.from, [mark ? el('p.' + mark.kind, {}, mark.message, mark.help ? ' ' + mark.help : '') : null, answer ? this.told(answer) : null]);
  }

  told(answer) {
    const counts = Object.entries(answer.counts || {}).filter(([, number]) => number > 0);
    return el('div', {},
      answer.label ? el('strong', {}, answer.label) : null,
      answer.iri ? el('code', {}, shortened(answer.iri)) : null,
      answer.types?.length ? el('p.types', {}, answer.types.map(type => type.label || shortened(type.iri)).join(', ')) : null,
      answer.comment ? el('p', {}, answer.comment) : null,
      counts.length ? el('p.counts', {}, counts.map(([place, number]) => count(number, 'time') + ' as ' + place).join(' · ')) : null,
      answer.text && !answer.label && !counts.length ? el('p', {}, answer.text) : null);
  }

  show(from, content) {
    this.card.replaceChildren(...content.filter(Boolean));
    this.card.hidden = false;
    const place = this.editor.rectAt(from);
    this.card.style.left = Math.max(8, Math.min(place.x, innerWidth - this.card.offsetWidth - 12)) + 'px';
    const above = place.y - this.card.offsetHeight - 4;
    this.card.style.top = (above > 4 ? above : place.bottom + 4) + 'px';
  }
}

// Completion: what the server says that fits and gives answers; keywords, functions and names of the text where it says nothing.

import { send, session } from './api.js';
import { calmly, el, short, tell } from './dom.js';
import { allUsual, declaredIn, withPrefix } from './prefixes.js';
import { FUNCTIONS, KEYWORDS, variablesIn } from './tokens.js';

const SHOWN_MAX = 50;
const KINDS = { predicate: 'P', class: 'C', term: 'T', graph: 'G', prefix: ':', function: 'ƒ', variable: '?', keyword: 'K' };
async function fromServer(text, position, signal) {
  if (!session.assist) return null;
  const body = JSON.stringify({ text, position, limit: SHOWN_MAX });
  const response = await send('api/complete', { method: 'POST', type: 'application/json', accept: 'application/json', body, signal, allowed: [404, 405] });
  return response.ok ? response.json() : null;
}

/** The word before the caret, and what of the text itself begins like it. */
function fromText(text, position) {
  const word = text.slice(0, position).match(/[?$]?[\p{L}\p{N}_:-]*$/u)[0];
  const [from, to] = [position - word.length, position];
  const lower = word.toLowerCase();
  const items = [];
  const offer = (label, insert, kind, detail = '', prefix) => {
    if (label !== word && label.toLowerCase().startsWith(lower)) items.push({ label, insert, kind, detail, prefix });
  };
  if (word.startsWith('?') || word.startsWith('$')) {
    // What is being written is no name yet.
    const others = text.slice(0, from) + ' ' + text.slice(position).replace(/^[\p{L}\p{N}_]+/u, '');
    for (const name of variablesIn(others)) offer(name, name, 'variable');
  } else if (word) {
    for (const name of KEYWORDS) if (name.length > 1) offer(name, name, 'keyword');
    for (const name of FUNCTIONS) offer(name, name + '(', 'function');
    const declared = declaredIn(text);
    for (const [name, iri] of declared) offer(name + ':', name + ':', 'prefix', iri);
    for (const [name, iri] of allUsual()) if (!declared.has(name)) offer(name + ':', name + ':', 'prefix', iri, { name, iri });
  }
  return { from, to, items: items.slice(0, SHOWN_MAX), incomplete: false };
}

export class Completion {
  constructor(editor) {
    this.editor = editor;
    this.items = [];
    this.list = el('ul.completions', { id: 'completions', role: 'listbox', 'aria-label': 'Completions', hidden: true });
    document.querySelector('main').append(this.list);
    editor.area.setAttribute('aria-controls', 'completions');
    this.later = calmly(90, () => this.ask(false));
    editor.keys.push(event => this.onKey(event));
    editor.area.addEventListener('input', event => this.onInput(event));
    editor.area.addEventListener('blur', () => setTimeout(() => this.close(), 150));
    editor.area.addEventListener('scroll', () => this.close());
    editor.area.addEventListener('pointerdown', () => this.close());
  }

  get isOpen() {
    return !this.list.hidden;
  }

  onInput(event) {
    const typed = event.data ?? '';
    const begins = /^[\p{L}\p{N}_:?$<]$/u.test(typed);
    if (event.inputType === 'insertText' && begins || this.isOpen && event.inputType?.startsWith('delete')) this.later();
    else this.close();
  }

  onKey(event) {
    if (event.ctrlKey && event.key === ' ') {
      event.preventDefault();
      this.ask(true);
      return true;
    }
    if (!this.isOpen) return false;
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (moves[event.key]) {
      const all = this.items.length;
      this.choose(Math.abs(moves[event.key]) === 1 ? (this.chosen + moves[event.key] + all) % all : Math.min(all - 1, Math.max(0, this.chosen + moves[event.key])));
    } else if ((event.key === 'Enter' || event.key === 'Tab') && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      this.take(this.chosen);
    } else if (event.key === 'Escape') {
      this.close();
    } else {
      if (['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key) || event.ctrlKey && event.key === 'Enter') this.close();
      return false;
    }
    event.preventDefault();
    return true;
  }

  /** Offers what fits; without a wish only where a word has begun. */
  async ask(isWished) {
    const { editor } = this;
    const [text, position] = [editor.text, editor.position];
    const inside = editor.lines.partAt(position);
    if (!isWished && inside && ['comment', 'string'].includes(inside.kind) && inside.from < position) return this.close();
    this.asked?.abort();
    this.asked = new AbortController();
    const own = fromText(text, position);
    let answer = null;
    try {
      answer = await fromServer(text, position, this.asked.signal);
    } catch (error) {
      if (error.name === 'AbortError') return;
    }
    if (editor.text !== text || editor.position !== position || document.activeElement !== editor.area) return;
    if (!answer || !answer.items.length) answer = own;
    if (!isWished && answer.from === answer.to) return this.close();
    this.show(answer, isWished);
  }

  show(answer, isWished) {
    const items = answer.items.slice(0, SHOWN_MAX);
    const typed = this.editor.text.slice(answer.from, answer.to);
    if (!items.length || items.length === 1 && items[0].insert === typed) {
      this.close();
      if (isWished) tell('Nothing fits here');
      return;
    }
    [this.items, this.answer] = [items, answer];
    this.list.replaceChildren(...items.map((item, number) => this.item(item, number)));
    this.list.hidden = false;
    const place = this.editor.rectAt(answer.from);
    const below = innerHeight - place.bottom;
    const height = Math.min(this.list.scrollHeight, 280);
    this.list.style.left = Math.max(4, Math.min(place.x - 30, innerWidth - this.list.offsetWidth - 8)) + 'px';
    this.list.style.top = (below < height + 12 && place.y > height ? place.y - height - 4 : place.bottom + 3) + 'px';
    this.choose(0);
    document.getElementById('polite').textContent = `${items.length} completions`;
  }

  item(item, number) {
    return el('li', { id: 'completion-' + number, role: 'option', 'aria-selected': 'false', title: item.iri || null, onpointerdown: event => { event.preventDefault(); this.take(number); } },
      el('span.kind.k-' + item.kind, { title: item.kind }, KINDS[item.kind] || '·'),
      el('span.label', {}, item.label),
      el('span.detail', {}, item.detail || ''),
      item.count ? el('span.count', {}, short(item.count)) : null);
  }

  choose(number) {
    this.list.children[this.chosen]?.setAttribute('aria-selected', 'false');
    this.chosen = number;
    const item = this.list.children[number];
    item.setAttribute('aria-selected', 'true');
    item.scrollIntoView({ block: 'nearest' });
    this.editor.area.setAttribute('aria-activedescendant', item.id);
  }

  take(number) {
    const [item, { from, to }] = [this.items[number], this.answer];
    this.close();
    const { editor } = this;
    editor.own = true;
    editor.replace(from, to, item.insert);
    if (item.prefix && !declaredIn(editor.text).has(item.prefix.name)) addPrefix(editor, item.prefix.name, item.prefix.iri);
    editor.own = false;
    if (item.kind === 'prefix') this.later();
  }

  close() {
    this.asked?.abort();
    if (!this.isOpen) return;
    this.list.hidden = true;
    this.editor.area.removeAttribute('aria-activedescendant');
  }
}

/** Declares a prefix; the caret stays where it is in the text. */
export function addPrefix(editor, name, iri) {
  const { at, line } = withPrefix(editor.text, name, iri);
  const { selectionStart, selectionEnd } = editor.area;
  const moved = position => (position >= at ? position + line.length : position);
  editor.replace(at, at, line, [moved(selectionStart), moved(selectionEnd)]);
}

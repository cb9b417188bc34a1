// Queries of this browser: those that are open in tabs, those that were kept, and those that were run.

import { calmly, copy, el, icon, tell } from './dom.js';
import { bounded, keep, read } from './store.js';

const TABS_MAX = 30;
const KEPT_MAX = 200;
const HISTORY_MAX = 100;

/** A query without its prefixes, in one line. */
function bodyOf(text) {
  return text.replace(/^(\s|#.*(\n|$)|(prefix\s+\S*|base)\s*<[^>]*>)+/i, '').replace(/\s+/g, ' ');
}

/** What a query is about, for a tab. */
function titleOf(text) {
  const comment = text.match(/^\s*#+\s*(.+)/)?.[1];
  if (comment) return comment.slice(0, 40);
  return bodyOf(text).slice(0, 32) || 'New query';
}

export class Tabs {
  constructor(place, first, show) {
    this.place = place;
    this.show = show;
    const kept = read('tabs', null);
    const isFit = kept?.texts?.length && kept.texts.every(text => typeof text === 'string');
    this.texts = isFit ? kept.texts : [first];
    // The rules that each reasons by; none where the server says.
    this.reasons = this.texts.map((_, at) => isFit && kept.reasons?.[at] || null);
    this.current = isFit ? Math.min(Math.max(0, Number(kept.current) || 0), this.texts.length - 1) : 0;
    this.keepLater = calmly(400, () => this.keep());
    addEventListener('pagehide', () => this.keep());
    this.draw();
  }

  get text() {
    return this.texts[this.current];
  }

  get reason() {
    return this.reasons[this.current];
  }

  keep() {
    keep('tabs', { texts: bounded(this.texts, TABS_MAX), reasons: this.reasons, current: this.current });
  }

  reasonsBy(rules) {
    this.reasons[this.current] = rules;
    this.keepLater();
  }

  changed(text) {
    this.texts[this.current] = text;
    this.place.querySelector('[aria-selected=true] .title')?.replaceChildren(titleOf(text));
    this.keepLater();
  }

  draw() {
    this.place.replaceChildren(
      el('div.tabs', { role: 'tablist', 'aria-label': 'Queries', onkeydown: event => this.onKey(event) }, this.texts.map((text, at) => this.tab(text, at))),
      this.texts.length > 1 ? el('button.bare', { 'aria-label': 'Close query', title: 'Close this query', onclick: () => this.close(this.current) }, icon('close')) : null ?? '',
      el('button.bare', { id: 'new-tab', 'aria-label': 'New query', title: 'New query (Alt+N)', onclick: () => this.add('') }, icon('add')));
    this.place.querySelector('[aria-selected=true]').scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  tab(text, at) {
    const isCurrent = at === this.current;
    return el('button.tab', {
      role: 'tab', 'aria-selected': String(isCurrent), 'aria-controls': 'editor', tabindex: isCurrent ? '0' : '-1', onclick: () => this.choose(at),
      onauxclick: event => event.button === 1 && this.close(at),
    }, el('span.title', {}, titleOf(text)));
  }

  onKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) {
      event.preventDefault();
      this.step(step);
      this.place.querySelector('[aria-selected=true]').focus();
    } else if (event.key === 'Delete') this.close(this.current);
  }

  step(by) {
    this.choose((this.current + by + this.texts.length) % this.texts.length);
  }

  choose(at) {
    this.current = at;
    this.draw();
    this.show(this.text, this.reason);
    this.keepLater();
  }

  add(text, reason = null) {
    if (this.texts.length >= TABS_MAX) return tell('Close a tab first: there are ' + TABS_MAX);
    this.texts.push(text);
    this.reasons.push(reason);
    this.choose(this.texts.length - 1);
    document.getElementById('query').focus();
  }

  open(text, reason = null) {
    const at = this.texts.findIndex((other, at) => other === text && this.reasons[at] === reason);
    if (at >= 0) this.choose(at);
    else this.add(text, reason);
  }

  close(at) {
    if (this.texts.length === 1) return;
    this.texts.splice(at, 1);
    this.reasons.splice(at, 1);
    this.choose(Math.min(at < this.current ? this.current - 1 : this.current, this.texts.length - 1));
  }

  /** Notes a run. */
  ran(text) {
    const { reason } = this;
    const all = read('history', []).filter(entry => entry.text !== text || (entry.reason ?? null) !== reason);
    keep('history', bounded([{ text, reason, time: Date.now() }, ...all], HISTORY_MAX));
  }

  keepQuery(text) {
    const name = el('input', { value: titleOf(text), required: true, maxlength: '80', id: 'kept-name' });
    const dialog = el('dialog', { 'aria-labelledby': 'keep-title', onclose: () => dialog.remove() },
      el('form', {
        method: 'dialog',
        onsubmit: () => {
          const all = read('kept', []).filter(entry => entry.name !== name.value);
          const done = keep('kept', bounded([{ name: name.value, text, reason: this.reason, time: Date.now() }, ...all], KEPT_MAX));
          tell(done ? 'Kept in this browser' : 'This browser has no room for it');
        },
      }, el('h2', { id: 'keep-title' }, 'Keep this query'), el('label.field.wide', { for: 'kept-name' }, 'Name', name),
      el('p.muted', {}, 'It stays in this browser.'),
      el('div.bar', {}, el('button.primary', {}, 'Keep'), el('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'))));
    document.body.append(dialog);
    dialog.showModal();
    name.select();
  }

  showHistory() {
    const dialog = el('dialog.list', { 'aria-labelledby': 'history-title', onclose: () => dialog.remove() });
    const place = el('div.scroll', { tabindex: '0', role: 'region', 'aria-label': 'Queries' });
    const search = el('input', { type: 'search', 'aria-label': 'Find a query', placeholder: 'Find', oninput: () => draw() });
    const draw = () => {
      const fits = entry => (entry.text + (entry.name || '')).toLowerCase().includes(search.value.toLowerCase());
      const part = (title, name) => {
        const all = read(name, []).filter(fits);
        return [el('h3', {}, title), all.length ? el('ul.plain', {}, all.map(entry => row(entry, name))) : el('p.muted', {}, 'None yet.')];
      };
      place.replaceChildren(...part('Kept', 'kept'), ...part('Run lately', 'history'));
    };
    const row = (entry, name) => el('li', {},
      el('button.entry', { onclick: () => { dialog.close(); this.open(entry.text, entry.reason ?? null); } },
        el('b', {}, entry.name || titleOf(entry.text), entry.reason ? el('span.muted', {}, ' reasons: ' + entry.reason) : null), el('code', {}, bodyOf(entry.text).slice(0, 160))),
      el('time.muted', {}, new Date(entry.time).toLocaleString([], { dateStyle: 'short', timeStyle: 'short' })),
      el('button.bare', { 'aria-label': 'Copy', title: 'Copy', onclick: () => copy(entry.text) }, icon('copy')),
      el('button.bare', { 'aria-label': 'Forget', title: 'Forget', onclick: () => { keep(name, read(name, []).filter(other => other.text !== entry.text || other.name !== entry.name || other.reason !== entry.reason)); draw(); } }, icon('close')));
    dialog.append(el('div.bar', {}, el('h2', { id: 'history-title' }, 'Queries of this browser'), search, el('button.end', { onclick: () => dialog.close() }, 'Close')), place);
    draw();
    document.body.append(dialog);
    dialog.showModal();
  }
}

// The view of queries: the editor, its buttons, and what comes of a run.

import { isUpdate } from './tokens.js';
import { readAnswer } from './answer.js';
import { queryPath, send, warningsOf, withoutNumber } from './api.js';
import { Checker, declare, format, Hover, withUsualPrefixes } from './assist.js';
import { Completion } from './complete.js';
import { $, copy, count, el, grouped, seconds, tell } from './dom.js';
import { Editor } from './editor.js';
import { readPrefixes } from './prefixes.js';
import { Reason } from './reason.js';
import { Results } from './results.js';
import { Tabs } from './tabs.js';
import { Live } from './live.js';

const FIRST = `SELECT ?class (COUNT(*) AS ?instances)
WHERE { ?s a ?class }
GROUP BY ?class
ORDER BY DESC(?instances)
LIMIT 25`;

export class QueryView {
  constructor() {
    this.editor = new Editor('SPARQL query or update', { onchange: event => this.changed(event) });
    $('editor').replaceChildren(this.editor.element);
    this.completion = new Completion(this.editor);
    this.warnings = [];
    this.reason = new Reason($('reason'), () => this.reasons());
    this.checker = new Checker(this.editor, this.reason, () => this.drawWarnings(), () => this.run());
    this.hover = new Hover(this.editor);
    this.results = new Results($('results'));
    this.live = new Live($('live'));
    const show = (text, reason) => {
      this.reason.show(reason);
      this.editor.show(text);
    };
    this.tabs = new Tabs($('query-tabs'), FIRST, show);
    show(this.tabs.text, this.tabs.reason);
    this.buttons();
    this.height();
    this.openShared();
    addEventListener('hashchange', () => this.openShared());
  }

  /** Another text is in the editor; without an event it is that of another tab. */
  changed(event) {
    if (event) this.tabs.changed(this.editor.text);
    else this.checker.anew();
    // What was said of a run was of its text.
    if (this.editor.text !== this.told) this.unsay();
  }

  unsay() {
    $('error').hidden = true;
    this.warn([]);
  }

  /** Other rules were chosen: what was said was not of them. */
  reasons() {
    this.tabs.reasonsBy(this.reason.value);
    this.warn([]);
    this.checker.anew();
  }

  /** What was said of the last run is no longer so. */
  forget() {
    if (this.running) return;
    this.unsay();
    if (this.hasFailed) this.status('', true);
    this.checker.anew();
  }

  buttons() {
    $('run').onclick = () => this.run();
    $('explain').onclick = () => this.run('explain');
    $('profile').onclick = () => this.run('profile');
    $('stop').onclick = () => this.stop();
    $('format').onclick = () => format(this.editor);
    $('share').onclick = () => this.share();
    $('save').onclick = () => this.tabs.keepQuery(this.editor.text);
    $('history').onclick = () => this.tabs.showHistory();
    document.addEventListener('keydown', event => this.onKey(event));
  }

  onKey(event) {
    if ($('view-query-panel').hidden || document.querySelector('dialog[open]')) return;
    const command = event.ctrlKey || event.metaKey;
    const wishes = [
      [command && event.key === 'Enter' && !event.shiftKey, () => this.run()],
      [command && event.key === 'Enter' && event.shiftKey, () => this.run('explain')],
      [command && event.shiftKey && event.key.toLowerCase() === 'f', () => format(this.editor)],
      [command && !event.shiftKey && event.key.toLowerCase() === 's', () => this.tabs.keepQuery(this.editor.text)],
      [event.altKey && event.key.toLowerCase() === 'n', () => this.tabs.add('')],
      [event.altKey && event.key === 'PageDown', () => this.tabs.step(1)],
      [event.altKey && event.key === 'PageUp', () => this.tabs.step(-1)],
      [event.key === 'Escape' && this.running && document.activeElement !== this.editor.area, () => this.stop()],
    ];
    const wish = wishes.find(([isMeant]) => isMeant);
    if (!wish) return;
    event.preventDefault();
    wish[1]();
  }

  /** The height of the editor, which a handle changes. */
  height() {
    const grip = $('editor-grip');
    const set = height => {
      const fit = Math.min(Math.max(height, 104), innerHeight - 220);
      $('editor').style.height = fit + 'px';
      grip.setAttribute('aria-valuenow', String(Math.round(fit)));
    };
    grip.onpointerdown = event => {
      event.preventDefault();
      const [start, height] = [event.clientY, $('editor').offsetHeight];
      grip.setPointerCapture(event.pointerId);
      grip.onpointermove = moved => set(height + moved.clientY - start);
      grip.onpointerup = () => { grip.onpointermove = null; };
    };
    grip.onkeydown = event => {
      const step = { ArrowUp: -20, ArrowDown: 20 }[event.key];
      if (!step) return;
      event.preventDefault();
      set($('editor').offsetHeight + step);
    };
  }

  /** A query in the part of the address that no server sees. */
  openShared() {
    if (!location.hash.startsWith('#query=')) return;
    const shared = new URLSearchParams(location.hash.slice(1));
    history.replaceState(null, '', location.pathname + location.search);
    this.tabs.open(shared.get('query'), shared.get('reason'));
  }

  /** Shows a query in a tab of its own, unless one has it. */
  open(text, isRun = false) {
    this.tabs.open(text);
    if (isRun) this.run();
  }

  share() {
    const url = new URL(location.href);
    url.search = '';
    const reason = this.reason.value;
    url.hash = new URLSearchParams({ query: this.editor.text, ...(reason === null ? {} : { reason }) });
    copy(url.href);
    tell('The link is copied. It has the query in it, and is read by no server.');
  }

  stop() {
    this.running?.abort();
  }

  fail(error, text, origin) {
    const message = withoutNumber(error.message);
    const written = mark => ({ ...mark, from: origin(mark.from), to: origin(mark.to) });
    const marks = (error.marks || []).map(written).filter(mark => mark.isPlaced && mark.from <= text.length);
    if (marks.length && this.editor.text === text) {
      this.checker.show(marks);
      this.editor.goTo(marks[0].from, marks[0].to);
      this.results.clear();
      // What has a place is told beside it, once.
      $('polite').textContent = count(marks.length, 'error') + ': ' + marks[0].message + ' ' + marks[0].help;
      return;
    }
    $('error').textContent = message;
    $('error').hidden = false;
  }

  busy(isBusy) {
    for (const id of ['run', 'explain', 'profile']) $(id).disabled = isBusy;
    // One stands in the place of the other, so that nothing moves.
    const [shown, other] = isBusy ? [$('stop'), $('run')] : [$('run'), $('stop')];
    const hasFocus = document.activeElement === other;
    shown.hidden = false;
    other.hidden = true;
    if (hasFocus) shown.focus();
    $('progress').hidden = !isBusy;
  }

  /** Runs what is in the editor; `plan` is `explain` or `profile`. */
  async run(plan) {
    if (this.running) return;
    this.completion.close();
    if (!this.editor.text.trim()) return tell('There is nothing to run');
    const { text } = this.editor;
    const sent = withUsualPrefixes(this.editor);
    const stop = this.running = new AbortController();
    const started = performance.now();
    const took = () => seconds((performance.now() - started) / 1e3);
    this.busy(true);
    this.unsay();
    this.results.clear();
    this.hasFailed = false;
    this.status('Running…', true);
    let rows = '';
    const tick = setInterval(() => { $('status').textContent = `Running… ${took()}${rows}`; }, 200);
    this.live.start(sent.text, plan === 'profile');
    try {
      readPrefixes(sent.text);
      this.tabs.ran(text);
      const summary = await this.ask(sent.text, plan, stop.signal, answer => { rows = ' · ' + count(answer.rows.length, 'row'); });
      // Only with what has gone well.
      if (sent.names.length && this.editor.text === text) declare(this.editor, sent.names);
      this.status(`${summary}${took()}`);
    } catch (error) {
      this.hasFailed = true;
      this.status(error.name === 'AbortError' ? `Stopped after ${took()}` : `Failed after ${took()}`);
      if (error.name !== 'AbortError') this.fail(error, text, sent.origin);
    }
    this.told = this.editor.text;
    clearInterval(tick);
    this.live.stop();
    this.running = null;
    this.busy(false);
  }

  status(text, isQuiet = false) {
    $('status').textContent = text;
    if (!isQuiet) $('polite').textContent = text;
  }

  async ask(text, plan, signal, counted) {
    const isChange = isUpdate(text);
    if (isChange && plan) throw new Error('Plans are shown of queries only.');
    const kind = isChange ? 'update' : 'query';
    const accept = plan ? 'application/json' : isChange ? 'application/json' : 'application/sparql-results+json, application/n-triples';
    const asked = { text, reason: this.reason.value };
    const path = isChange ? kind : queryPath(plan ? { [plan]: 1 } : {}, asked.reason);
    const response = await send(path, { method: 'POST', type: 'application/sparql-' + kind, accept, body: text, signal, allowed: plan ? [503, 504, 500, 413] : [] });
    this.warn(warningsOf(response));
    if (plan) return this.showPlan(response, text);
    if (isChange) return this.showChange(await response.json());
    const answer = await readAnswer(response, part => {
      counted(part);
      this.results.progress(part, asked);
    });
    this.results.show(answer, asked);
    if (answer.boolean !== null || answer.kind === 'text') return '';
    const what = answer.kind === 'triples' ? 'triple' : 'row';
    return (answer.more ? 'More than ' : '') + count(answer.rows.length, what) + ' · ';
  }

  async showPlan(response) {
    const said = await response.text();
    let report;
    try {
      report = JSON.parse(said);
    } catch {
      throw new Error(said);
    }
    const { planView } = await import('./plan.js');
    $('results').replaceChildren(planView(report));
    return '';
  }

  showChange(done) {
    $('results').replaceChildren(el('dl.facts.change', {},
      [['Inserted', done.inserted], ['Deleted', done.deleted], ['Operations', done.operations]].map(([name, number]) => [el('dt', {}, name), el('dd', {}, grouped(number ?? 0))])));
    const nothing = !done.inserted && !done.deleted ? 'Nothing has changed: ' : '';
    return `${nothing}${count(done.inserted ?? 0, 'quad')} inserted, ${grouped(done.deleted ?? 0)} deleted · `;
  }

  warn(texts) {
    this.warnings = texts;
    this.drawWarnings();
  }

  /** What is marked in the text is said beside it, and only there. */
  drawWarnings() {
    const texts = this.warnings.filter(text => !this.checker.says(text));
    $('warnings').replaceChildren(...texts.map(text => el('p', {}, 'Warning: ' + text)));
    $('warnings').hidden = !texts.length;
  }
}

// An answer in its views: those that its rows allow, the one that fits first.

import { base, isLoggedIn, queryPath, send } from './api.js';
import { ROWS_MAX } from './answer.js';
import { bytes, count, el, grouped, saveAs, tell } from './dom.js';
import { mayInfer } from './reason.js';
import { Table } from './table.js';

const ROW_FORMATS = [['csv', 'CSV'], ['tsv', 'TSV'], ['json', 'JSON'], ['xml', 'XML']];
const GRAPH_FORMATS = [['ttl', 'Turtle'], ['nt', 'N-Triples'], ['nq', 'N-Quads'], ['jsonld', 'JSON-LD'], ['rdf', 'RDF/XML']];
/** A longer query is sent as a body. */
const LINK_MAX = 6000;
const RAW_MAX = 1 << 20;

const formatsOf = answer => (answer.kind === 'rows' ? ROW_FORMATS : GRAPH_FORMATS);

/** The views of an answer to `asked`, a text and the rules that it reasons by: `[name, label, maker]`. Those that are seldom used are loaded when they are. */
function viewsOf(answer, asked) {
  const views = [];
  if (answer.boolean !== null) return [['answer', 'Answer', () => booleanView(answer.boolean)]];
  if (answer.kind === 'triples') views.push(['graph', 'Graph', async () => (await import('./graph.js')).graphView(answer.triples)]);
  if (answer.kind !== 'text') {
    views.push(['table', 'Table', () => tableView(answer, asked)]);
    views.push(['chart', 'Chart', async () => (await import('./chart.js')).chartView(answer)]);
    views.push(['map', 'Map', async () => (await import('./map.js')).mapView(answer)]);
  }
  views.push(['raw', 'Raw', () => rawView(answer, asked)]);
  return views;
}

function booleanView(boolean) {
  return el('p.boolean.' + (boolean ? 'yes' : 'no'), {}, boolean ? 'yes' : 'no');
}

/** Names of columns that make a row a triple, and of one that may tell its graph. */
const TRIPLES = [['subject', 'predicate', 'object', 'graph'], ['s', 'p', 'o', 'g']];

/** Opens why the triple holds that a row is; none where rows are no triples, or nothing follows by rules. */
function whyOf(answer, asked) {
  const names = mayInfer(asked.reason) && TRIPLES.find(names => names.slice(0, 3).every(name => answer.vars.includes(name)) && answer.vars.every(name => names.includes(name)));
  if (!names) return null;
  return async row => {
    const [subject, predicate, object, graph] = names.map(name => row[name]);
    const { canExplain, openWhy } = await import('./why.js');
    const triple = { subject, predicate, object };
    if (canExplain(triple)) openWhy(triple, { graph: graph?.value ?? 'default', reason: asked.reason });
    else tell('This row is no triple that could be explained');
  };
}

function tableView(answer, asked) {
  if (!answer.vars.length) return el('p.empty-note', {}, count(answer.rows.length, 'row') + ' without columns.');
  if (!answer.rows.length) return el('p.empty-note', {}, 'No rows.');
  const table = new Table(answer.vars, whyOf(answer, asked));
  table.setRows(answer.rows);
  table.element.table = table;
  return table.element;
}

/** The answer as the server writes it, up to its first megabyte. */
function rawView(answer, asked) {
  const place = el('pre.raw', { tabindex: '0', role: 'region', 'aria-label': 'Raw answer' });
  const formats = formatsOf(answer);
  const select = el('select', { onchange: () => load(select.value) }, formats.map(([format, name]) => el('option', { value: format }, name)));
  const note = el('span.muted', { role: 'status' });
  async function load(format) {
    place.textContent = '';
    note.textContent = 'Loading…';
    try {
      const response = await send(queryPath({ format }, asked.reason), { method: 'POST', type: 'application/sparql-query', body: asked.text, accept: '*/*' });
      const reader = response.body.getReader();
      const decoder = new TextDecoder();
      let read = 0;
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        read += value.length;
        place.append(decoder.decode(value, { stream: true }));
        if (read > RAW_MAX) {
          reader.cancel();
          break;
        }
      }
      note.textContent = read > RAW_MAX ? 'The first megabyte. Download has all.' : bytes(read);
    } catch (error) {
      note.textContent = error.message;
    }
  }
  if (answer.kind === 'text') place.textContent = answer.text;
  else load(formats[0][0]);
  return el('div.raw-view', {}, answer.kind === 'text' ? null : el('div.bar.view-tools', {}, el('label.field', {}, 'Format', select), note), place);
}

/** Downloads all of the answer. */
async function download(asked, format) {
  const path = queryPath({ query: asked.text, format }, asked.reason);
  if (!isLoggedIn() && path.length < LINK_MAX) {
    el('a', { href: base + path, download: 'result.' + format }).click();
    return;
  }
  tell('Downloading…');
  try {
    const response = await send(queryPath({ format }, asked.reason), { method: 'POST', type: 'application/sparql-query', body: asked.text, accept: '*/*' });
    saveAs(await response.blob(), 'result.' + format);
  } catch (error) {
    tell('Download: ' + error.message.split('\n')[0]);
  }
}

export class Results {
  constructor(place) {
    this.place = place;
    this.wanted = null;
  }

  clear() {
    this.answer = null;
    this.shown = null;
    this.place.replaceChildren();
  }

  /** Rows while they come: the table grows. */
  progress(answer, asked) {
    if (this.answer !== answer) {
      if (this.wanted && this.wanted !== 'table' || answer.kind !== 'rows') return;
      this.answer = answer;
      this.start(answer, asked);
      this.open('table');
      return;
    }
    this.shown?.table?.setRows(answer.rows);
  }

  /** All of the answer that the page keeps. */
  show(answer, asked) {
    if (this.answer === answer && this.shown?.table) {
      this.shown.table.setRows(answer.rows);
      this.note.textContent = this.noteOf(answer);
      return;
    }
    this.answer = answer;
    this.start(answer, asked);
    const names = this.views.map(([name]) => name);
    this.open(names.includes(this.wanted) ? this.wanted : names[0]);
  }

  noteOf(answer) {
    if (!answer.more) return '';
    const what = answer.kind === 'triples' ? 'triples' : 'rows';
    return answer.kind === 'text' ? 'The beginning. Download has all.' : `The first ${grouped(Math.min(answer.rows.length, ROWS_MAX))} ${what}. Download has all.`;
  }

  start(answer, asked) {
    this.views = viewsOf(answer, asked);
    this.tabs = el('div.tabs.views', { role: 'tablist', 'aria-label': 'Views of the answer', onkeydown: event => this.onKey(event) },
      this.views.map(([name, label]) => el('button.tab', { id: 'view-' + name, role: 'tab', 'aria-selected': 'false', 'aria-controls': 'view', tabindex: '-1', onclick: () => this.choose(name) }, label)));
    const formats = answer.boolean === null ? formatsOf(answer) : [];
    const menu = el('select', { 'aria-label': 'Download all', onchange: () => { download(asked, menu.value); menu.value = ''; } },
      el('option', { value: '' }, 'Download all'), formats.map(([format, name]) => el('option', { value: format }, name)));
    this.note = el('span.muted.note', {}, this.noteOf(answer));
    this.view = el('div.view', { id: 'view', role: 'tabpanel', tabindex: '-1' });
    this.place.replaceChildren(el('div.bar.views-bar', {}, this.tabs, this.note, formats.length ? menu : null), this.view);
  }

  onKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const names = this.views.map(([name]) => name);
    this.choose(names[(names.indexOf(this.name) + step + names.length) % names.length]);
    document.getElementById('view-' + this.name).focus();
  }

  choose(name) {
    this.wanted = name;
    this.open(name);
  }

  async open(name) {
    this.name = name;
    for (const tab of this.tabs.children) {
      tab.setAttribute('aria-selected', String(tab.id === 'view-' + name));
      tab.tabIndex = tab.id === 'view-' + name ? 0 : -1;
    }
    this.view.setAttribute('aria-labelledby', 'view-' + name);
    const made = this.views.find(([view]) => view === name)[2]();
    const content = made instanceof Promise ? await made : made;
    if (this.name !== name) return;
    this.shown = content;
    this.view.replaceChildren(content);
  }
}

// Uploads: files that are dropped or chosen, into a graph, one after the other.

import { authorization, base, send, session, withoutNumber } from './api.js';
import { $, bytes, count, el, grouped, seconds } from './dom.js';

const TYPES = {
  ttl: 'text/turtle', nt: 'application/n-triples', nq: 'application/n-quads', trig: 'application/trig', rdf: 'application/rdf+xml', owl: 'application/rdf+xml',
  xml: 'application/rdf+xml', jsonld: 'application/ld+json', json: 'application/ld+json', n3: 'text/turtle',
};
const CODINGS = { gz: 'gzip', zst: 'zstd', br: 'br', bz2: 'bzip2', xz: 'xz' };
const WITH_GRAPHS = ['nq', 'trig', 'jsonld', 'json'];

/** What a file's name says of it. */
export function kindOf(name) {
  const parts = name.toLowerCase().split('.');
  const coding = CODINGS[parts.at(-1)];
  if (coding) parts.pop();
  const extension = parts.at(-1);
  return { coding, extension, type: TYPES[extension] };
}

export function start(panel) {
  const graphs = el('datalist', { id: 'known-graphs' });
  const target = el('select', { id: 'upload-target', onchange: () => draw() },
    el('option', { value: 'default' }, 'the default graph'), el('option', { value: 'graph' }, 'a named graph'), el('option', { value: 'all' }, 'the graphs that the files name'));
  const graph = el('input', { id: 'upload-graph', type: 'url', placeholder: 'http://example.org/graph', list: 'known-graphs', 'aria-label': 'IRI of the graph', size: '34' });
  const replace = el('input', { type: 'checkbox', id: 'upload-replace' });
  const input = el('input.hidden', { id: 'upload-files', type: 'file', multiple: true, 'aria-label': 'Files to upload', tabindex: '-1', onchange: () => { take([...input.files]); input.value = ''; } });
  const drop = el('div.drop', {
    ondragover: event => { event.preventDefault(); drop.classList.add('over'); },
    ondragleave: () => drop.classList.remove('over'),
    ondrop: event => { event.preventDefault(); drop.classList.remove('over'); take([...event.dataTransfer.files]); },
  }, el('p', {}, 'Drop files here: Turtle, N-Triples, N-Quads, TriG, RDF/XML, JSON-LD, as they are or compressed (.gz, .zst).'),
  el('button.primary', { onclick: () => input.click() }, 'Choose files'), input);
  const list = el('tbody');
  const table = el('table.list.files', { hidden: true }, el('thead', {}, el('tr', {}, ['File', 'Size', 'What happened', ''].map((name, at) => el('th' + (at === 1 ? '.number' : ''), { scope: 'col' }, name || el('span.hidden', {}, 'Action'))))), list);
  const lock = el('p.message.warning', { hidden: true });
  panel.replaceChildren(el('div.page', {},
    el('h1', {}, 'Upload'), lock,
    el('div.bar', {}, el('label.field', { for: 'upload-target' }, 'Into', target), graph, el('label.choice', {}, replace, 'Replace what is there')), el('p'),
    drop, graphs, el('div.card', { id: 'uploads', hidden: true }, table)));

  function draw() {
    graph.hidden = target.value !== 'graph';
    lock.hidden = ['update', 'admin'].includes(session.role);
    lock.textContent = 'Uploads take the role update: log in first.';
  }

  const waiting = [];
  let isBusy = false;
  function take(files) {
    if (target.value === 'graph' && !graph.checkValidity() || target.value === 'graph' && !graph.value) {
      graph.setCustomValidity(graph.value ? '' : 'Name the graph first');
      graph.reportValidity();
      graph.setCustomValidity('');
      return;
    }
    if (replace.checked && !confirm(`Replace all that is in ${target.value === 'graph' ? graph.value : target.value === 'all' ? 'the whole database' : 'the default graph'}?`)) return;
    table.hidden = $('uploads').hidden = false;
    // Only the first of several replaces: the others would replace it.
    files.forEach((file, at) => waiting.push(new Upload(file, { target: target.value, graph: graph.value, replace: replace.checked && at === 0 }, list)));
    replace.checked = false;
    if (!isBusy) next();
  }

  async function next() {
    isBusy = true;
    while (waiting.length) await waiting.shift().send();
    isBusy = false;
  }

  async function suggest() {
    draw();
    if (graphs.children.length) return;
    try {
      const response = await send('query?timeout=3', { method: 'POST', type: 'application/sparql-query', accept: 'application/sparql-results+json', body: 'SELECT DISTINCT ?g { GRAPH ?g { } } LIMIT 200' });
      const rows = (await response.json()).results.bindings;
      graphs.replaceChildren(...rows.filter(row => row.g?.type === 'uri').map(row => el('option', { value: row.g.value })));
    } catch {
      // The name can be written.
    }
  }
  return { shown: suggest };
}

/** One file on its way. */
class Upload {
  constructor(file, wish, list) {
    [this.file, this.wish] = [file, wish];
    this.said = el('td', { role: 'status' }, 'waits');
    this.button = el('button.small', { 'aria-label': 'Stop the upload of ' + file.name, onclick: () => this.stop() }, 'Stop');
    list.prepend(el('tr', {}, el('td', {}, file.name), el('td.number', {}, bytes(file.size)), this.said, el('td', {}, this.button)));
  }

  stop() {
    this.isStopped = true;
    this.request?.abort();
    this.end('stopped: nothing was changed');
  }

  end(text, isBad = false) {
    this.said.replaceChildren(el('span', {}, text));
    this.said.className = isBad ? 'bad' : '';
    this.button.remove();
  }

  send() {
    const { file, wish } = this;
    const { coding, extension, type } = kindOf(file.name);
    if (this.isStopped) return Promise.resolve();
    // A refusal would have the browser ask for a password by itself.
    if (!['update', 'admin'].includes(session.role)) return Promise.resolve(this.end('takes the role update: log in first', true));
    if (!type) return Promise.resolve(this.end('no format is known by this name: .ttl, .nt, .nq, .trig, .rdf, .jsonld', true));
    // Triples have no graphs that they name: they go to the default graph.
    const inGraphs = wish.target === 'all' && WITH_GRAPHS.includes(extension);
    const query = inGraphs ? '' : wish.target === 'graph' ? '?graph=' + encodeURIComponent(wish.graph) : '?default';
    const started = performance.now();
    return new Promise(resolve => {
      const request = this.request = new XMLHttpRequest();
      request.open(wish.replace ? 'PUT' : 'POST', base + 'data' + query);
      request.setRequestHeader('Content-Type', type);
      if (coding) request.setRequestHeader('Content-Encoding', coding);
      const login = authorization();
      if (login) request.setRequestHeader('Authorization', login);
      const bar = el('progress', { max: '1', value: 0, 'aria-label': 'Upload of ' + file.name });
      const text = el('span.muted', {}, '');
      this.said.replaceChildren(bar, text);
      request.upload.onprogress = event => {
        bar.value = event.total ? event.loaded / event.total : 0;
        text.textContent = event.loaded < event.total ? `${bytes(event.loaded)} sent` : 'sent; the server writes it';
      };
      request.onload = () => {
        const took = seconds((performance.now() - started) / 1e3);
        if (request.status >= 300) this.end(withoutNumber(request.responseText).replace(/^body(?=:\d)/, file.name) || 'status ' + request.status, true);
        else this.end(`${told(request.responseText)} in ${took}`);
        resolve();
      };
      request.onerror = () => { this.end('the connection broke off', true); resolve(); };
      request.onabort = () => resolve();
      request.send(file);
    });
  }
}

/** What the server says that it did. */
function told(text) {
  try {
    const done = JSON.parse(text);
    const parts = [];
    const known = (done.quads ?? 0) - (done.inserted ?? 0);
    if (known > 0 && done.inserted !== undefined) parts.push(`${count(done.inserted, 'new quad')}; ${grouped(known)} ${known === 1 ? 'was' : 'were'} there already`);
    else if (done.inserted !== undefined) parts.push(count(done.inserted, 'quad') + ' inserted');
    else if (done.quads !== undefined) parts.push(count(done.quads, 'quad'));
    if (done.deleted) parts.push(count(done.deleted, 'quad') + ' deleted');
    return parts.join(', ') || 'done';
  } catch {
    return 'done';
  }
}

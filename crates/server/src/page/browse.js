// The page of a resource: what is said of it, and what points to it, predicate by predicate.

import { rowsOf, withoutNumber } from './api.js';
import { copy, el, grouped, icon, isWeb } from './dom.js';
import { anywhere, labelsOf } from './names.js';
import { offerTerms } from './offered.js';
import { inQuery, named, shortened, usual } from './prefixes.js';
import { Reason, mayInfer } from './reason.js';
import { found, isWords } from './search.js';
import { browseLink, isImage, showTerm, termOf, textOf, turtleOf } from './terms.js';

const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const PREDICATES_MAX = 200;
const FIRST = 5;
const MORE = 25;
/** Where there are more stated values than these, of which some are blank nodes, nothing is told of what follows. */
const STATED_MAX = 5000;

export function start(panel, tools) {
  const input = el('input', { id: 'browse-iri', type: 'text', 'aria-label': 'IRI of a resource, or words of its texts', placeholder: 'http://…, prefix:name, or words', spellcheck: 'false' });
  const place = el('div', { id: 'resource' });
  const status = el('p.muted', { role: 'status' });
  const again = () => {
    const text = input.value.trim();
    if (text) isWords(text) ? tools.search(text) : tools.browse(expanded(text));
  };
  const select = el('select', { id: 'browse-reason', 'aria-label': 'Reasoning', title: 'What follows from the data by a schema is shown, too' });
  const reason = new Reason(select, again);
  const form = el('form.bar.search', { role: 'search', onsubmit: event => { event.preventDefault(); again(); } },
    input, select, el('button.primary', {}, 'Browse'));
  panel.replaceChildren(el('div.page', {}, form, status, place));
  offerTerms(input, iri => tools.browse(iri));
  let asked;

  /** Shows what comes, unless something else is asked for before. */
  async function load(text, title, content, then) {
    asked?.abort();
    asked = new AbortController();
    const { signal } = asked;
    input.value = text;
    document.title = title + ' · Lodestore';
    place.replaceChildren();
    status.hidden = false;
    status.textContent = 'Loading…';
    try {
      const loaded = await content(signal);
      if (signal.aborted) return;
      place.replaceChildren(loaded);
      status.hidden = true;
      then?.();
    } catch (error) {
      if (error.name !== 'AbortError') status.textContent = withoutNumber(error.message);
    }
  }

  function show(iri, rules) {
    reason.show(rules);
    let resource;
    return load(iri, named(iri), signal => (resource = new Resource(iri, signal, tools, reason.value)).load(), () => resource.fill());
  }

  const search = words => load(words, words, signal => found(words, signal));

  async function suggest() {
    if (place.querySelector('.head')) return;
    place.replaceChildren(el('h1.hidden', {}, 'Browse'));
    status.textContent = 'Name a resource, search for words, or begin with one of these classes.';
    try {
      const rows = await rowsOf(`SELECT ?c (SAMPLE(?s) AS ?x) (COUNT(*) AS ?n) { ${anywhere('?s a ?c')} } GROUP BY ?c ORDER BY DESC(?n) LIMIT 24`, { timeout: 8 });
      if (place.querySelector('.head')) return;
      place.replaceChildren(el('h1.hidden', {}, 'Browse'), el('div.card', {}, el('table.list', {},
        el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Class'), el('th', { scope: 'col' }, 'One of them'), el('th.number', { scope: 'col' }, 'Instances'))),
        el('tbody', {}, rows.filter(row => row.c).map(row => el('tr', {}, el('td', {}, termOf(row.c)), el('td', {}, row.x?.type === 'uri' ? browseLink(row.x.value) : ''), el('td.number', {}, grouped(Number(row.n.value)))))))));
      const links = [...place.querySelectorAll('tbody a.resource')];
      const labels = await labelsOf(links.map(link => link.dataset.resource));
      for (const link of links) {
        const label = labels.get(link.dataset.resource);
        if (label) link.after(' ', el('span.muted', {}, label));
      }
    } catch (error) {
      status.textContent = 'Name a resource. ' + (error.status === 401 ? 'Log in to see what there is.' : '');
    }
  }
  return { reason, search, resource: show, shown: isNew => { reason.draw(); if (isNew) suggest(); } };
}

/** An IRI, or a prefixed name that is known. */
function expanded(text) {
  const found = text.match(/^([\w-]*):([^/].*)?$/);
  const start = found && usual(found[1]);
  return start ? start + (found[2] || '') : text.replace(/^<|>$/g, '');
}

class Resource {
  constructor(iri, signal, tools, reason) {
    [this.iri, this.signal, this.tools, this.reason] = [iri, signal, tools, reason];
    this.node = inQuery(iri);
    this.parts = [];
  }

  rows(query, timeout, stated = false) {
    return rowsOf(query, { signal: this.signal, timeout, reason: this.reason, stated });
  }

  async load() {
    const list = pattern => this.rows(`SELECT ?p (COUNT(*) AS ?n) { ${anywhere(pattern)} } GROUP BY ?p ORDER BY DESC(?n) LIMIT ${PREDICATES_MAX}`);
    const [out, into, types, labels] = await Promise.all([list(`${this.node} ?p ?o`), list(`?s ?p ${this.node}`),
      this.rows(`SELECT DISTINCT ?t { ${anywhere(`${this.node} a ?t`)} } LIMIT 30`), labelsOf([this.iri], { signal: this.signal })]);
    const [outgoing, incoming] = [out.filter(row => row.p), into.filter(row => row.p)];
    const isThere = outgoing.length || incoming.length;
    const predicates = await labelsOf([...outgoing, ...incoming].map(row => row.p.value), { signal: this.signal });
    return el('div', {}, this.head(labels.get(this.iri), types, incoming.length + outgoing.length),
      isThere ? el('div.columns', {}, this.section('Outgoing', outgoing, predicates, true), this.section('Incoming', incoming, predicates, false)) : el('p.empty-note', {}, 'Nothing here names this resource.'));
  }

  head(label, types, isKnown) {
    const describe = `DESCRIBE ${this.node}`;
    return el('div.head', {},
      el('h1', {}, label || named(this.iri)), el('div.iri', {}, this.iri),
      types.length ? el('div.chips', { 'aria-label': 'Types' }, types.map(row => el('span.chip', {}, termOf(row.t)))) : null,
      el('p'), el('div.bar', {},
        el('button', { onclick: () => copy(this.iri) }, icon('copy'), 'Copy IRI'),
        isWeb(this.iri) ? el('a.button', { href: this.iri, target: '_blank', rel: 'noopener noreferrer' }, icon('open'), 'Open') : null,
        isKnown ? el('button', { onclick: () => this.tools.openQuery(describe) }, 'Graph') : null));
  }

  section(title, rows, labels, isOut) {
    const order = [...rows].sort((a, b) => (b.p.value === TYPE) - (a.p.value === TYPE) || (isOut ? Number(a.n.value) - Number(b.n.value) : 0));
    const entries = order.map(row => {
      const predicate = row.p.value;
      const part = new Part(this, predicate, Number(row.n.value), isOut);
      this.parts.push(part);
      return [el('dt', {}, browseLink(predicate, shortened(predicate)), labels.get(predicate) ? el('span.muted', {}, labels.get(predicate)) : null), el('dd', {}, part.list, part.more)];
    });
    const all = rows.reduce((sum, row) => sum + Number(row.n.value), 0);
    return el('section.card', { 'aria-label': title }, el('h2', {}, title, el('span.muted', {}, '  ' + grouped(all))),
      entries.length ? el('dl.statements', {}, entries) : el('p.muted', {}, 'None.'),
      rows.length === PREDICATES_MAX ? el('p.muted', {}, `The ${PREDICATES_MAX} most frequent predicates.`) : null);
  }

  /** The first values of each predicate, a few at once. */
  async fill() {
    const waiting = [...this.parts];
    const work = async () => {
      while (waiting.length && !this.signal.aborted) await waiting.shift().load();
    };
    await Promise.all([work(), work(), work(), work()]);
  }
}

/** The values of one predicate, page by page. */
class Part {
  constructor(resource, predicate, all, isOut) {
    Object.assign(this, { resource, predicate, all, isOut, shown: 0 });
    this.list = el('ul');
    this.more = el('button.small', { hidden: true, onclick: () => this.load() });
  }

  async load() {
    const { resource, predicate, isOut } = this;
    const limit = this.shown ? MORE : FIRST;
    const pattern = isOut ? `${resource.node} ${inQuery(predicate)} ?x` : `?x ${inQuery(predicate)} ${resource.node}`;
    try {
      const rows = await resource.rows(`SELECT * { ${anywhere(pattern)} } LIMIT ${limit} OFFSET ${this.shown}`, 10);
      const items = rows.map(row => this.item(row));
      this.list.append(...items);
      if (mayInfer(resource.reason)) this.markInferred(pattern, rows, items);
      this.shown += rows.length;
      const left = this.all - this.shown;
      this.more.hidden = left <= 0 || !rows.length;
      this.more.textContent = left > MORE ? `${MORE} more of ${grouped(left)}` : `${left} more`;
      const iris = rows.filter(row => row.x.type === 'uri').map(row => row.x.value);
      const labels = await labelsOf(iris, { signal: resource.signal });
      rows.forEach((row, at) => {
        const [label, link] = [labels.get(row.x.value), items[at].querySelector('a')];
        if (!label || !link) return;
        link.after(el('span.muted', {}, link.textContent));
        link.textContent = label.length > 120 ? label.slice(0, 120) + '…' : label;
      });
    } catch (error) {
      if (error.name !== 'AbortError') this.list.append(el('li.muted', {}, withoutNumber(error.message)));
    }
  }

  /** Of what follows by rules it can be asked why. */
  async markInferred(pattern, rows, items) {
    const { resource, predicate, isOut } = this;
    const keyOf = ({ x, g }) => turtleOf(x) + ' ' + (g?.value ?? '');
    // Blank nodes cannot be named in a query: then all values are asked for.
    const isNamed = rows.every(({ x }) => x.type === 'uri' || x.type === 'literal');
    const values = isNamed ? `VALUES ?x { ${[...new Set(rows.map(({ x }) => turtleOf(x)))].join(' ')} }` : '';
    try {
      const stated = await resource.rows(`SELECT * { ${values} ${anywhere(pattern)} } LIMIT ${STATED_MAX}`, 10, true);
      if (stated.length === STATED_MAX) return;
      const known = new Set(stated.map(keyOf));
      const [node, link] = [{ type: 'uri', value: resource.iri }, { type: 'uri', value: predicate }];
      rows.forEach((row, at) => {
        if (known.has(keyOf(row)) || row.x.type === 'triple') return;
        const triple = isOut ? { subject: node, predicate: link, object: row.x } : { subject: row.x, predicate: link, object: node };
        const ask = async () => (await import('./why.js')).openWhy(triple, { graph: row.g?.value ?? 'default', reason: resource.reason });
        items[at].append(el('button.small.why', { 'aria-label': 'Why? ' + textOf(row.x), title: 'This follows by rules', onclick: ask }, 'why?'));
      });
    } catch (error) {
      if (error.name !== 'AbortError') this.list.append(el('li.muted', {}, 'What of this follows was not found out: ' + withoutNumber(error.message)));
    }
  }

  item(row) {
    const { x, g } = row;
    const isLong = x.type === 'literal' && x.value.length > 400;
    const graph = g ? el('small.note', { title: 'in the graph ' + g.value }, 'in ', named(g.value)) : null;
    return el('li', {}, x.type === 'uri' ? browseLink(x.value, named(x.value)) : termOf(x), isLong ? el('button.link', { onclick: () => showTerm(x) }, ' all') : null, graph, x.type === 'uri' && isImage(x.value) ? picture(x.value) : null);
  }
}

/** A picture is loaded once somebody wants it: its server learns of it. */
function picture(iri) {
  const button = el('button.small', { onclick: () => button.replaceWith(el('img', { src: iri, alt: named(iri), referrerpolicy: 'no-referrer', loading: 'lazy' })) }, 'Show picture');
  return el('div', {}, button);
}


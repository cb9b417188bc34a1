// What is in the data: figures, graphs, classes, predicates, and a picture of how classes hang together.

import { rowsOf, send, session, withoutNumber } from './api.js';
import { el, grouped } from './dom.js';
import { anywhere, labelsOf } from './names.js';
import { inQuery, shortened } from './prefixes.js';
import { triplesOf } from './rdf.js';
import { mayInfer } from './reason.js';
import { browseLink, termOf } from './terms.js';

const VOID = 'http://rdfs.org/ns/void#';
const SD = 'http://www.w3.org/ns/sparql-service-description#';
const LIST_MAX = 60;
const EDGES_MAX = 80;

/** The service description's figures: `{ whole, graphs }`. */
function described(triples) {
  const of = new Map();
  for (const { subject, predicate, object } of triples) {
    if (!of.has(subject.value)) of.set(subject.value, {});
    const facts = of.get(subject.value);
    (facts[predicate.value] ??= []).push(object);
  }
  const figures = node => Object.fromEntries(['triples', 'entities', 'classes', 'properties', 'distinctSubjects', 'distinctObjects'].map(name => [name, Number(node?.[VOID + name]?.[0].value || 0)]));
  const whole = [...of.values()].find(facts => facts[SD + 'defaultGraph']);
  const graph = term => figures(of.get(term?.value));
  const named = (whole?.[SD + 'namedGraph'] || []).map(entry => of.get(entry.value)).filter(Boolean);
  return {
    whole: figures(whole),
    graphs: [{ name: null, ...graph(whole?.[SD + 'defaultGraph']?.[0]) }, ...named.map(entry => ({ name: entry[SD + 'name']?.[0].value ?? '(blank node)', ...graph(entry[SD + 'graph']?.[0]) }))],
  };
}

export function start(panel, { openQuery }) {
  const content = el('div');
  const status = el('p.muted', { role: 'status' });
  panel.replaceChildren(el('div.page', {}, el('h1', {}, 'Data'), status, content));
  let seen;

  async function load() {
    status.hidden = false;
    status.textContent = 'Counting… The first time after a change this takes a while.';
    try {
      const response = await send('.well-known/void', { accept: 'application/n-triples' });
      const tag = response.headers.get('ETag');
      if (tag && tag === seen) {
        status.hidden = true;
        return;
      }
      const { whole, graphs } = described(triplesOf(await response.text()));
      const inferred = session.inferred ? await inferredTriples() : null;
      seen = tag;
      status.hidden = true;
      const classes = el('div.long', { tabindex: '0', role: 'region', 'aria-label': 'All classes' });
      const predicates = el('div.long', { tabindex: '0', role: 'region', 'aria-label': 'All predicates' });
      content.replaceChildren(figures(whole, graphs.length - 1, inferred),
        el('div.columns', {}, el('section.card', { 'aria-label': 'Graphs' }, el('h2', {}, 'Graphs'), graphTable(graphs)),
          el('section.card', { 'aria-label': 'Classes' }, el('h2', {}, 'Classes'), classes),
          el('section.card', { 'aria-label': 'Predicates' }, el('h2', {}, 'Predicates'), predicates)),
        el('p'), schema(), mayInfer(null) ? contradictions() : '');
      await Promise.all([counts(classes, 'class', anywhere('?s a ?x'), iri => `SELECT ?s { ?s a ${inQuery(iri)} }\nLIMIT 100`), counts(predicates, 'predicate', anywhere('?s ?x ?o'), iri => `SELECT ?s ?o { ?s ${inQuery(iri)} ?o }\nLIMIT 100`)]);
    } catch (error) {
      status.hidden = false;
      status.textContent = withoutNumber(error.message);
    }
  }

  /** Those among all triples that rules have added; none where that is not known. */
  async function inferredTriples() {
    const rows = await rowsOf('SELECT (COUNT(*) AS ?n) { GRAPH <urn:lodestore:inferred> { ?s ?p ?o } }').catch(() => []);
    return rows[0]?.n ? Number(rows[0].n.value) : null;
  }

  function figures(whole, graphs, inferred) {
    const facts = [['Triples', whole.triples], ...(inferred === null ? [] : [['Of them inferred', inferred]]), ['Subjects', whole.distinctSubjects], ['Objects', whole.distinctObjects], ['Classes', whole.classes], ['Predicates', whole.properties], ['Named graphs', graphs]];
    return el('dl.figures-row', {}, facts.map(([name, number]) => el('div.figure', {}, el('dt', {}, name), el('dd', {}, grouped(number)))));
  }

  function graphTable(graphs) {
    const row = graph => el('tr', {},
      el('td', {}, graph.name === null ? 'Default graph' : graph.name.includes(':') ? browseLink(graph.name) : graph.name),
      el('td.number', {}, grouped(graph.triples)), el('td.number', {}, grouped(graph.classes)), el('td.number', {}, grouped(graph.properties)),
      el('td', {}, el('button.small', { 'aria-label': 'Query ' + (graph.name ?? 'the default graph'), onclick: () => openQuery(graph.name === null ? 'SELECT * { ?s ?p ?o }\nLIMIT 100' : `SELECT * { GRAPH ${inQuery(graph.name)} { ?s ?p ?o } }\nLIMIT 100`) }, 'Query')));
    return el('div', {}, el('table.list', {}, head(['Graph', 'Triples', 'Classes', 'Predicates', ''], 1, 3), el('tbody', {}, graphs.slice(0, 500).map(row))),
      graphs.length > 500 ? el('p.muted', {}, `500 of ${grouped(graphs.length)}.`) : null);
  }

  function head(names, from, to) {
    return el('thead', {}, el('tr', {}, names.map((name, at) => el('th' + (at >= from && at <= to ? '.number' : ''), { scope: 'col' }, name || el('span.hidden', {}, 'Action')))));
  }

  async function counts(place, kind, pattern, query) {
    place.replaceChildren(el('p.muted', {}, 'Counting…'));
    try {
      const rows = (await rowsOf(`SELECT ?x (COUNT(*) AS ?n) { ${pattern} } GROUP BY ?x ORDER BY DESC(?n) LIMIT ${LIST_MAX}`, { timeout: 30 })).filter(row => row.x);
      const labels = await labelsOf(rows.filter(row => row.x.type === 'uri').map(row => row.x.value));
      const most = Number(rows[0]?.n.value || 1);
      const meter = number => {
        const bar = el('span.meter', { 'aria-hidden': 'true' });
        bar.style.width = 100 * number / most + '%';
        return bar;
      };
      place.replaceChildren(rows.length ? el('table.list', {}, head([kind === 'class' ? 'Class' : 'Predicate', kind === 'class' ? 'Instances' : 'Triples', ''], 1, 1),
        el('tbody', {}, rows.map(row => el('tr', {},
          el('td', {}, termOf(row.x), labels.get(row.x.value) ? el('span.muted', {}, ' ' + labels.get(row.x.value)) : null, meter(Number(row.n.value))),
          el('td.number', {}, grouped(Number(row.n.value))),
          el('td', {}, row.x.type === 'uri' ? el('button.small', { 'aria-label': 'Query ' + shortened(row.x.value), onclick: () => openQuery(query(row.x.value)) }, 'Query') : null))))) : el('p.muted', {}, 'None.'),
      rows.length === LIST_MAX ? el('p.muted', {}, `The ${LIST_MAX} most frequent.`) : '');
    } catch (error) {
      place.replaceChildren(el('p.muted', {}, withoutNumber(error.message)));
    }
  }

  /** Where there are rules, some may say of something that it must not be. */
  function contradictions() {
    const look = async () => (await import('./why.js')).openWhy(null, { graph: 'default' });
    return el('section.card.below', { 'aria-label': 'Contradictions' }, el('div.bar', {}, el('h2', {}, 'What rules call contradictory'), el('button', { id: 'contradictions', onclick: look }, 'Look')));
  }

  /** The picture counts all triples between instances of classes: only for who asks for it. */
  function schema() {
    const place = el('div');
    const button = el('button', { id: 'draw-schema', onclick: draw }, 'Draw');
    async function draw() {
      button.disabled = true;
      place.replaceChildren(el('p.muted', { role: 'status' }, 'Counting how classes hang together…'));
      try {
        const graph = '?s ?p ?o . ?s a ?c . ?o a ?d';
        const rows = (await rowsOf(`SELECT ?c ?p ?d (COUNT(*) AS ?n) { ${anywhere(graph)} FILTER(?p != <http://www.w3.org/1999/02/22-rdf-syntax-ns#type>) } GROUP BY ?c ?p ?d ORDER BY DESC(?n) LIMIT ${EDGES_MAX}`, { timeout: 30 })).filter(row => row.c);
        const { schemaView } = await import('./graph.js');
        place.replaceChildren(rows.length ? schemaView(rows) : el('p.muted', {}, 'No instance of a class points to another.'));
      } catch (error) {
        place.replaceChildren(el('p.muted', { role: 'status' }, withoutNumber(error.message)));
      }
      button.disabled = false;
    }
    return el('section.card', { 'aria-label': 'Schema' }, el('div.bar', {}, el('h2', {}, 'How classes hang together'), button), el('p'), place);
  }
  return { shown: load };
}

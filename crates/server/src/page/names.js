// Labels of resources, asked for many at once.

import { rowsOf } from './api.js';
import { inQuery } from './prefixes.js';
import { session } from './api.js';

const LABELS = ['http://www.w3.org/2000/01/rdf-schema#label', 'http://www.w3.org/2004/02/skos/core#prefLabel', 'http://xmlns.com/foaf/0.1/name',
  'http://purl.org/dc/terms/title', 'http://purl.org/dc/elements/1.1/title', 'http://schema.org/name', 'https://schema.org/name'];
const known = new Map();
const KNOWN_MAX = 5000;

/** A pattern over all graphs. Where the default graph is their union, it is that. */
export function anywhere(pattern) {
  return session.union ? `{ ${pattern} }` : `{ { ${pattern} } UNION { GRAPH ?g { ${pattern} } } }`;
}

/** How well a label fits who reads. */
function rank(term) {
  const language = (term['xml:lang'] || '').toLowerCase();
  const wanted = navigator.languages.findIndex(one => language && one.toLowerCase().startsWith(language.split('-')[0]));
  return wanted >= 0 ? wanted : !language ? 50 : language.startsWith('en') ? 60 : 70;
}

/** A map of IRIs to labels; those without one are not in it. */
export async function labelsOf(iris, options = {}) {
  const asked = [...new Set(iris)].filter(iri => !known.has(iri)).slice(0, 200);
  if (known.size > KNOWN_MAX) known.clear();
  if (asked.length) {
    const query = `SELECT ?x ?l ?p { VALUES ?x { ${asked.map(inQuery).join(' ')} } VALUES ?p { ${LABELS.map(inQuery).join(' ')} } ${anywhere('?x ?p ?l')} } LIMIT 3000`;
    try {
      const best = new Map();
      for (const row of await rowsOf(query, { timeout: 5, ...options })) {
        if (row.l.type !== 'literal') continue;
        const rated = [LABELS.indexOf(row.p.value) * 100 + rank(row.l), row.l.value];
        if (!best.has(row.x.value) || rated[0] < best.get(row.x.value)[0]) best.set(row.x.value, rated);
      }
      for (const iri of asked) known.set(iri, best.get(iri)?.[1].slice(0, 200) ?? null);
    } catch (error) {
      if (error.name === 'AbortError') throw error;
    }
  }
  return new Map(iris.filter(iri => known.get(iri)).map(iri => [iri, known.get(iri)]));
}

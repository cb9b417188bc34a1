// Prefixes: those of the query, those of the server, and the usual ones.

import { send, session } from './api.js';

const W3 = 'http://www.w3.org/';
const known = new Map(Object.entries({
  rdf: W3 + '1999/02/22-rdf-syntax-ns#',
  rdfs: W3 + '2000/01/rdf-schema#',
  owl: W3 + '2002/07/owl#',
  xsd: W3 + '2001/XMLSchema#',
  skos: W3 + '2004/02/skos/core#',
  foaf: 'http://xmlns.com/foaf/0.1/',
  dc: 'http://purl.org/dc/elements/1.1/',
  dct: 'http://purl.org/dc/terms/',
  dcterms: 'http://purl.org/dc/terms/',
  dcat: W3 + 'ns/dcat#',
  void: 'http://rdfs.org/ns/void#',
  sd: W3 + 'ns/sparql-service-description#',
  prov: W3 + 'ns/prov#',
  geo: 'http://www.opengis.net/ont/geosparql#',
  geof: 'http://www.opengis.net/def/function/geosparql/',
  wgs: W3 + '2003/01/geo/wgs84_pos#',
  sf: 'http://www.opengis.net/ont/sf#',
  time: W3 + '2006/time#',
  org: W3 + 'ns/org#',
  vcard: W3 + '2006/vcard/ns#',
  schema: 'http://schema.org/',
  rev: 'http://purl.org/stuff/rev#',
  sh: W3 + 'ns/shacl#',
  sosa: W3 + 'ns/sosa/',
  qb: 'http://purl.org/linked-data/cube#',
  wd: 'http://www.wikidata.org/entity/',
  wdt: 'http://www.wikidata.org/prop/direct/',
  p: 'http://www.wikidata.org/prop/',
  ps: 'http://www.wikidata.org/prop/statement/',
  pq: 'http://www.wikidata.org/prop/qualifier/',
  wikibase: 'http://wikiba.se/ontology#',
  bd: 'http://www.bigdata.com/rdf#',
  dbo: 'http://dbpedia.org/ontology/',
  dbr: 'http://dbpedia.org/resource/',
  dbp: 'http://dbpedia.org/property/',
  yago: 'http://dbpedia.org/class/yago/',
  bibo: 'http://purl.org/ontology/bibo/',
  doap: 'http://usefulinc.com/ns/doap#',
  sioc: 'http://rdfs.org/sioc/ns#',
  cc: 'http://creativecommons.org/ns#',
  bsbm: 'http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/',
  'bsbm-inst': 'http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/instances/',
  ub: 'http://swat.cse.lehigh.edu/onto/univ-bench.owl#',
}));

let own = new Map();

/** Those that the server knows of, where it tells. */
export async function loadPrefixes() {
  if (!session.assist) return;
  try {
    const response = await send('api/prefixes', { allowed: [404, 401, 403, 405] });
    if (!response.ok) return;
    for (const { name, iri } of (await response.json()).prefixes) known.set(name, iri);
  } catch {
    // The usual ones do.
  }
}

/** The prefixes that a text declares. */
export function declaredIn(text) {
  return new Map([...text.matchAll(/\bprefix\s+([^\s:<]*):\s*<([^<>"{}|^`\\\s]*)>/gi)].map(found => [found[1], found[2]]));
}

/** IRIs are shortened by the prefixes of this text first. */
export function readPrefixes(text) {
  own = declaredIn(text);
}

export const usual = name => known.get(name);
export const allUsual = () => known;

/** A local name that is written as it is. */
const LOCAL = /^[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_-])?$/u;

/** `[prefix, local name]`, or none. */
function split(iri) {
  let best;
  for (const all of [own, known]) {
    for (const [name, start] of all) {
      if (start && iri.length > start.length && iri.startsWith(start) && (!best || start.length > best[2]) && LOCAL.test(iri.slice(start.length))) {
        best = [name, iri.slice(start.length), start.length];
      }
    }
    if (best) return best;
  }
  return best;
}

/** `foaf:name`, or the IRI. */
export function shortened(iri) {
  const parts = split(iri);
  return parts ? parts[0] + ':' + parts[1] : iri;
}

/** For places without room: the prefixed name, or the end of the IRI. */
export function named(iri) {
  const short = shortened(iri);
  if (short !== iri) return short;
  const end = iri.replace(/[/#]$/, '').match(/(?:[^/#]+[/#])?[^/#]*$/)[0];
  return end && end.length + 12 < iri.length ? '…/' + end : iri;
}

/** An IRI as a query has it. What SPARQL does not take there is percent-encoded, so that no IRI of the data ends it. */
export function inQuery(iri) {
  return '<' + iri.replace(/[<>"{}|^`\\\u0000-\u0020]/g, one => '%' + one.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()) + '>';
}

/** The text with a prefix declared, behind those that there are. */
export function withPrefix(text, name, iri) {
  const line = `PREFIX ${name}: <${iri}>\n`;
  const found = [...text.matchAll(/^[ \t]*(?:prefix|base)\b[^\n]*\n?/gim)].pop();
  if (!found) return { at: 0, line };
  const at = found.index + found[0].length;
  return { at, line: text[at - 1] === '\n' ? line : '\n' + line.trimEnd() };
}

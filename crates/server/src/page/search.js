// What a search for words finds: things, each with the part of a text of it that has the words.

import { Failure, rowsOf, session } from './api.js';
import { el } from './dom.js';
import { labelsOf } from './names.js';
import { named } from './prefixes.js';
import { browseLink, termOf, turtleOf } from './terms.js';

const FOUND_MAX = 50;
/** What marks begin and end with: characters for private use, which no text should have. */
const [START, END] = ['\uE000', '\uE001'];

/** Whether somebody has typed words, and not the name of something. */
export const isWords = text => !/^<.*>$/.test(text) && !/^[\w-]*:\S*$/.test(text);

/** What errors of a query begin with that are of the words in it. */
const OF_WORDS = 'in the query for words: ';

const literalOf = words => turtleOf({ type: 'literal', value: words });

function queryFor(words) {
  const asked = `${literalOf(words)} ${FOUND_MAX} "highlight:s:${START}|e:${END}"`;
  const found = graph => `(?thing ?score ?text ${graph} ?property) <urn:lodestore:text:query> (${asked})`;
  const pattern = session.union ? found('_:a') : `{ ${found('_:a')} } UNION { GRAPH ?g { ${found('_:b')} } }`;
  return `SELECT ?thing ?property ?text ?g { ${pattern} } ORDER BY DESC(?score) ?thing ?property LIMIT ${FOUND_MAX}`;
}

/** What is wrong with words, at its place in these: nobody has seen the query that they stand in. */
function ofWords(error, words, query) {
  const mark = error.marks?.find(one => one.message.startsWith(OF_WORDS));
  if (!mark) return error;
  const literal = literalOf(words), at = mark.from - query.indexOf(literal) - 1;
  const isPlaced = literal.slice(1, -1) === words && at >= 0 && at <= words.length;
  const place = isPlaced ? `In the query for words, character ${[...words.slice(0, at)].length + 1}: ` : 'In the query for words: ';
  const message = place + mark.message.slice(OF_WORDS.length) + (mark.help ? `; ${mark.help}` : '');
  return new Failure(message, { status: error.status });
}

/** A text with its marks; what is wrong of them is left out. */
function marked(text) {
  return text.split(START).flatMap((part, at) => {
    const [inside, after] = at ? part.split(END) : ['', part];
    return [inside ? el('mark', {}, inside) : null, after ?? ''];
  });
}

/** The things that have words in their texts, the best first. */
export async function found(words, signal) {
  const query = queryFor(words);
  const rows = await rowsOf(query, { signal }).catch(error => {
    throw ofWords(error, words, query);
  });
  const iris = rows.flatMap(row => [row.thing, row.property]).filter(term => term?.type === 'uri').map(term => term.value);
  const labels = await labelsOf(iris, { signal });
  const items = rows.map(({ thing, property, text, g }) => el('li', {},
    thing.type === 'uri' ? browseLink(thing.value, labels.get(thing.value) || named(thing.value)) : termOf(thing),
    el('span.muted', {}, ' ' + (labels.get(property?.value) || (property ? named(property.value) : ''))),
    g ? el('small.note', { title: 'in the graph ' + g.value }, ' in ', named(g.value)) : null,
    el('div.found-text', { lang: text['xml:lang'] || null, dir: 'auto' }, marked(text.value))));
  const told = !rows.length ? 'No text has these words.' : rows.length < FOUND_MAX ? '' : `The ${FOUND_MAX} best.`;
  return el('section.card.head', { 'aria-label': 'Found' }, el('h1', {}, words), told ? el('p.muted', {}, told) : null,
    items.length ? el('ol.found', {}, items) : null);
}

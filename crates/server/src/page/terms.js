// Terms as a person reads them, and what can be done with one.

import { base } from './api.js';
import { copy, el, icon, isWeb } from './dom.js';
import { named, shortened } from './prefixes.js';

const XSD = 'http://www.w3.org/2001/XMLSchema#';
const NUMBERS = /^http:\/\/www\.w3\.org\/2001\/XMLSchema#(integer|decimal|double|float|int|long|short|byte|(unsigned|nonNegative|nonPositive|positive|negative)\w+)$/;
const TIMES = /^http:\/\/www\.w3\.org\/2001\/XMLSchema#(date|dateTime|dateTimeStamp|gYear|gYearMonth)$/;
const IMAGE = /\.(png|jpe?g|gif|svg|webp|avif)$/i;

export const isNumber = term => term?.type === 'literal' && NUMBERS.test(term.datatype || '');
export const isTime = term => term?.type === 'literal' && TIMES.test(term.datatype || '');
export const isImage = iri => isWeb(iri) && (IMAGE.test(new URL(iri).pathname) || /\/Special:FilePath\//.test(iri));

/** A term as one line. */
export function textOf(term) {
  if (!term) return '';
  if (term.type === 'uri') return shortened(term.value);
  if (term.type === 'bnode') return '_:' + term.value;
  if (term.type === 'triple') return '<<( ' + ['subject', 'predicate', 'object'].map(part => insideOf(term.value[part])).join(' ') + ' )>>';
  return term.value;
}

function insideOf(term) {
  if (term.type === 'literal') return JSON.stringify(term.value) + noteOf(term).replace(/^(?=[^@])/, '^^').replace(/^\^\^$/, '');
  const text = textOf(term);
  return term.type === 'uri' && text === term.value ? '<' + text + '>' : text;
}

/** A term as Turtle has it in full. */
export function turtleOf(term) {
  if (term.type === 'uri') return '<' + term.value + '>';
  if (term.type !== 'literal') return textOf(term);
  const quoted = JSON.stringify(term.value);
  return term['xml:lang'] ? quoted + '@' + term['xml:lang'] : term.datatype ? quoted + '^^<' + term.datatype + '>' : quoted;
}

/** Language or datatype of a literal. */
export function noteOf(term) {
  if (term['xml:lang']) return '@' + term['xml:lang'] + (term['its:dir'] ? '--' + term['its:dir'] : '');
  if (!term.datatype || term.datatype === XSD + 'string') return '';
  return shortened(term.datatype).replace(/^xsd:/, '');
}

/** An IRI as a line has it: of a long one without a prefix the end, which tells it from others. */
export const shownIri = iri => (iri.length > 56 ? named(iri) : shortened(iri));

export const resourceHref = iri => base + '?resource=' + encodeURIComponent(iri);

/** A link to the page of a resource. `main.js` follows it without loading the page anew. */
export function browseLink(iri, text = shownIri(iri)) {
  return el('a.resource', { href: resourceHref(iri), 'data-resource': iri, title: iri }, text);
}

/** A term, with a link where it has a page. */
export function termOf(term, { lengthMax = 400 } = {}) {
  if (!term) return document.createTextNode('');
  if (term.type === 'uri') return browseLink(term.value);
  const text = textOf(term);
  const shown = text.length > lengthMax ? text.slice(0, lengthMax) + '…' : text;
  if (term.type !== 'literal') return el('span.' + term.type, {}, shown);
  const note = isNumber(term) ? '' : noteOf(term);
  const lang = term['xml:lang']?.split('--')[0];
  return el('span.literal', {}, el('span', { lang, dir: term['xml:lang'] ? 'auto' : null }, shown), note ? el('small.note', {}, note) : null);
}

/** All of a term, in a window of its own. */
export function showTerm(term) {
  const dialog = el('dialog.term', { 'aria-label': 'Term', onclose: () => dialog.remove() });
  const kind = { uri: 'IRI', bnode: 'Blank node', literal: 'Literal', triple: 'Triple term' }[term.type] || term.type;
  const rows = [['Kind', kind]];
  if (term.type === 'uri' && shortened(term.value) !== term.value) rows.push(['Short', shortened(term.value)]);
  if (term['xml:lang']) rows.push(['Language', term['xml:lang']]);
  if (term.datatype) rows.push(['Datatype', term.datatype]);
  if (term.type === 'literal') rows.push(['Length', term.value.length.toLocaleString('en') + ' characters']);
  const value = term.type === 'triple' ? textOf(term) : term.value;
  dialog.append(
    el('div.term-value', { tabindex: '0' }, value.length > 1e5 ? value.slice(0, 1e5) + '…' : value),
    el('dl.facts', {}, rows.map(([name, text]) => [el('dt', {}, name), el('dd', {}, text)])),
    el('div.bar', {},
      el('button', { onclick: () => copy(value) }, icon('copy'), 'Copy'),
      el('button', { onclick: () => copy(turtleOf(term)) }, 'Copy as Turtle'),
      term.type === 'uri' ? el('a.button', { href: resourceHref(term.value), 'data-resource': term.value, onclick: () => dialog.close() }, 'Browse') : null,
      term.type === 'uri' && isWeb(term.value) ? el('a.button', { href: term.value, target: '_blank', rel: 'noopener noreferrer' }, icon('open'), 'Open') : null,
      el('button.primary.end', { onclick: () => dialog.close() }, 'Close')));
  document.body.append(dialog);
  dialog.addEventListener('click', event => event.target === dialog && dialog.close());
  dialog.showModal();
}

/** How two terms stand to each other, as ORDER BY has it: nothing, blank nodes, IRIs, literals; numbers by value. */
export function compare(a, b) {
  const rank = term => (!term ? 0 : { bnode: 1, uri: 2, literal: 3, triple: 4 }[term.type] || 5);
  if (!a || !b || a.type !== b.type) return rank(a) - rank(b);
  if (isNumber(a) && isNumber(b)) return Number(a.value) - Number(b.value);
  const [x, y] = [textOf(a), textOf(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

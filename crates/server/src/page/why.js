// Why a triple holds: its proofs as trees, the shortest first; and what of the data is contradictory.

import { isLoggedIn, send, withoutNumber } from './api.js';
import { count, el } from './dom.js';
import { named } from './prefixes.js';
import { triplesOf } from './rdf.js';
import { termOf, turtleOf } from './terms.js';

/** How many proofs are asked for at first, and when somebody wants others; of contradictions each proof is one. */
const [FIRST, MORE, CONTRADICTIONS] = [1, 10, 25];
/** What a triple follows from is in sight so deep. */
const OPEN_DEPTH = 6;

/** Whether this can be asked of a triple, which has no triples inside. */
export const canExplain = triple => [triple.subject, triple.predicate, triple.object].every(term => term && term.type !== 'triple') && triple.predicate.type === 'uri' && triple.subject.type !== 'literal';

/** Opens a window with the proofs of a triple in a graph (`default`, `union` or a name); of none, with what is contradictory. */
export function openWhy(triple, { graph = 'default', reason = null } = {}) {
  const title = triple ? 'Why?' : 'Contradictions';
  const status = el('p.muted', { role: 'status' });
  const place = el('div');
  const others = el('button', { hidden: true, onclick: () => load(MORE) }, 'Other proofs');
  const asked = new AbortController();
  const dialog = el('dialog.why', { 'aria-labelledby': 'why-title', onclose: () => { asked.abort(); dialog.remove(); } },
    el('h2', { id: 'why-title' }, title), triple ? el('p.step', {}, termsOf(triple)) : null, status, place,
    el('div.bar', {}, others, el('button.primary.end', { onclick: () => dialog.close() }, 'Close')));
  dialog.addEventListener('click', event => (event.target === dialog || event.target.closest('a[data-resource]')) && dialog.close());
  document.body.append(dialog);
  dialog.showModal();

  async function load(proofs) {
    status.textContent = 'Looking…';
    others.hidden = true;
    try {
      let explanation = await ask(triple, graph, reason, proofs, asked.signal);
      // A row does not tell of which graph it is.
      if (triple && !explanation.holds && graph === 'default') {
        const anywhere = await ask(triple, 'union', reason, proofs, asked.signal);
        if (anywhere.holds) explanation = anywhere;
      }
      status.replaceChildren(...noteOf(explanation).flatMap((line, at) => (at ? [el('br'), line] : [line])));
      place.replaceChildren(...drawn(explanation));
      others.hidden = !triple || proofs !== FIRST || !explanation.proofs.some(proof => proof.steps[0].rule);
    } catch (error) {
      if (error.name === 'AbortError') return;
      status.textContent = withoutNumber(error.message) + (error.status === 401 && !isLoggedIn() ? ' Log in first.' : '');
    }
  }
  load(triple ? FIRST : CONTRADICTIONS);
}

async function ask(triple, graph, reason, proofs, signal) {
  const text = triple ? [triple.subject, triple.predicate, triple.object].map(turtleOf).join(' ') : 'false';
  const parameters = new URLSearchParams({ triple: text, graph, proofs, format: 'json', ...(reason === null ? {} : { reason }) });
  return (await send('why?' + parameters, { accept: 'application/json', signal })).json();
}

/** What is to be known besides the proofs. */
function noteOf(explanation) {
  const { triple, holds, asserted, proofs, rules } = explanation;
  const lines = [];
  if (!triple && !rules.length) lines.push('There are no rules that could say of something that it is contradictory.');
  else if (!triple) lines.push(holds ? count(proofs.length, 'contradiction') + (explanation.is_complete ? '.' : ', and there may be more.') : 'Nothing is contradictory' + (explanation.is_complete ? '.' : ', as far as was looked.'));
  else if (!holds) lines.push('This does not hold here' + (explanation.is_complete ? '.' : ', as far as was looked.'));
  else if (asserted.length) lines.push('It is stated' + placeOf(asserted) + '.');
  else if (!proofs.length) lines.push('It holds, and no proof was found' + (explanation.is_complete ? '.' : ' as far as was looked.'));
  else lines.push(proofs.length === 1 ? 'It follows:' : `It follows in ${proofs.length} ways, the shortest first:`);
  for (const term of explanation.unknown) lines.push(term + ' is nowhere in the data.');
  if (explanation.is_stale) lines.push('The data have changed since rules were applied: some of it may be old.');
  return lines;
}

const placeOf = graphs => {
  const names = graphs.filter(graph => graph !== 'default').map(graph => named(graph.replace(/^<|>$/g, '')));
  return names.length ? ' in ' + (graphs.length > names.length ? 'the default graph, ' : '') + names.join(', ') : '';
};

const ruleOf = rule => [el('b', {}, rule.name), ` of ${rule.source}`];

function drawn({ holds, proofs, nearest }) {
  const trees = proofs.filter(proof => proof.steps[0].rule).map((proof, at) => el('ul.proof', { 'aria-label': `Proof ${at + 1}` }, new Tree(proof.steps).item(0, 0)));
  if (holds || !nearest.length) return trees;
  return [el('p', {}, 'It would follow, if there was:'), el('ul.proof', {}, nearest.map(({ rule, missing }) => el('li', {}, el('div.step', {}, written(missing)), el('div.muted', {}, 'by ', ruleOf(rule)))))];
}

/** A triple as Turtle has it, or with variables. */
function written(parts) {
  const triple = parseTriple(parts);
  return triple ? termsOf(triple) : parts.join(' ');
}

function parseTriple(parts) {
  const [triple] = parts.some(part => part.startsWith('?')) ? [] : triplesOf(parts.join(' ') + ' .');
  return triple;
}

const termsOf = ({ subject, predicate, object }) => [subject, predicate, object].flatMap((term, at) => [at ? ' ' : '', termOf(term)]);

/** A proof. A step that others need as well is drawn once. */
class Tree {
  constructor(steps) {
    this.steps = steps;
    this.drawn = new Set();
  }

  item(at, depth) {
    const step = this.steps[at];
    const what = step.triple ? written([step.triple.subject, step.triple.predicate, step.triple.object]) : el('strong.bad', {}, 'Contradiction');
    if (!step.rule) return el('li', {}, el('div.step', {}, what, el('small.note', {}, 'stated' + placeOf(step.asserted))));
    if (this.drawn.has(at)) return el('li', {}, el('div.step', {}, what, el('small.note', {}, 'as above')));
    this.drawn.add(at);
    const below = el('ul', { hidden: depth >= OPEN_DEPTH },
      step.conditions.map(condition => el('li', {}, el('div.step.muted', {}, condition))),
      step.premises.map(premise => this.item(premise, depth + 1)));
    const toggle = el('button.link', { 'aria-expanded': String(!below.hidden), onclick: () => {
      below.hidden = !below.hidden;
      toggle.setAttribute('aria-expanded', String(!below.hidden));
    } }, 'by ', ruleOf(step.rule));
    return el('li', {}, el('div.step', {}, what), below.children.length ? [toggle, below] : el('div.muted', {}, 'by ', ruleOf(step.rule)));
  }
}

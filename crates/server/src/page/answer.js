// Answers as they come in: the first rows at once, and no more than fit into the page.

import { Triples } from './rdf.js';

export const ROWS_MAX = 10_000;
const BYTES_MAX = 96e6;

/** Cuts the solutions out of SPARQL JSON while it comes, without waiting for its end. */
export class Solutions {
  constructor() {
    this.text = '';
    this.vars = null;
    this.rows = [];
    this.boolean = null;
    this.at = 0;
    this.depth = 0;
    this.start = -1;
    this.inString = false;
    this.inRows = false;
    this.ended = false;
  }

  /** Takes a part; true once there are enough rows. */
  take(part) {
    this.text += part;
    if (!this.inRows && !this.begin()) return false;
    this.cut();
    return this.rows.length >= ROWS_MAX && !this.ended;
  }

  begin() {
    const head = this.text.match(/^\s*\{\s*"head"\s*:\s*(\{[^]*?\})\s*,\s*"(results|boolean)"\s*:/);
    if (!head) return false;
    if (head[2] === 'boolean') return false;
    const rows = this.text.indexOf('[', head[0].length);
    if (rows < 0) return false;
    this.vars = JSON.parse(head[1]).vars || [];
    this.at = rows + 1;
    this.inRows = true;
    return true;
  }

  cut() {
    const { text } = this;
    let { at, depth, start, inString } = this;
    for (; at < text.length && !this.ended && this.rows.length < ROWS_MAX; at++) {
      const code = text.charCodeAt(at);
      if (inString) {
        if (code === 92) at++;
        else if (code === 34) inString = false;
      } else if (code === 34) inString = true;
      else if (code === 123) {
        if (depth++ === 0) start = at;
      } else if (code === 125) {
        if (--depth === 0) this.rows.push(JSON.parse(text.slice(start, at + 1)));
      } else if (code === 93 && depth === 0) this.ended = true;
    }
    // A backslash may be the last that has come.
    if (at > text.length) {
      at = text.length - 1;
    }
    const keep = depth > 0 ? start : at;
    this.text = text.slice(keep);
    Object.assign(this, { at: at - keep, depth, start: start - keep, inString });
  }

  end() {
    if (this.inRows) {
      if (!this.ended && this.rows.length < ROWS_MAX) throw new Error('The answer broke off: the time limit, a cancelled query, or a server that has gone.');
      return;
    }
    const whole = JSON.parse(this.text);
    if ('boolean' in whole) this.boolean = whole.boolean;
    this.vars = whole.head?.vars || [];
    this.rows = whole.results?.bindings || [];
  }
}

/** Reads an answer; `progress` is called while rows come. What it gives: `{ kind, vars, rows, triples, text, boolean, more, bytes }`. */
export async function readAnswer(response, progress) {
  const type = response.headers.get('Content-Type') || '';
  const isRows = type.startsWith('application/sparql-results+json');
  const isTriples = type.startsWith('application/n-triples') || type.startsWith('application/n-quads');
  const parts = isRows ? new Solutions() : isTriples ? new Triples(ROWS_MAX) : null;
  const answer = { kind: isRows ? 'rows' : isTriples ? 'triples' : 'text', vars: [], rows: [], triples: [], boolean: null, more: false, bytes: 0, text: '' };
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let kept = 0;
  for (;;) {
    let part;
    try {
      part = await reader.read();
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      throw new Error('The answer broke off: the time limit, a cancelled query, or a server that has gone.');
    }
    const { done, value } = part;
    const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
    answer.bytes += value?.length || 0;
    if (!parts || isTriples) kept += text.length;
    if (!parts || isTriples && kept <= 4e6) answer.text += text;
    const enough = parts ? parts.take(text) : answer.text.length > 8e6;
    if (done || enough || answer.bytes > BYTES_MAX) {
      answer.more = !done;
      if (!done) reader.cancel().catch(() => {});
      break;
    }
    if (parts) {
      fill(answer, parts);
      if (answer.rows.length || answer.triples.length) progress(answer);
    }
  }
  if (parts && !answer.more) parts.end();
  if (parts) fill(answer, parts);
  return answer;
}

function fill(answer, parts) {
  answer.boolean = parts.boolean ?? null;
  if (answer.kind === 'rows') {
    answer.vars = parts.vars || [];
    answer.rows = parts.rows;
    return;
  }
  answer.triples = parts.triples;
  answer.vars = ['subject', 'predicate', 'object'];
  answer.rows = parts.triples;
}

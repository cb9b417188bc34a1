// Requests to the server: who sends them, and what its errors say.

import { forTab } from './store.js';

/** `/`, or `/NAME/` of one of several databases. */
export const base = new URL('.', location.href).pathname;
export const database = decodeURIComponent(base.split('/')[1] || '');

/** What the server tells of itself, and of who asks. */
export const session = { name: null, role: null, users: false, writable: true, union: false, reason: 'none', inferred: false, assist: false, administers: false };

/** An answer that is an error, or none. */
export class Failure extends Error {
  constructor(message, { status = 0, marks = [] } = {}) {
    super(message);
    this.status = status;
    this.marks = marks;
  }
}

/** The header of a log-in by this page; without one the browser sends what it knows. */
export function authorization() {
  return forTab.read('login');
}

export function isLoggedIn() {
  return authorization() !== null;
}

/** Sends a request; an answer that is an error becomes a `Failure`. */
export async function send(path, { method = 'GET', body, accept, type, signal, allowed = [] } = {}) {
  const headers = { Accept: accept ? accept + ', application/problem+json;q=0.9' : '*/*' };
  if (type) headers['Content-Type'] = type;
  const login = authorization();
  if (login) headers.Authorization = login;
  // Without its own log-in the page asks as the browser does, which never opens a dialog unless the page itself had one.
  const credentials = login || session.users && !session.byBrowser ? 'omit' : 'same-origin';
  let response;
  try {
    response = await fetch(base + path, { method, body, headers, signal, credentials, cache: 'no-store' });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Failure('The server does not answer: it has gone, or the connection broke off.');
  }
  if (response.ok || allowed.includes(response.status)) return response;
  throw await failureOf(response, typeof body === 'string' ? body : '');
}

export async function failureOf(response, text) {
  const said = await response.text();
  const status = response.status;
  if ((response.headers.get('Content-Type') || '').includes('json')) {
    try {
      const problem = JSON.parse(said);
      const marks = (problem.errors || []).map(markOf);
      const message = problem.detail || marks.map(mark => mark.message).join('\n') || problem.error || problem.title || said;
      return new Failure(message, { status, marks });
    } catch {
      // It is told as it is.
    }
  }
  return new Failure(said.trim() || 'Status ' + status, { status, marks: marksOf(said, text) });
}

export function markOf(found) {
  // What is of the text as a whole is in line 0.
  const isPlaced = found.line !== 0;
  const to = isPlaced ? Math.max(found.to, found.from + 1) : found.from;
  return { from: found.from, to, isPlaced, message: found.message, help: found.help || '', code: found.code, kind: 'error' };
}

/** Where a message says what is wrong: `line 1, column 22: ...`, the line, and carets below it. */
export function marksOf(message, text) {
  const lines = text.split('\n');
  const marks = [];
  for (const part of message.split(/^(?=.*\bline \d+, column \d+: )/m)) {
    const found = part.match(/\bline (\d+), column (\d+): (.*)/);
    if (!found) continue;
    const [line, column] = [Number(found[1]) - 1, Number(found[2]) - 1];
    if (line >= lines.length) continue;
    const before = lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0);
    // Columns count characters, positions here halves of UTF-16.
    const from = before + [...lines[line]].slice(0, column).join('').length;
    const width = part.match(/^\s*(\^+)\s*$/m)?.[1].length || 1;
    const help = part.match(/^help: (.*?)(?: \[request \w+\])?$/m)?.[1] || '';
    marks.push({ from, to: Math.min(text.length, from + width), isPlaced: true, message: found[3], help, kind: 'error' });
  }
  return marks;
}

/** A message without the number of its request. */
export function withoutNumber(message) {
  return message.replace(/\s*\[request \w+\]\s*$/, '');
}

/** The address of a query with parameters; `reason` are the rules that it reasons by, or none where the server says. */
export function queryPath(parameters, reason) {
  const all = new URLSearchParams(parameters);
  if (reason !== null) all.set('reason', reason);
  return all.size ? 'query?' + all : 'query';
}

const SOLUTIONS = 'application/sparql-results+json';

/** The rows of a query of the page's own, which has so many seconds. `stated`: only what is in the data without rules. */
export async function rowsOf(query, { signal, timeout = 20, reason = null, stated = false } = {}) {
  const path = queryPath({ timeout, ...(stated ? { infer: 'false' } : {}) }, stated ? 'none' : reason);
  const response = await send(path, { method: 'POST', type: 'application/sparql-query', accept: SOLUTIONS, body: query, signal });
  const answer = await response.json();
  return 'boolean' in answer ? answer.boolean : answer.results.bindings;
}

/** Asks who one is. */
export async function look() {
  Object.assign(session, { name: null, role: null });
  const response = await send('page/session.json', { allowed: [401, 403, 404] });
  if (!response.ok) return false;
  Object.assign(session, await response.json());
  session.byBrowser = session.name !== null && !isLoggedIn();
  return true;
}

/** Logs in, or out with `null`; false where the server does not know this. */
export async function logIn(header) {
  const before = authorization();
  if (header === null) forTab.drop('login');
  else forTab.keep('login', header);
  const done = await look();
  if (!done && before !== null) forTab.keep('login', before);
  else if (!done) forTab.drop('login');
  if (!done) await look();
  return done;
}

/** The strings of a list as `Lode-Warning` has it (RFC 9651); what they cannot hold is percent-encoded. */
export function warningsOf(response) {
  const texts = [...(response.headers.get('Lode-Warning') || '').matchAll(/"((?:[^"\\]|\\.)*)"/g)];
  return texts.map(([, found]) => {
    const text = found.replace(/\\(.)/g, '$1');
    try {
      return decodeURI(text);
    } catch {
      return text;
    }
  });
}

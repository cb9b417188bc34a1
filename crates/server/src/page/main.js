// The page: its views, and what is around them.

import { authorization, base, database, look, session } from './api.js';
import { $, el, tell } from './dom.js';
import { loadPrefixes } from './prefixes.js';
import { QueryView } from './query.js';
import { drawLogin, openLogin } from './login.js';
import { openHelp, startTheme } from './around.js';

const VIEWS = ['query', 'browse', 'data', 'upload', 'running'];
const loaded = {};
let query;
/** Settles when it is known who asks, and what the server lets this one do. */
let known;

async function open(name, isNew = true) {
  if (!VIEWS.includes(name)) name = 'query';
  for (const view of VIEWS) {
    $(`view-${view}-panel`).hidden = view !== name;
    const link = $('go-' + view);
    if (view === name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = (name === 'query' ? '' : $('go-' + name).textContent + ' · ') + (database || 'Lodestore') + (database ? ' · Lodestore' : '');
  if (name === 'query') return;
  // What a view shows depends on who asks: before that is known it would be drawn in vain, and anew under one's hands.
  await known;
  loaded[name] ??= import(`./${name}.js`).then(module => module.start($(`view-${name}-panel`), { openQuery, browse, search }));
  (await loaded[name]).shown?.(isNew);
}

/** Shows the page's address. */
async function route() {
  const address = new URL(location.href);
  const resource = address.searchParams.get('resource');
  if (resource !== null) {
    await open('browse', false);
    (await loaded.browse).resource(resource, address.searchParams.get('reason'));
    return;
  }
  const words = address.searchParams.get('search');
  if (words !== null) {
    await open('browse', false);
    (await loaded.browse).search(words);
    return;
  }
  const name = address.hash.match(/^#(\w+)$/)?.[1];
  await open(name || 'query');
}

function go(url) {
  history.pushState(null, '', url);
  return route();
}

/** Shows a resource by the rules that the view reasons by from which one comes. */
export async function browse(iri) {
  const view = $('view-browse-panel').hidden ? query : await loaded.browse;
  const rules = view.reason.value;
  return go(base + '?resource=' + encodeURIComponent(iri) + (rules === null ? '' : '&reason=' + encodeURIComponent(rules)));
}

/** Shows what has words in its texts. */
function search(words) {
  return go(base + '?search=' + encodeURIComponent(words));
}

export function openQuery(text, isRun = true) {
  go(base);
  query.open(text, isRun);
}

function listen() {
  document.addEventListener('click', event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const link = event.target.closest?.('a[data-resource], a[data-view]');
    if (!link) return;
    event.preventDefault();
    if (link.dataset.resource !== undefined) browse(link.dataset.resource);
    else go(link.dataset.view === 'query' ? base : base + '#' + link.dataset.view);
  });
  addEventListener('popstate', route);
  $('help').onclick = openHelp;
  $('login').onclick = () => openLogin(changed);
  addEventListener('keydown', event => event.key === 'F1' && (event.preventDefault(), openHelp()));
}

function drawSession() {
  drawLogin();
  $('go-upload').hidden = !session.writable;
  query.reason.draw();
  // What a view says may be another for this person.
  const current = VIEWS.find(view => !$(`view-${view}-panel`).hidden);
  loaded[current]?.then(view => view.shown?.(false));
}

/** Somebody has tried to log in, or out. */
function changed(isDone) {
  drawSession();
  if (!isDone) return;
  // What was refused to another person is no matter of this one.
  query.forget();
  loadPrefixes();
}

/** Of several databases, the others. */
async function drawDatabases() {
  if (!database) return;
  $('database').textContent = database;
  const login = authorization();
  const headers = { Accept: 'application/sparql-results+json', ...(login ? { Authorization: login } : {}) };
  const response = await fetch('/repositories', { headers, credentials: login ? 'omit' : 'same-origin' });
  if (!response.ok) return;
  const names = (await response.json()).results.bindings.map(row => row.id.value);
  if (names.length < 2) return;
  const select = el('select', { 'aria-label': 'Database', onchange: () => { location.href = '/' + encodeURIComponent(select.value) + '/'; } },
    names.map(name => el('option', { value: name }, name)));
  select.value = database;
  $('database').replaceChildren(select);
}

startTheme($('theme'));
query = new QueryView();
listen();
known = look().then(() => {
  drawSession();
  loadPrefixes();
  drawDatabases().catch(error => tell(error.message));
}).catch(error => tell(error.message));
route();

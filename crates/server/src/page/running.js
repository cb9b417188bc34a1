// What runs on the server, and an end to it.

import { send, withoutNumber } from './api.js';
import { bytes, el, grouped, seconds, tell } from './dom.js';

const EVERY = 1500;

export function start(panel, { openQuery }) {
  const place = el('div');
  const status = el('p.muted', { role: 'status' });
  panel.replaceChildren(el('div.page', {}, el('h1', {}, 'Running'), status, place));
  let timer;

  async function cancel(id, button) {
    button.disabled = true;
    try {
      await send('admin/queries/' + id, { method: 'DELETE', accept: 'application/json' });
      tell('Request ' + id + ' is being stopped');
    } catch (error) {
      tell(withoutNumber(error.message));
    }
    look();
  }

  function row(request) {
    const { id, run } = request;
    const button = el('button.small.stop', { 'data-id': String(id), 'aria-label': 'Cancel request ' + id, onclick: () => cancel(id, button) }, 'Cancel');
    return el('tr', {},
      el('td', {}, button), el('td.number', {}, String(id)), el('td', {}, request.kind), el('td', {}, request.state),
      el('td.number', {}, seconds(request.seconds)), el('td.number', {}, run ? grouped(run.rows) : ''), el('td.number', {}, run ? bytes(run.memory_bytes) : ''),
      el('td', {}, el('span.muted', {}, request.client)),
      el('td', {}, el('code.query-text', { tabindex: '0' }, request.text)),
      el('td', {}, request.kind === 'query' && request.text.length < 1000 ? el('button.small', { onclick: () => openQuery(request.text, false) }, 'Edit') : null));
  }

  const names = [['', ''], ['No.', 'number'], ['Kind', ''], ['State', ''], ['Time', 'number'], ['Rows', 'number'], ['Memory', 'number'], ['Client', ''], ['Text', ''], ['', '']];
  const columns = names.map(([name, kind]) => el('th' + (kind && '.' + kind), { scope: 'col' }, name || el('span.hidden', {}, 'Action')));

  async function look() {
    clearTimeout(timer);
    if (panel.hidden) return;
    try {
      const requests = await (await send('admin/queries', { accept: 'application/json' })).json();
      status.textContent = requests.length ? '' : 'Nothing runs.';
      status.hidden = requests.length > 0;
      // A button that has the focus keeps it.
      const focused = document.activeElement?.dataset?.id;
      place.replaceChildren(requests.length ? el('div.scroll', { tabindex: '0', role: 'region', 'aria-label': 'Requests' }, el('table.list', {}, el('thead', {}, el('tr', {}, columns)), el('tbody', {}, requests.map(row)))) : '');
      if (focused) place.querySelector(`[data-id="${Number(focused)}"]`)?.focus();
    } catch (error) {
      status.hidden = false;
      status.textContent = [401, 403].includes(error.status) ? 'Only the administration sees what runs: log in with its user or token. ' + withoutNumber(error.message) : withoutNumber(error.message);
      place.replaceChildren();
    }
    clearTimeout(timer);
    timer = setTimeout(look, EVERY);
  }
  return { shown: look };
}

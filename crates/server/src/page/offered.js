// What a word in a field for resources may mean: the browser's own list below it, of what the server finds by names and labels.

import { send, session } from './api.js';
import { calmly, el } from './dom.js';
import { isWords } from './search.js';

const SHOWN_MAX = 20;
const BEFORE = 'SELECT * { ';

/** The resources that a server finds by a word. */
async function found(word, signal) {
  if (!session.assist) return [];
  const text = `${BEFORE}${word} ?p ?o }`;
  const body = JSON.stringify({ text, position: BEFORE.length + word.length, limit: SHOWN_MAX });
  const response = await send('api/complete', { method: 'POST', type: 'application/json', accept: 'application/json', body, signal, allowed: [400, 404, 405] });
  const items = response.ok ? (await response.json()).items : [];
  return items.filter(item => item.iri && item.kind !== 'prefix');
}

/** Offers resources below a field; `chosen` is called where one is taken. */
export function offerTerms(input, chosen) {
  const list = el('datalist', { id: input.id + '-terms' });
  input.after(list);
  input.setAttribute('list', list.id);
  input.setAttribute('autocomplete', 'off');
  let asked;
  const ask = calmly(200, async () => {
    const text = input.value.trim();
    asked?.abort();
    asked = new AbortController();
    const isName = text.length > 1 && !/\s/.test(text) && (isWords(text) || /^[\w-]*:\w/.test(text));
    try {
      const items = isName ? await found(text, asked.signal) : [];
      if (input.value.trim() !== text) return;
      // A browser shows what has the typed letters in its value or its label.
      list.replaceChildren(...items.map(item => el('option', { value: item.iri, label: [item.detail, item.label].filter(Boolean).join(' · ') })));
    } catch (error) {
      if (error.name !== 'AbortError') list.replaceChildren();
    }
  });
  input.addEventListener('input', event => {
    const isTaken = event.inputType !== 'insertText' && [...list.children].some(option => option.value === input.value);
    if (isTaken) chosen(input.value);
    else ask();
  });
}

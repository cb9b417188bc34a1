// What is around the views: the colours, and the list of keys.

import { el, icon } from './dom.js';
import { keep, read } from './store.js';

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Light and dark: as the system has it, until a person chooses. */
export function startTheme(button) {
  const isDark = () => (document.documentElement.dataset.theme || (dark.matches ? 'dark' : 'light')) === 'dark';
  const show = () => {
    button.replaceChildren(icon(isDark() ? 'sun' : 'moon'));
    button.setAttribute('aria-label', isDark() ? 'Light colours' : 'Dark colours');
    button.title = button.getAttribute('aria-label');
  };
  const chosen = read('theme', null);
  if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen;
  dark.addEventListener('change', show);
  button.onclick = () => {
    document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
    keep('theme', document.documentElement.dataset.theme);
    show();
    dispatchEvent(new Event('themechange'));
  };
  show();
}

const KEYS = [
  ['Ctrl+Enter', 'Run'],
  ['Ctrl+Shift+Enter', 'Explain'],
  ['Escape', 'Stop, outside of the editor; close what is open'],
  ['Ctrl+Space', 'Complete'],
  ['Ctrl+I', 'What the name at the caret is'],
  ['Ctrl+Shift+F', 'Format'],
  ['Ctrl+/', 'Comment lines, or no longer'],
  ['Tab, Shift+Tab', 'Indent, or less; Escape before it moves the focus'],
  ['Ctrl+Z, Ctrl+Shift+Z', 'Undo, redo'],
  ['Ctrl+S', 'Keep the query'],
  ['Alt+N', 'New query'],
  ['Alt+PageUp, Alt+PageDown', 'Query before, query behind'],
  ['F1', 'This list'],
];

export function openHelp() {
  if (document.querySelector('dialog[open]')) return;
  const dialog = el('dialog', { 'aria-labelledby': 'help-title', onclose: () => dialog.remove() },
    el('h2', { id: 'help-title' }, 'Keys'),
    el('dl.keys', {}, KEYS.map(([key, what]) => [el('dt', {}, key.split(', ').map((one, at) => [at ? ' ' : '', el('kbd', {}, one)]).flat()), el('dd', {}, what)])),
    el('p.muted', {}, 'On a Mac, Cmd does what Ctrl does here, but for Space and I.'),
    el('div.bar', {}, el('button.primary.end', { onclick: () => dialog.close() }, 'Close')));
  document.body.append(dialog);
  dialog.showModal();
}

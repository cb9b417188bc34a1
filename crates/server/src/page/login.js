// Log-in: a name and a password, or a token, kept until this tab is closed.

import { isLoggedIn, logIn, session } from './api.js';
import { $, el, icon, tell } from './dom.js';

/** `name:password` as Basic has it, in UTF-8. */
function basic(name, password) {
  const bytes = new TextEncoder().encode(name + ':' + password);
  return 'Basic ' + btoa(String.fromCharCode(...bytes));
}

export function drawLogin() {
  const button = $('login');
  const who = session.name || (isLoggedIn() ? 'token' : '');
  const role = session.role ? { read: 'reads', update: 'updates', admin: 'administers' }[session.role] : 'no access';
  button.replaceChildren(icon('person'), el('span.who', {}, who || (session.users || session.token ? 'Log in' : '')), who || session.users ? el('span.role', {}, role) : '');
  button.setAttribute('aria-label', who ? `Logged in: ${who}, ${role}` : `Log in (now: ${role})`);
}

export function openLogin(changed) {
  const name = el('input', { id: 'login-name', autocomplete: 'username', required: true });
  const password = el('input', { id: 'login-password', type: 'password', autocomplete: 'current-password' });
  const token = el('input', { id: 'login-token', type: 'password', autocomplete: 'off', disabled: true, required: true });
  const error = el('p.message.error', { role: 'alert', hidden: true });
  const fields = { user: el('div.fields', {}, el('label.field.wide', {}, 'User', name), el('label.field.wide', {}, 'Password', password)), token: el('div.fields', { hidden: true }, el('label.field.wide', {}, 'Token', token)) };
  let kind = 'user';
  const choose = event => {
    kind = event.target.value;
    for (const [one, place] of Object.entries(fields)) place.hidden = one !== kind;
    token.disabled = kind !== 'token';
    name.disabled = password.disabled = kind !== 'user';
  };
  const radio = (value, text) => el('label.choice', {}, el('input', { type: 'radio', name: 'login-kind', value, checked: value === kind, onchange: choose }), text);
  const done = ok => {
    changed(ok);
    if (ok) dialog.close();
  };
  const dialog = el('dialog.login', { 'aria-labelledby': 'login-title', onclose: () => dialog.remove() },
    el('form', {
      onsubmit: async event => {
        event.preventDefault();
        const ok = await logIn(kind === 'user' ? basic(name.value, password.value) : 'Bearer ' + token.value).catch(failure => { error.textContent = failure.message; return null; });
        if (ok === false) error.textContent = kind === 'user' ? 'That is not the name and password of a user here.' : 'That is no token of this server.';
        error.hidden = ok === true;
        if (ok) tell('Logged in');
        done(ok);
      },
    },
    el('h2', { id: 'login-title' }, 'Log in'),
    el('div.bar', { role: 'radiogroup', 'aria-label': 'With' }, radio('user', 'User and password'), radio('token', 'Token')),
    fields.user, fields.token, error,
    el('p.muted', {}, 'Kept in this tab only, until it is closed.'),
    el('div.bar', {}, el('button.primary', {}, 'Log in'),
      isLoggedIn() ? el('button', { type: 'button', onclick: async () => { await logIn(null); tell('Logged out'); done(true); } }, 'Log out') : null,
      el('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'))));
  document.body.append(dialog);
  dialog.showModal();
  name.focus();
}

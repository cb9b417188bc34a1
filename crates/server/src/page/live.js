// What a running query has done so far, for those who may look: it asks once a second while the query runs.

import { send, session } from './api.js';
import { bytes, count, el, seconds } from './dom.js';

const EVERY = 1000;
/** Short queries are over before anybody would look. */
const FIRST = 800;

export class Live {
  constructor(place) {
    this.place = place;
  }

  start(text) {
    this.stop();
    if (!session.administers) return;
    this.text = text.slice(0, 1000);
    this.timer = setTimeout(() => this.look(), FIRST);
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
    this.place.hidden = true;
  }

  async look() {
    const { timer } = this;
    try {
      const response = await send('admin/queries', { accept: 'application/json' });
      const found = (await response.json()).filter(one => [...one.text].join('') === [...this.text].slice(0, 1000).join('')).pop();
      if (this.timer !== timer) return;
      if (found) await this.show(found, timer);
    } catch {
      return;
    }
    if (this.timer === timer) this.timer = setTimeout(() => this.look(), EVERY);
  }

  async show(found, timer) {
    const run = found.run;
    const parts = [found.state, seconds(found.seconds)];
    if (run) parts.push(count(run.rows, 'row') + ' so far', bytes(run.memory_bytes) + ' held', count(run.total.sequential_rows + run.total.lookups, 'row') + ' read or looked up');
    let plan = null;
    const response = run ? await send('admin/queries/' + found.id, { accept: 'application/json', allowed: [404, 405] }) : null;
    if (response?.ok) plan = await response.json();
    if (this.timer !== timer) return;
    const view = plan?.plan ? (await import('./plan.js')).planView(plan) : null;
    this.place.replaceChildren(el('p.muted', {}, parts.join(' · ')), view || '');
    this.place.hidden = false;
  }
}

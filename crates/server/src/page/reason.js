// Which rules a query reasons by: those that its tab says, else what the server does unasked.

import { session } from './api.js';
import { el } from './dom.js';

const RULES = [['none', 'No reasoning'], ['hierarchies', 'Reason: hierarchies'], ['rdfs', 'Reason: RDFS'], ['rdfs-plus', 'Reason: RDFS-Plus']];
/** Names of rules with commas between them: nothing else is taken from an address. */
const FIT = /^[a-z-]+(,[a-z-]+)*$/;

/** Whether something may follow that is not stated, for who asks with these rules. */
export const mayInfer = rules => session.inferred || (rules ?? session.reason) !== 'none';

export class Reason {
  constructor(select, onchange) {
    this.select = select;
    this.chosen = null;
    select.onchange = () => {
      this.chosen = select.value;
      onchange();
    };
    this.draw();
  }

  /** What is sent; none where nothing was chosen. */
  get value() {
    return this.chosen;
  }

  /** Shows what a tab, or an address, says. */
  show(rules) {
    this.chosen = typeof rules === 'string' && FIT.test(rules) ? rules : null;
    this.draw();
  }

  choose(rules) {
    this.show(rules);
    this.select.onchange();
  }

  /** Draws what there is, when the server has told what it does unasked. */
  draw() {
    const now = this.chosen ?? session.reason ?? 'none';
    const all = RULES.some(([rules]) => rules === now) ? RULES : [...RULES, [now, 'Reason: ' + now]];
    this.select.replaceChildren(...all.map(([rules, name]) => el('option', { value: rules }, name)));
    this.select.value = now;
  }
}

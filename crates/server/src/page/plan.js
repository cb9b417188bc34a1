// A plan, and what each operator did, as a tree.

import { bytes, count, el, grouped, seconds } from './dom.js';

function figures(node, all) {
  const done = node.measured;
  const line = el('div.figures');
  const add = (text, isOff) => line.append(el(isOff ? 'span.off' : 'span', {}, text));
  if (!done && all > 0) add('not run, or done by the one above');
  else if (!done) {
    add('about ' + count(node.estimated_rows, 'row') + ' expected');
    add('in ' + seconds(node.estimated_seconds));
  } else {
    const off = done.rows_per_expected;
    const isFar = off >= 10 || off <= 0.1;
    add(count(done.rows, 'row'));
    add(grouped(node.estimated_rows) + ' expected' + (!isFar ? '' : off > 1 ? ': ' + grouped(off) + ' times as many came' : ': 1 in ' + grouped(1 / off) + ' came'), isFar);
    add(seconds(done.seconds) + (all > 0 ? ' (' + (100 * done.seconds / all).toFixed(0) + ' %)' : ''));
    if (done.lookups) add(count(done.lookups, 'look-up'));
    if (done.sequential_rows) add(count(done.sequential_rows, 'row') + ' read');
    if (done.blocks?.touched) add(count(done.blocks.touched, 'block') + (done.blocks.read ? ', ' + grouped(done.blocks.read) + ' from disk' : ''));
    if (done.memory_bytes_max) add(bytes(done.memory_bytes_max) + ' held');
    if (done.requests) add(count(done.requests, 'request') + ', ' + bytes(done.bytes_sent) + ' sent, ' + bytes(done.bytes_received) + ' received');
    if (done.spilled_bytes) add(bytes(done.spilled_bytes) + ' spilled', true);
  }
  if (node.sorted_by.length) add('sorted by ' + node.sorted_by.join(' '));
  return line;
}

function item(node, all) {
  const card = el('div.node', { title: node.columns.length ? 'delivers ' + node.columns.join(' ') : 'delivers no columns' },
    el('b', {}, node.operator), el('code', {}, node.detail), figures(node, all));
  if (node.measured && all > 0) card.style.setProperty('--share', Math.min(100, 100 * node.measured.seconds / all) + '%');
  return el('li', {}, card, node.inputs.length ? el('ul', {}, node.inputs.map(input => item(input, all))) : null);
}

/** The tree of a report of the server. */
export function planView(report) {
  const run = report.run;
  const parts = [report.from_cache ? 'Planned before, for a query that differs only in constants; found in ' + seconds(report.planning_seconds) : 'Planned in ' + seconds(report.planning_seconds)];
  if (run) {
    const what = { select: 'row', ask: 'truth value' }[report.form] || 'triple';
    parts.push(count(run.rows, what) + ' in ' + seconds(run.seconds), 'terms of the answer ' + seconds(run.answer.seconds));
    if (run.total.blocks.touched) parts.push(count(run.total.blocks.touched, 'block') + ', ' + grouped(run.total.blocks.read) + ' from disk');
    parts.push('at most ' + bytes(run.memory_bytes_max) + ' held', 'bars are shares of the time');
  }
  return el('div.plan', { tabindex: '0', role: 'region', 'aria-label': 'Plan' },
    report.error ? el('p.message.error', {}, report.error + '\nBelow is what was done until then.') : null,
    el('p.muted', {}, parts.join(' · ')),
    el('div.tree', {}, el('ul', {}, item(report.plan, run ? run.total.seconds : 0))));
}

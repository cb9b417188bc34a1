// A graph of triples, or of classes: nodes that can be moved, chosen and expanded.

import { rowsOf, withoutNumber } from './api.js';
import { Drawing, whenSeen } from './canvas.js';
import { count, el, grouped, short, svg, tell } from './dom.js';
import { settle } from './force.js';
import { anywhere, labelsOf } from './names.js';
import { inQuery, named, shortened } from './prefixes.js';
import { browseLink, noteOf, showTerm, textOf } from './terms.js';

const NODES_MAX = 180;
const EXPAND_MAX = 40;
const EDGE_NAMES_MAX = 24;
const HUB_NAMES_MAX = 40;
const LABEL_MAX = 26;
/** Smaller, no label could be read: then not all is in sight. */
const READABLE = 0.6;
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const cut = (text, length) => ([...text].length > length ? [...text].slice(0, length - 1).join('') + '…' : text);
const widthOf = label => Math.min(LABEL_MAX, [...label].length) * 6.6 + 16;
const keyOf = term => term.type + ' ' + (term.type === 'triple' ? textOf(term) : term.value) + ' ' + (term.datatype || '') + (term['xml:lang'] || '');

class Graph {
  constructor(label) {
    this.nodes = new Map();
    this.edges = new Map();
    this.hubNamesMax = 0;
    this.drawing = new Drawing(label, { home: () => this.home() });
    this.note = el('span.muted', { role: 'status' });
    this.chosen = el('div.bar.chosen');
    this.element = el('div.graph-view', {}, el('div.bar.view-tools', {}, this.note, this.chosen), this.drawing.element);
    let isFirst = true;
    whenSeen(this.drawing.element, () => isFirst ? (isFirst = false, this.arrange()) : this.home());
  }

  node(key, make) {
    if (!this.nodes.has(key)) this.nodes.set(key, { key, degree: 0, w: 60, ...make() });
    return this.nodes.get(key);
  }

  edge(from, to, name, title) {
    const key = from.key + '\n' + to.key;
    const edge = this.edges.get(key);
    if (edge) {
      if (!edge.names.includes(name)) edge.names.push(name), edge.titles.push(title);
      return;
    }
    this.edges.set(key, { from, to, names: [name], titles: [title] });
    from.degree++;
    to.degree++;
  }

  arrange(heat = 1) {
    const [nodes, edges] = [[...this.nodes.values()], [...this.edges.values()]];
    for (const node of nodes) node.w = widthOf(node.label);
    settle(nodes, edges, nodes.length > 100 ? 160 : 320, heat);
    this.draw();
    this.home();
  }

  home() {
    const nodes = [...this.nodes.values()];
    if (!nodes.length) return;
    this.drawing.fit({
      left: Math.min(...nodes.map(node => node.x - node.w / 2)), right: Math.max(...nodes.map(node => node.x + node.w / 2)),
      top: Math.min(...nodes.map(node => node.y - 12)), bottom: Math.max(...nodes.map(node => node.y + 26)),
    }, 1.4, READABLE);
  }

  /** Where there are many, only the edges of the chosen node have their names. */
  nameEdges(node) {
    const isMany = this.edges.size > EDGE_NAMES_MAX;
    for (const edge of this.edges.values()) {
      const isOf = edge.from === node || edge.to === node;
      edge.text?.classList.toggle('off', isMany && !isOf);
      edge.line?.classList.toggle('of', node === this.picked && isOf);
    }
  }

  draw() {
    const nodes = [...this.nodes.values()];
    const edges = [...this.edges.values()];
    const heads = svg('defs', {}, svg('marker', { id: 'head', viewBox: '0 0 8 8', refX: '7', refY: '4', markerWidth: '7', markerHeight: '7', orient: 'auto' }, svg('path', { d: 'M0 0.500L8 4L0 7.500z', class: 'arrow-head', fill: 'currentColor' })));
    this.drawing.layer.replaceChildren(heads, ...edges.map(edge => this.drawEdge(edge)), ...nodes.map(node => this.drawNode(node)));
    for (const edge of edges) this.place(edge);
    const hub = nodes.reduce((most, node) => (node.degree > most.degree ? node : most), nodes[0]);
    this.nameEdges(hub && hub.degree <= this.hubNamesMax ? hub : null);
  }

  drawEdge(edge) {
    edge.line = svg('path', { class: 'edge', 'marker-end': 'url(#head)' });
    const text = cut(edge.names.join(', '), 34);
    edge.text = svg('text', { class: 'edge-label' }, text);
    return svg('g', { 'aria-hidden': 'true' }, svg('title', {}, edge.titles.join('\n')), edge.line, edge.text);
  }

  /** Draws an edge from where its nodes are. */
  place(edge) {
    const { from, to } = edge;
    if (from === to) {
      edge.line.setAttribute('d', `M${from.x - 6} ${from.y - 8}C${from.x - 40} ${from.y - 60} ${from.x + 40} ${from.y - 60} ${from.x + 6} ${from.y - 8}`);
      edge.text.setAttribute('x', from.x);
      edge.text.setAttribute('y', from.y - 50);
      return;
    }
    const back = this.edges.has(to.key + '\n' + from.key);
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    const far = Math.hypot(dx, dy) || 1;
    const bend = back ? 26 : 0;
    const [mx, my] = [(from.x + to.x) / 2 - dy / far * bend, (from.y + to.y) / 2 + dx / far * bend];
    const end = edgeOf(to, mx, my);
    edge.line.setAttribute('d', `M${from.x} ${from.y}Q${mx} ${my} ${end.x} ${end.y}`);
    // Nearer to the node that has fewer edges: about the other one many names would lie on each other.
    const part = from.degree > to.degree ? 0.62 : from.degree < to.degree ? 0.38 : 0.5;
    const at = (start, middle, stop) => (1 - part) ** 2 * start + 2 * part * (1 - part) * middle + part ** 2 * stop;
    edge.text.setAttribute('x', at(from.x, mx, to.x));
    edge.text.setAttribute('y', at(from.y, my, to.y) - 3);
  }

  drawNode(node) {
    const isBox = node.kind === 'literal' || node.kind === 'class';
    const shape = isBox ? svg('rect', { x: -node.w / 2, y: -11, width: node.w, height: 22, rx: node.kind === 'class' ? 11 : 4 }) : svg('circle', { r: node.kind === 'blank' ? 5 : 7 });
    const text = svg('text', { y: isBox ? 4 : 21 }, cut(node.label, LABEL_MAX));
    node.element = svg('g', {
      class: 'graph-node ' + node.kind, tabindex: '0', role: 'button', 'aria-label': `${cut(node.label, LABEL_MAX)}: ${count(node.degree, 'edge')}`, transform: `translate(${node.x} ${node.y})`,
      onpointerdown: event => this.grab(event, node), onfocus: () => this.choose(node),
      ondblclick: () => this.expand(node),
      onkeydown: event => event.key === 'Enter' && (event.preventDefault(), this.expand(node)),
      onpointermove: event => !event.buttons && this.drawing.say(node.title, event), onpointerleave: event => this.drawing.say('', event),
    }, shape, text);
    return node.element;
  }

  grab(event, node) {
    if (event.button) return;
    event.stopPropagation();
    this.drawing.say('', event);
    this.choose(node);
    const start = { x: node.x, y: node.y, atX: event.clientX, atY: event.clientY };
    const edges = [...this.edges.values()].filter(edge => edge.from === node || edge.to === node);
    const move = moved => {
      const { scale } = this.drawing.view;
      node.x = start.x + (moved.clientX - start.atX) / scale;
      node.y = start.y + (moved.clientY - start.atY) / scale;
      node.fixed = true;
      node.element.setAttribute('transform', `translate(${node.x} ${node.y})`);
      for (const edge of edges) this.place(edge);
    };
    node.element.setPointerCapture(event.pointerId);
    node.element.addEventListener('pointermove', move);
    node.element.addEventListener('pointerup', () => node.element.removeEventListener('pointermove', move), { once: true });
  }

  choose(node) {
    for (const other of this.nodes.values()) other.element?.classList.toggle('chosen', other === node);
    this.picked = node;
    this.nameEdges(node);
    this.chosen.replaceChildren(...this.about(node));
  }

  about(node) {
    return [el('b', {}, cut(node.label, 40))];
  }

  expand() {}
}

/** Where a line to a node ends: at its edge. */
function edgeOf(node, x, y) {
  const [dx, dy] = [x - node.x, y - node.y];
  const far = Math.hypot(dx, dy) || 1;
  if (node.kind !== 'literal' && node.kind !== 'class') return { x: node.x + dx / far * 9, y: node.y + dy / far * 9 };
  const scale = Math.min((node.w / 2 + 2) / Math.abs(dx || 0.01), 13 / Math.abs(dy || 0.01));
  return { x: node.x + dx * scale, y: node.y + dy * scale };
}

class TripleGraph extends Graph {
  constructor(triples) {
    super('Graph of the triples.');
    this.hubNamesMax = HUB_NAMES_MAX;
    this.all = triples;
    this.take(triples);
    this.label();
  }

  take(triples) {
    let left = 0;
    for (const { subject, predicate, object } of triples) {
      const isNew = [subject, object].filter(term => !this.nodes.has(keyOf(term))).length;
      if (this.nodes.size + isNew > NODES_MAX) {
        left++;
        continue;
      }
      this.edge(this.of(subject), this.of(object), named(predicate.value), predicate.value);
    }
    this.note.textContent = left ? `${count(triples.length - left, 'triple')} of ${grouped(triples.length)} drawn, with ${grouped(this.nodes.size)} nodes: the table has all.` : `${grouped(this.nodes.size)} nodes, ${count(this.edges.size, 'edge')}`;
  }

  of(term) {
    return this.node(keyOf(term), () => ({
      term, kind: { uri: 'resource', bnode: 'blank', literal: 'literal', triple: 'literal' }[term.type],
      label: term.type === 'uri' ? named(term.value) : term.type === 'bnode' ? '_:' + cut(term.value, 8) : textOf(term),
      title: term.type === 'uri' ? term.value : cut(textOf(term), 400) + (term.type === 'literal' && noteOf(term) ? ' ' + noteOf(term) : ''),
    }));
  }

  /** Nodes are named by their labels, where there are some. */
  async label() {
    const nodes = [...this.nodes.values()].filter(node => node.kind === 'resource');
    const labels = await labelsOf(nodes.map(node => node.term.value)).catch(() => new Map());
    let isNew = false;
    for (const node of nodes) {
      const label = labels.get(node.term.value);
      if (!label || node.label === label) continue;
      node.label = label;
      node.w = widthOf(label);
      node.title = label + '\n' + node.term.value;
      isNew = true;
    }
    if (!isNew || !this.drawing.layer.firstChild) return;
    this.draw();
    this.home();
  }

  about(node) {
    const { term } = node;
    if (term.type !== 'uri') return [el('span', {}, cut(node.label, 60)), el('button.small', { onclick: () => showTerm(term) }, 'All')];
    return [browseLink(term.value, cut(node.label, 60)), el('button.small', { id: 'expand', onclick: () => this.expand(node) }, 'Expand')];
  }

  async expand(node) {
    if (node.term.type !== 'uri') return showTerm(node.term);
    const iri = inQuery(node.term.value);
    try {
      const half = EXPAND_MAX / 2;
      const rows = (await Promise.all([`SELECT DISTINCT ?p ?o { ${anywhere(`${iri} ?p ?o`)} } LIMIT ${half}`, `SELECT DISTINCT ?s ?p { ${anywhere(`?s ?p ${iri}`)} } LIMIT ${half}`].map(query => rowsOf(query, { timeout: 10 })))).flat();
      const before = this.nodes.size;
      const triples = rows.map(row => ({ subject: row.s || node.term, predicate: row.p, object: row.o || node.term }));
      // New ones begin beside the node that they belong to.
      for (const { subject, object } of triples) {
        for (const term of [subject, object]) {
          if (!this.nodes.has(keyOf(term)) && this.nodes.size < NODES_MAX) {
            const angle = this.nodes.size * 2.39996;
            Object.assign(this.of(term), { x: node.x + 90 * Math.cos(angle), y: node.y + 90 * Math.sin(angle) });
          }
        }
      }
      this.take(triples);
      this.arrange(0.6);
      this.choose(node);
      tell(this.nodes.size > before ? count(this.nodes.size - before, 'node') + ' more' : 'Nothing new');
      await this.label();
    } catch (error) {
      tell(withoutNumber(error.message));
    }
  }
}

export function graphView(triples) {
  if (!triples.length) return el('p.empty-note', {}, 'No triples.');
  const order = triples.filter(triple => triple.predicate.value !== TYPE).concat(triples.filter(triple => triple.predicate.value === TYPE));
  const graph = new TripleGraph(order);
  graph.element.graph = graph;
  return graph.element;
}

/** A picture of classes: rows of `?c ?p ?d ?n`. */
class SchemaGraph extends Graph {
  constructor(rows) {
    super('Classes, and the predicates between them.');
    const of = term => this.node(keyOf(term), () => ({ term, kind: 'class', label: named(term.value), title: term.value }));
    for (const row of rows) this.edge(of(row.c), of(row.d), `${named(row.p.value)} ${short(Number(row.n.value))}`, `${shortened(row.p.value)}: ${count(Number(row.n.value), 'triple')}`);
    this.note.textContent = `${count(this.nodes.size, 'class', 'classes')}, the ${count(rows.length, 'most frequent connection')}`;
  }

  about(node) {
    return [browseLink(node.term.value, node.label)];
  }
}

export function schemaView(rows) {
  return new SchemaGraph(rows).element;
}

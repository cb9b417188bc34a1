// A map of places, drawn by the page itself: no tiles, so nobody learns what is looked at.

import { Drawing, whenSeen } from './canvas.js';
import { count, el, svg } from './dom.js';
import { ticksOf } from './scales.js';
import { browseLink, isNumber, textOf } from './terms.js';
import { coordinatesOf, isWkt, parseWkt, project, unproject } from './wkt.js';

const SHAPES_MAX = 3000;
const COORDINATES_MAX = 200_000;

/** Shapes of the rows: WKT, or a column of latitudes and one of longitudes. */
function shapesOf({ vars, rows }) {
  const wkt = vars.filter(name => rows.some(row => isWkt(row[name])));
  const like = pattern => vars.find(name => pattern.test(name) && rows.some(row => isNumber(row[name])));
  const [lat, long] = [like(/^(.*_)?lat(itude)?$/i), like(/^(.*_)?(lng|lon|long|longitude)$/i)];
  const shapes = [];
  let [coordinates, left] = [0, 0];
  const take = (shape, row, isOwn) => {
    const size = shape ? coordinatesOf(shape).length : 0;
    if (!size) return;
    if (shapes.length >= SHAPES_MAX || coordinates + size > COORDINATES_MAX) {
      left++;
      return;
    }
    coordinates += size;
    const others = vars.filter(name => row[name] && !isOwn(name));
    shapes.push({ shape, row, title: others.map(name => `${name}: ${textOf(row[name]).slice(0, 120)}`).join('\n'), iri: others.map(name => row[name]).find(term => term.type === 'uri')?.value });
  };
  for (const row of rows) {
    for (const name of wkt) if (row[name]) take(parseWkt(row[name].value), row, other => other === name);
    if (lat && long && row[lat] && row[long]) take({ type: 'point', points: [[Number(row[long].value), Number(row[lat].value)]] }, row, name => name === lat || name === long);
  }
  return { shapes, left };
}

export function mapView(answer) {
  const { shapes, left } = shapesOf(answer);
  if (!shapes.length) return el('p.empty-note', {}, 'A map needs a column of WKT literals, or one of latitudes and one of longitudes (named lat and long).');
  const chosen = el('div.bar');
  const note = el('span.muted', { role: 'status' }, count(shapes.length, 'place') + (left ? `, ${left} more are not drawn` : ''));
  const map = new WorldMap(shapes, chosen);
  return el('div.map-view', {}, el('div.bar.view-tools', {}, note, chosen), map.drawing.element);
}

class WorldMap {
  constructor(shapes, chosen) {
    [this.shapes, this.chosen] = [shapes, chosen];
    this.lines = svg('g', { 'aria-hidden': 'true' });
    this.marks = svg('g');
    this.drawing = new Drawing(`Map of ${count(shapes.length, 'place')}.`, { home: () => this.home(), changed: view => this.scaled(view) });
    this.drawing.layer.append(this.marks);
    this.drawing.picture.prepend(this.lines);
    this.marks.append(...shapes.map(shape => this.mark(shape)));
    whenSeen(this.drawing.element, () => this.home());
  }

  mark(shape) {
    const { type } = shape.shape;
    const parts = shape.shape.points.map(point => project(point));
    const path = points => points.map((point, at) => `${at ? 'L' : 'M'}${point[0]} ${point[1]}`).join('');
    const element = type === 'point' ? svg('g', {}, parts.map(([x, y]) => svg('path', { class: 'place-dot', d: `M${x} ${y}h0` })))
      : svg('path', { class: 'place-' + type, d: shape.shape.rings.map(ring => path(ring.map(project)) + (type === 'polygon' ? 'z' : '')).join('') });
    element.setAttribute('class', (element.getAttribute('class') || '') + ' place');
    element.addEventListener('pointermove', event => !event.buttons && this.drawing.say(shape.title, event));
    element.addEventListener('pointerleave', event => this.drawing.say('', event));
    element.addEventListener('click', () => this.choose(shape));
    return element;
  }

  choose(shape) {
    this.chosen.replaceChildren(shape.iri ? browseLink(shape.iri) : '', el('span.muted', {}, shape.title.replaceAll('\n', ' · ').slice(0, 200)));
  }

  home() {
    const all = this.shapes.flatMap(({ shape }) => coordinatesOf(shape)).map(project);
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const [x, y] of all) {
      [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
    }
    const room = Math.max(0.02, (right - left) * 0.05);
    this.drawing.fit({ left: left - room, right: right + room, top: top - room, bottom: bottom + room }, 1e6);
  }

  /** Lines of the grid, with their degrees. */
  scaled(view) {
    const { width, height } = this.drawing.size;
    const at = (x, y) => unproject([(x - view.x) / view.scale, (y - view.y) / view.scale]);
    const [[west, north], [east, south]] = [at(0, 0), at(width, height)];
    const place = ([x, y]) => [x * view.scale + view.x, y * view.scale + view.y];
    const lines = [];
    for (const degree of ticksOf(Math.max(-180, west), Math.min(180, east), Math.max(2, width / 140))) {
      const [x] = place(project([degree, 0]));
      lines.push(svg('line', { class: 'grid', x1: x, x2: x, y1: 0, y2: height }), svg('text', { class: 'tick', x: x + 4, y: height - 6 }, degrees(degree, 'E', 'W')));
    }
    for (const degree of ticksOf(Math.max(-85, south), Math.min(85, north), Math.max(2, height / 110))) {
      const [, y] = place(project([0, degree]));
      lines.push(svg('line', { class: 'grid', y1: y, y2: y, x1: 0, x2: width }), svg('text', { class: 'tick', x: 6, y: y - 4 }, degrees(degree, 'N', 'S')));
    }
    this.lines.replaceChildren(...lines);
  }
}

const degrees = (value, plus, minus) => Number(Math.abs(value).toFixed(4)) + '°' + (value > 0 ? plus : value < 0 ? minus : '');

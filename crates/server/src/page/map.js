// A map of places, drawn by the page itself: no tiles, so nobody learns what is looked at.

import { Drawing, whenSeen } from './canvas.js';
import { count, el, short, svg } from './dom.js';
import { ticksOf } from './scales.js';
import { browseLink, isNumber, textOf } from './terms.js';
import { coordinatesOf, isEmptyShape, isOtherShape, isShape, parseShape, project, unproject } from './wkt.js';

const SHAPES_MAX = 3000;
const POINTS_MAX = 50_000;
// More points than this are gathered, those of a square of so many pixels.
const POINTS_EACH = 200;
const SQUARE = 44;
const SCALE_MAX = 1e6;
const COORDINATES_MAX = 200_000;

/** Shapes of the rows: WKT, GeoJSON, or a column of latitudes and one of longitudes; how many there is no room for, and how many cannot be drawn. */
function shapesOf({ vars, rows }) {
  const wkt = vars.filter(name => rows.some(row => isShape(row[name]) || isOtherShape(row[name])));
  const like = pattern => vars.find(name => pattern.test(name) && rows.some(row => isNumber(row[name])));
  const [lat, long] = [like(/^(.*_)?lat(itude)?$/i), like(/^(.*_)?(lng|lon|long|longitude)$/i)];
  const shapes = [];
  let [coordinates, points, left, unread] = [0, 0, 0, 0];
  const take = (shape, row, isOwn) => {
    const size = shape ? coordinatesOf(shape).length : 0;
    if (!size) return;
    const isPoint = size === 1;
    if ((isPoint ? points >= POINTS_MAX : shapes.length - points >= SHAPES_MAX) || coordinates + size > COORDINATES_MAX) {
      left++;
      return;
    }
    coordinates += size;
    points += isPoint;
    const others = vars.filter(name => row[name] && !isOwn(name));
    shapes.push({ shape, row, title: others.map(name => `${name}: ${textOf(row[name]).slice(0, 120)}`).join('\n'), iri: others.map(name => row[name]).find(term => term.type === 'uri')?.value });
  };
  for (const row of rows) {
    for (const name of wkt) {
      const term = row[name];
      const shape = isShape(term) ? parseShape(term) : null;
      if (shape) take(shape, row, other => other === name);
      else if ((isShape(term) || isOtherShape(term)) && !isEmptyShape(term)) unread++;
    }
    if (lat && long && row[lat] && row[long]) take({ type: 'point', points: [[Number(row[long].value), Number(row[lat].value)]] }, row, name => name === lat || name === long);
  }
  return { shapes, left, unread };
}

export function mapView(answer) {
  const { shapes, left, unread } = shapesOf(answer);
  const others = unread ? `${count(unread, 'geometry is', 'geometries are')} not drawn (collections, GML, KML, other reference systems; geof:asGeoJSON makes GeoJSON of the last three)` : '';
  if (!shapes.length) return el('p.empty-note', {}, others || 'A map needs a column of literals of WKT or GeoJSON, or one of latitudes and one of longitudes (named lat and long).');
  const chosen = el('div.bar');
  const note = el('span.muted', { role: 'status' }, count(shapes.length, 'place') + (left ? `, ${left} more are not drawn` : '') + (others && `; ${others}`));
  const map = new WorldMap(shapes, chosen);
  return el('div.map-view', {}, el('div.bar.view-tools', {}, note, chosen), map.drawing.element);
}

class WorldMap {
  constructor(shapes, chosen) {
    [this.shapes, this.chosen] = [shapes, chosen];
    this.lines = svg('g', { 'aria-hidden': 'true' });
    this.marks = svg('g');
    this.gathered = svg('g');
    const single = shapes.filter(({ shape }) => shape.type === 'point' && shape.points.length === 1);
    this.points = single.length > POINTS_EACH ? single.map(shape => ({ shape, at: project(shape.shape.points[0]) })) : [];
    this.drawing = new Drawing(`Map of ${count(shapes.length, 'place')}.`, { home: () => this.home(), changed: view => this.scaled(view) });
    this.drawing.layer.append(this.marks);
    this.drawing.picture.prepend(this.lines);
    this.drawing.picture.append(this.gathered);
    const taken = new Set(this.points.map(({ shape }) => shape));
    const alone = shapes.filter(shape => !taken.has(shape));
    this.marks.append(...alone.map(shape => this.mark(shape)));
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

  /** Points in sight, those of a square as one: squares stay where they are when the map moves. */
  gather({ x: left, y: top, scale }) {
    const { width, height } = this.drawing.size;
    const squares = new Map();
    for (const point of this.points) {
      const [x, y] = [point.at[0] * scale, point.at[1] * scale];
      if (x + left < -SQUARE || y + top < -SQUARE || x + left > width + SQUARE || y + top > height + SQUARE) continue;
      const square = Math.floor(x / SQUARE) + ' ' + Math.floor(y / SQUARE);
      if (squares.has(square)) squares.get(square).push(point);
      else squares.set(square, [point]);
    }
    this.gathered.replaceChildren(...[...squares.values()].map(points => this.gatheredMark(points, left, top, scale)));
  }

  gatheredMark(points, left, top, scale) {
    const mean = axis => points.reduce((sum, { at }) => sum + at[axis], 0) / points.length;
    const [x, y] = [mean(0) * scale + left, mean(1) * scale + top];
    const [{ shape }] = points;
    const isOne = points.length === 1;
    const element = isOne ? svg('g', { class: 'place' }, svg('path', { class: 'place-dot', d: `M${x} ${y}h0` }))
      : svg('g', { class: 'place place-many' }, svg('circle', { cx: x, cy: y, r: 9 + 2 * Math.log10(points.length) }), svg('text', { x, y }, short(points.length)));
    const title = isOne ? shape.title : count(points.length, 'place');
    element.addEventListener('pointermove', event => !event.buttons && this.drawing.say(title, event));
    element.addEventListener('pointerleave', event => this.drawing.say('', event));
    const isOnePlace = points.every(({ at }) => at[0] === points[0].at[0] && at[1] === points[0].at[1]);
    element.addEventListener('click', event => {
      this.drawing.say('', event);
      if (isOne || isOnePlace || scale >= SCALE_MAX) this.choose(isOne ? shape : { ...shape, title: `${title}, the first: ${shape.title}` });
      else this.drawing.zoom(3, x, y);
    });
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
    this.gather(view);
  }
}

const degrees = (value, plus, minus) => Number(Math.abs(value).toFixed(4)) + '°' + (value > 0 ? plus : value < 0 ? minus : '');

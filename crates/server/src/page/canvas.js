// A drawing that can be moved and made larger, by pointer, wheel and keys.

import { el, icon, svg } from './dom.js';

const [SCALE_MIN, SCALE_MAX] = [0.01, 1e6];

export class Drawing {
  /** `label` says to readers of the screen what it is; `home` fits all of it into sight. */
  constructor(label, { home, changed }) {
    this.view = { x: 0, y: 0, scale: 1 };
    [this.home, this.changed] = [home, changed];
    this.layer = svg('g');
    this.picture = svg('svg', { tabindex: '0', role: 'group', 'aria-label': label + ' Arrow keys move, plus and minus change the size, 0 shows all.', onkeydown: event => this.onKey(event) }, this.layer);
    this.tip = el('div.tip', { hidden: true, 'aria-hidden': 'true' });
    const button = (name, title, act) => el('button', { title, 'aria-label': title, onclick: act }, icon(name));
    this.element = el('div.drawing', {}, this.picture, this.tip,
      el('div.zoom', {}, button('plus', 'Larger', () => this.zoom(1.4)), button('minus', 'Smaller', () => this.zoom(1 / 1.4)), button('fit', 'All in sight', () => this.home())));
    this.picture.addEventListener('wheel', event => {
      event.preventDefault();
      const box = this.picture.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY * 0.0016), event.clientX - box.x, event.clientY - box.y);
    }, { passive: false });
    this.picture.addEventListener('pointerdown', event => this.pan(event));
  }

  get size() {
    return { width: this.element.clientWidth || 800, height: this.element.clientHeight || 400 };
  }

  set(view) {
    Object.assign(this.view, view);
    this.layer.setAttribute('transform', `translate(${this.view.x} ${this.view.y}) scale(${this.view.scale})`);
    this.changed?.(this.view);
  }

  zoom(factor, x = this.size.width / 2, y = this.size.height / 2) {
    const scale = Math.min(SCALE_MAX, Math.max(SCALE_MIN, this.view.scale * factor));
    const ratio = scale / this.view.scale;
    this.set({ scale, x: x - (x - this.view.x) * ratio, y: y - (y - this.view.y) * ratio });
  }

  pan(event) {
    if (event.button || event.target.closest?.('.graph-node, .place-many')) return;
    const start = { ...this.view, atX: event.clientX, atY: event.clientY };
    const move = moved => this.set({ x: start.x + moved.clientX - start.atX, y: start.y + moved.clientY - start.atY });
    this.picture.setPointerCapture(event.pointerId);
    this.picture.addEventListener('pointermove', move);
    this.picture.addEventListener('pointerup', () => this.picture.removeEventListener('pointermove', move), { once: true });
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
    const step = steps[event.key];
    if (step) this.set({ x: this.view.x + step[0], y: this.view.y + step[1] });
    else if (event.key === '+' || event.key === '=') this.zoom(1.3);
    else if (event.key === '-') this.zoom(1 / 1.3);
    else if (event.key === '0') this.home();
    else return;
    event.preventDefault();
  }

  /** Fits a box of the drawing into sight. */
  fit({ left, top, right, bottom }, scaleMax = 1.6, scaleMin = SCALE_MIN) {
    const { width, height } = this.size;
    const room = 48;
    const scale = Math.min(scaleMax, (width - 2 * room) / Math.max(1, right - left), (height - 2 * room) / Math.max(1, bottom - top));
    const shown = Math.max(scaleMin, scale);
    this.set({ scale: shown, x: width / 2 - shown * (left + right) / 2, y: height / 2 - shown * (top + bottom) / 2 });
  }

  /** Says something at the pointer. */
  say(text, event) {
    this.tip.hidden = !text;
    if (!text) return;
    this.tip.textContent = text;
    const box = this.element.getBoundingClientRect();
    const x = event.clientX - box.x;
    this.tip.style.left = Math.max(4, Math.min(x + 12, box.width - this.tip.offsetWidth - 8)) + 'px';
    this.tip.style.top = Math.max(4, Math.min(event.clientY - box.y + 12, box.height - this.tip.offsetHeight - 8)) + 'px';
  }
}

/** Calls once an element is in the page and has a size. */
export function whenSeen(element, call) {
  let width = 0;
  new ResizeObserver(() => {
    if (element.clientWidth && element.clientWidth !== width) {
      width = element.clientWidth;
      call();
    }
  }).observe(element);
}

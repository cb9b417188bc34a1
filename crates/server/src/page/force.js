// Where the nodes of a graph go: they push each other away, edges pull them together.

/** Nodes are `{ x, y, w }`, edges `{ from, to }`; `steps` are done at once. */
export function settle(nodes, edges, steps, heat = 1) {
  const all = nodes.length;
  for (const [at, node] of nodes.entries()) {
    // A spiral is a good beginning, and always the same one.
    if (node.x === undefined) {
      const angle = at * 2.39996;
      const far = 60 * Math.sqrt(at + 0.5);
      [node.x, node.y] = [far * Math.cos(angle), far * Math.sin(angle)];
    }
    [node.vx, node.vy] = [0, 0];
  }
  const length = 120 + 8 * Math.sqrt(all);
  for (let step = 0; step < steps; step++) {
    const cool = heat * (1 - step / steps);
    repel(nodes, cool);
    for (const { from, to } of edges) {
      if (from === to) continue;
      const [dx, dy] = [to.x - from.x, to.y - from.y];
      const far = Math.hypot(dx, dy) || 1;
      const pull = (far - length - (from.w + to.w) / 4) / far * 0.12 * cool / Math.sqrt(Math.min(from.degree, to.degree) || 1);
      from.vx += dx * pull;
      from.vy += dy * pull;
      to.vx -= dx * pull;
      to.vy -= dy * pull;
    }
    for (const node of nodes) {
      node.vx -= node.x * 0.002 * cool;
      node.vy -= node.y * 0.006 * cool;
      if (!node.fixed) {
        const speed = Math.hypot(node.vx, node.vy);
        const limit = speed > 30 ? 30 / speed : 1;
        node.x += node.vx * limit;
        node.y += node.vy * limit;
      }
      node.vx *= 0.6;
      node.vy *= 0.6;
    }
  }
}

function repel(nodes, cool) {
  for (let one = 0; one < nodes.length; one++) {
    const a = nodes[one];
    for (let two = one + 1; two < nodes.length; two++) {
      const b = nodes[two];
      let [dx, dy] = [b.x - a.x, b.y - a.y];
      if (!dx && !dy) [dx, dy] = [0.1 * (one + 1), 0.1];
      // Texts are wide: nodes beside each other need more room than those above each other.
      const wide = (a.w + b.w) / 90;
      const near = dx * dx / (wide * wide) + dy * dy * 2 + 60;
      if (near > 160_000) continue;
      const push = 16_000 / near / Math.sqrt(near) * cool;
      a.vx -= dx * push;
      a.vy -= dy * push * 0.8;
      b.vx += dx * push;
      b.vy += dy * push * 0.8;
    }
  }
}

"""Triples as a drawing: a few nodes and arrows, placed by forces, without anything from elsewhere."""

from __future__ import annotations

import math
from html import escape
from typing import Dict, List, Mapping, Sequence, Tuple

from ._html import cut, label
from ._lodestore import IRI, Literal, Triple
from ._values import Term

WIDTH, HEIGHT = 760, 480
_STEPS = 200
_LABEL_MAX = 28
_COLOURS = {"iri": "#2b6cb0", "literal": "#b7791f", "other": "#718096"}


def drawing(triples: Sequence[Triple], prefixes: Mapping[str, str]) -> str:
    """The drawing. Each node is there once; literals are nodes of their own."""
    nodes: Dict[Tuple[object, int], int] = {}
    terms: List[Term] = []
    edges: List[Tuple[int, int, str]] = []
    for number, triple in enumerate(triples):
        ends = []
        for term in (triple.subject, triple.object):
            key = (term, number if isinstance(term, Literal) else -1)
            if key not in nodes:
                nodes[key] = len(terms)
                terms.append(term)
            ends.append(nodes[key])
        edges.append((ends[0], ends[1], label(triple.predicate, prefixes)))
    places = _placed(len(terms), [(a, b) for a, b, _ in edges])
    lines = "".join(_arrow(places[a], places[b], text) for a, b, text in edges)
    circles = "".join(_node(place, term, prefixes) for place, term in zip(places, terms))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="lodestore" viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" '
        f'style="max-width: {WIDTH}px; font: 11px sans-serif">'
        '<defs><marker id="lodestore-arrow" viewBox="0 0 8 8" refX="15" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M 0 0 L 8 4 L 0 8 z" fill="#a0aec0"/></marker></defs>'
        f"{lines}{circles}</svg>"
    )


def _placed(count: int, edges: Sequence[Tuple[int, int]]) -> List[Tuple[float, float]]:
    """Nodes push each other away, and edges pull (Fruchterman and Reingold); it begins on a circle, so that it always ends the same."""
    places = [
        (math.cos(2 * math.pi * n / max(count, 1)) + n * 1e-4, math.sin(2 * math.pi * n / max(count, 1)))
        for n in range(count)
    ]
    ideal = 2 / math.sqrt(max(count, 1))
    for step in range(_STEPS):
        moves = [[0.0, 0.0] for _ in range(count)]
        for a in range(count):
            for b in range(a):
                x, y = places[a][0] - places[b][0], places[a][1] - places[b][1]
                force = ideal * ideal / max(x * x + y * y, 1e-6)
                for node, sign in ((a, 1), (b, -1)):
                    moves[node][0] += sign * x * force
                    moves[node][1] += sign * y * force
        for a, b in edges:
            x, y = places[a][0] - places[b][0], places[a][1] - places[b][1]
            force = math.hypot(x, y) / ideal
            for node, sign in ((a, -1), (b, 1)):
                moves[node][0] += sign * x * force
                moves[node][1] += sign * y * force
        most = 0.2 * (1 - step / _STEPS)
        for n, (x, y) in enumerate(moves):
            length = max(math.hypot(x, y), 1e-9)
            scale = min(length, most) / length
            places[n] = (places[n][0] + x * scale, places[n][1] + y * scale)
    return _fitted(places)


def _fitted(places: Sequence[Tuple[float, float]]) -> List[Tuple[float, float]]:
    if not places:
        return []
    xs, ys = [x for x, _ in places], [y for _, y in places]
    margin_x, margin_y = 80, 30

    def fit(value: float, values: Sequence[float], size: int, margin: int) -> float:
        span = max(values) - min(values)
        return size / 2 if span < 1e-9 else margin + (value - min(values)) / span * (size - 2 * margin)

    return [(fit(x, xs, WIDTH, margin_x), fit(y, ys, HEIGHT, margin_y)) for x, y in places]


def _arrow(start: Tuple[float, float], end: Tuple[float, float], text: str) -> str:
    (ax, ay), (bx, by) = start, end
    if start == end:
        path = f"M {ax:.1f} {ay:.1f} c -40 -50 40 -50 0 0"
        return f'<path d="{path}" fill="none" stroke="#cbd5e0"/>{_text((ax, ay - 38), text, "#4a5568")}'
    line = f'<line x1="{ax:.1f}" y1="{ay:.1f}" x2="{bx:.1f}" y2="{by:.1f}" stroke="#cbd5e0" marker-end="url(#lodestore-arrow)"/>'
    return line + _text(((ax + bx) / 2, (ay + by) / 2 - 3), text, "#4a5568")


def _node(place: Tuple[float, float], term: Term, prefixes: Mapping[str, str]) -> str:
    kind = "iri" if isinstance(term, IRI) else "literal" if isinstance(term, Literal) else "other"
    x, y = place
    title = escape(cut(str(term)))
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{_COLOURS[kind]}"><title>{title}</title></circle>'
    return circle + _text((x, y - 10), label(term, prefixes), "#1a202c")


def _text(place: Tuple[float, float], text: str, colour: str) -> str:
    shown = text if len(text) <= _LABEL_MAX else text[: _LABEL_MAX - 1] + "…"
    x, y = place
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{colour}">{escape(shown)}</text>'

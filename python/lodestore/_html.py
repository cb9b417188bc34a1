"""Answers as HTML, for notebooks: everything that comes from the data is escaped."""

from __future__ import annotations

import re
from html import escape
from typing import Iterable, Mapping, Optional, Sequence

from ._lodestore import IRI, BlankNode, Literal
from ._values import XSD, Term

# Longer texts are cut: the page has to hold them.
_TEXT_MAX = 300
_NUMBERS = {XSD + name for name in ("integer", "decimal", "double", "float", "int", "long", "short", "byte")}
# What a browser follows. Others could run something, as javascript: does.
_FOLLOWED = re.compile(r"https?://", re.IGNORECASE)

_STYLE = (
    "<style>"
    ".lodestore td, .lodestore th { text-align: left; vertical-align: top; font-variant-numeric: tabular-nums }"
    ".lodestore td.number { text-align: right }"
    ".lodestore .of { color: gray; font-size: smaller }"
    "</style>"
)


def table(
    names: Sequence[str],
    rows: Iterable[Sequence[Optional[Term]]],
    note: str,
    prefixes: Mapping[str, str],
) -> str:
    """A table, with a note below it."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(_cell(term, prefixes) for term in row)}</tr>" for row in rows)
    return (
        f'{_STYLE}<div class="lodestore"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        f'<p class="of">{escape(note)}</p></div>'
    )


def _cell(term: Optional[Term], prefixes: Mapping[str, str]) -> str:
    if term is None:
        return "<td></td>"
    if isinstance(term, IRI):
        shown = escape(cut(shorten(term.value, prefixes)))
        if _FOLLOWED.match(term.value):
            return f'<td><a href="{escape(term.value)}" rel="noreferrer noopener" target="_blank">{shown}</a></td>'
        return f"<td>{shown}</td>"
    if isinstance(term, Literal):
        text = escape(cut(term.value))
        if term.language:
            return f'<td>{text} <span class="of">@{escape(term.language)}</span></td>'
        datatype = term.datatype.value
        if datatype in _NUMBERS:
            return f'<td class="number">{text}</td>'
        of = "" if datatype == XSD + "string" else f' title="{escape(datatype)}"'
        return f"<td{of}>{text}</td>"
    return f"<td>{escape(cut(str(term)))}</td>"


def cut(text: str) -> str:
    """A text that is not too long."""
    return text if len(text) <= _TEXT_MAX else text[: _TEXT_MAX - 1] + "…"


def shorten(iri: str, prefixes: Mapping[str, str]) -> str:
    """An IRI with a prefix, where there is one for it."""
    best = max(
        (found for found in prefixes.items() if iri.startswith(found[1])), key=lambda found: len(found[1]), default=None
    )
    if best is not None and re.fullmatch(r"[\w.-]*", iri[len(best[1]) :]):
        return f"{best[0]}:{iri[len(best[1]):]}"
    return iri


def label(term: Term, prefixes: Mapping[str, str]) -> str:
    """A term in a few words."""
    if isinstance(term, IRI):
        short = shorten(term.value, prefixes)
        return short if short != term.value else re.split(r"[/#]", term.value.rstrip("/#"))[-1] or term.value
    if isinstance(term, Literal):
        return term.value
    return f"_:{term.value}" if isinstance(term, BlankNode) else str(term)

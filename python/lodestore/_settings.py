"""How something is to be done: what callers say, in the form that the extension module reads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, TypedDict, Union

from ._lodestore import BlankNode
from ._values import Term, Value, to_term

_Bytes = bytes
Bytes = Union[int, str]
"""A number of bytes, or a text such as `'512MiB'`."""

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}


class QueryOptions(TypedDict, total=False):
    """How a query runs; all may be left out."""

    bindings: Mapping[str, Union[Term, Value]]
    """Values for variables of the query, by name: its parameters. They are never read as text of the query."""
    base: str
    """What relative IRIs are resolved against."""
    union_default_graph: bool
    """Whether patterns outside GRAPH see all graphs, and not the default graph alone."""
    default_graphs: Sequence[str]
    """Graphs in the place of the query's FROM."""
    named_graphs: Sequence[str]
    """Graphs in the place of the query's FROM NAMED."""
    reason: str
    """Of queries: rules by which what follows from the data is found, too: `'hierarchies'`, `'rdfs'`, `'rdfs-plus'`, or single ones."""
    schema_graphs: Sequence[str]
    """The graphs that have the schema for `reason`; unless told, all."""
    timeout: float
    """Seconds that it may take."""
    memory: Bytes
    """Memory that it may take, of the database's."""
    threads: int
    """Threads that may work on it."""
    rows_max: int
    """Rows that its answer may have."""
    allow_service: Sequence[str]
    """Endpoints that SERVICE may ask: IRIs, or beginnings of them that end in `*`."""
    allow_load: Sequence[str]
    """Of updates: folders, files and beginnings of addresses that LOAD may read."""
    at: str
    """Of queries: the name of a snapshot to be asked."""


@dataclass(frozen=True)
class OpenSettings:
    create: bool
    read_only: bool
    memory: Optional[int]
    cache: Optional[int]


@dataclass(frozen=True)
class RunSettings:
    base: Optional[str] = None
    union_default_graph: bool = False
    default_graphs: Sequence[str] = ()
    named_graphs: Sequence[str] = ()
    reason: Optional[str] = None
    schema_graphs: Sequence[str] = ()
    timeout: Optional[float] = None
    memory: Optional[int] = None
    threads: Optional[int] = None
    rows_max: Optional[int] = None
    bindings: List[Tuple[str, Term]] = field(default_factory=list)
    allow_service: Sequence[str] = ()
    allow_load: Sequence[str] = ()
    at: Optional[str] = None


@dataclass(frozen=True)
class LoadSettings:
    format: Optional[str] = None
    graph: Optional[str] = None
    base: Optional[str] = None
    lenient: bool = False
    quarantine: Optional[str] = None
    threads: Optional[int] = None
    memory: Optional[int] = None
    timeout: Optional[float] = None
    progress: Optional[Callable[[Dict[str, Any]], object]] = None


@dataclass(frozen=True)
class Pattern:
    subject: Optional[Term]
    predicate: Optional[Term]
    object: Optional[Term]
    graphs: Sequence[Optional[Term]]


@dataclass(frozen=True)
class Document:
    name: str
    bytes: "_Bytes"
    format: str
    graph: Optional[str]
    base: Optional[str]


@dataclass(frozen=True)
class ServeSettings:
    bind: str
    timeout: Optional[float]
    anonymous: Optional[str]
    users: Optional[str]
    hosts: Sequence[str]
    cors: Sequence[str]


def run_settings(text: str, options: Mapping[str, Any]) -> RunSettings:
    """The settings of a query or an update."""
    known = set(QueryOptions.__annotations__)
    for name in options:
        if name not in known:
            raise TypeError(f"there is no option {name!r}: use some of {', '.join(sorted(known))}")
    settings = dict(options)
    settings["bindings"] = _bindings(text, options.get("bindings"))
    settings["memory"] = bytes_of(options.get("memory"))
    for name in ("default_graphs", "named_graphs", "schema_graphs", "allow_service", "allow_load"):
        if isinstance(settings.get(name), str):
            raise TypeError(f"{name} takes a list of texts, and not one text")
        settings[name] = [str(getattr(entry, "value", entry)) for entry in settings.get(name) or ()]
    return RunSettings(**settings)


def _bindings(text: str, bindings: Optional[Mapping[str, Union[Term, Value]]]) -> List[Tuple[str, Term]]:
    terms: List[Tuple[str, Term]] = []
    for name, value in (bindings or {}).items():
        name = name[1:] if name[:1] in ("?", "$") else name
        # One that is mistyped would let the query find what it must not.
        if not has_variable(text, name):
            raise ValueError(f"bindings: the text has no variable ?{name}")
        term = to_term(value)
        if isinstance(term, BlankNode):
            raise TypeError(f"bindings: ?{name} is a blank node, which a query can not name: quads() finds what it has")
        terms.append((name, term))
    return terms


def has_variable(text: str, name: str) -> bool:
    """Whether a text names a variable, as far as can be told without reading it as SPARQL."""
    return re.search(r"[?$]" + re.escape(name) + r"(?!\w)", text) is not None


def bytes_of(size: Optional[Bytes]) -> Optional[int]:
    """A number of bytes.

    >>> bytes_of("1.5 GiB")
    1610612736
    """
    if size is None or isinstance(size, int):
        return size
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", size)
    unit = _UNITS.get(found[2].upper()) if found else None
    if found is None or unit is None:
        raise ValueError(f"{size!r} is no number of bytes: give a number, or a text such as '512MiB'")
    return int(float(found[1]) * unit)

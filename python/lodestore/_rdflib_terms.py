"""Terms of rdflib and of Lodestore.

Blank nodes are the delicate part. A database numbers its own, and shows them as `b12`; rdflib has labels of its own. So nodes that came from
rdflib are remembered, with the numbers that they got, for as long as the store is there; all others are shown to rdflib as `lodeb12`.

rdflib takes any text for an IRI, and a database does not. One that is none is kept as `urn:x-rdflib:text:` and what it is, percent-encoded; it
comes back as it was.
"""

from __future__ import annotations

import contextlib
import re
from typing import Dict, Final, Iterable, List, Optional, Tuple, Union
from urllib.parse import quote, unquote

from rdflib import BNode, Literal, URIRef
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.term import Node as RdflibNode

from . import _lodestore as lode
from ._requests import Node
from ._transaction import Transaction
from ._values import XSD, Term

_NO_IRI = "urn:x-rdflib:text:"
_SHOWN = re.compile(r"lode(b\d+)")
_Pattern = Tuple[Optional[RdflibNode], Optional[RdflibNode], Optional[RdflibNode]]
_Quad = Tuple[Node, lode.IRI, Term, Optional[Node]]


class Unknown:
    """What no database can hold yet: a blank node that it has not been given."""


class Terms:
    """The terms of a store."""

    UNKNOWN: Final = Unknown()

    def __init__(self) -> None:
        # By rdflib's label, and by the database's.
        self._given: Dict[str, lode.BlankNode] = {}
        self._shown: Dict[str, BNode] = {}
        # By the label that it has until it gets a number.
        self._waiting: Dict[str, BNode] = {}

    def to_rdflib(self, term: Term) -> Union[URIRef, BNode, Literal]:
        """A term for rdflib."""
        if isinstance(term, lode.IRI):
            if term.value.startswith(_NO_IRI):
                return URIRef(unquote(term.value[len(_NO_IRI) :]))
            return URIRef(term.value)
        if isinstance(term, lode.Literal):
            datatype = term.datatype.value
            if term.language is not None:
                return Literal(term.value, lang=term.language)
            is_string = datatype == XSD + "string"
            return Literal(term.value, datatype=None if is_string else self.to_rdflib(term.datatype), normalize=False)
        if isinstance(term, lode.BlankNode):
            return self._shown.get(term.value) or BNode("lode" + term.value)
        raise ValueError("rdflib has no triple terms")

    def triple(
        self, subject: Node, predicate: lode.IRI, object: Term
    ) -> Tuple[Union[URIRef, BNode, Literal], Union[URIRef, BNode, Literal], Union[URIRef, BNode, Literal]]:
        """A triple for rdflib."""
        return self.to_rdflib(subject), self.to_rdflib(predicate), self.to_rdflib(object)

    def to_lodestore(self, term: RdflibNode) -> Term:
        """A term for a database. A blank node that it does not know keeps its label."""
        if isinstance(term, BNode):
            shown = _SHOWN.fullmatch(term)
            if shown:
                return lode.BlankNode(shown[1])
            return self._given.get(term) or lode.BlankNode(_label(term))
        if isinstance(term, URIRef):
            return _iri(str(term))
        if isinstance(term, Literal):
            return lode.Literal(
                str(term),
                datatype=None if term.datatype is None or term.language else _iri(str(term.datatype)),
                language=term.language,
            )
        raise ValueError(f"{type(term).__name__} {term!r} is no term of RDF")

    def _is_known(self, term: RdflibNode) -> bool:
        return not isinstance(term, BNode) or term in self._given or _SHOWN.fullmatch(term) is not None

    def graph(self, name: RdflibNode) -> Union[Node, Unknown, None]:
        """The name of a graph for a database: none of the default graph."""
        if name == DATASET_DEFAULT_GRAPH_ID:
            return None
        if not self._is_known(name):
            return self.UNKNOWN
        return self.to_lodestore(name)  # type: ignore[return-value]

    def pattern(self, pattern: _Pattern) -> Optional[Tuple[Optional[Term], Optional[Term], Optional[Term]]]:
        """A pattern for a database; nothing, where it can have no such triple."""
        if any(term is not None and not self._is_known(term) for term in pattern):
            return None
        subject, predicate, object = (None if term is None else self.to_lodestore(term) for term in pattern)
        if isinstance(subject, lode.Literal) or isinstance(predicate, (lode.Literal, lode.BlankNode)):
            return None
        return subject, predicate, object

    def quad(self, subject: RdflibNode, predicate: RdflibNode, object: RdflibNode, graph: RdflibNode) -> _Quad:
        """A quad to be added."""
        name = None if graph == DATASET_DEFAULT_GRAPH_ID else self.to_lodestore(graph)
        found = self.to_lodestore(subject), self.to_lodestore(predicate), self.to_lodestore(object)
        for node in (subject, object, graph):
            if isinstance(node, BNode) and not self._is_known(node):
                self._waiting[_label(node)] = node
        return (*found, name)  # type: ignore[return-value]

    def known(self, quads: Iterable[_Quad], transaction: Transaction) -> List[_Quad]:
        """Quads whose blank nodes are all the database's: those that are new get their numbers."""
        waiting, self._waiting = self._waiting, {}
        numbered: Dict[Term, lode.BlankNode] = {}
        for (label, node), own in zip(waiting.items(), transaction.blank_nodes(len(waiting))):
            self._given[node] = own
            self._shown[own.value] = node
            numbered[lode.BlankNode(label)] = own
        if not numbered:
            return list(quads)
        return [
            (numbered.get(s, s), p, numbered.get(o, o), g if g is None else numbered.get(g, g)) for s, p, o, g in quads
        ]


def _iri(text: str) -> lode.IRI:
    if not text.startswith(_NO_IRI):
        with contextlib.suppress(ValueError):
            return lode.IRI(text)
    return lode.IRI(_NO_IRI + quote(text, safe=""))


def _label(node: BNode) -> str:
    """A label that every database takes, and that none has given: rdflib has all kinds of texts."""
    text = str(node)
    return "r" + text if re.fullmatch(r"[A-Za-z0-9]+", text) else "x" + text.encode().hex()

"""Queries, which databases and transactions take alike."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Dict, Iterator, Mapping, Optional, Sequence, Tuple, Union

from ._errors import QueryError
from ._lodestore import IRI, Answer, BlankNode, QuadReader
from ._results import Result, Solutions, Triples, result
from ._settings import Pattern, QueryOptions, RunSettings, run_settings
from ._values import Term, Value, to_term

if TYPE_CHECKING:
    from typing_extensions import Unpack


Node = Union[IRI, BlankNode]
"""What subjects and graphs are."""
Quad = Tuple[Node, IRI, Union[Term, Value], Optional[Node]]
"""Subject, predicate, object, and the graph; `None` is the default graph."""


def pattern(
    subject: Optional[Node],
    predicate: Optional[IRI],
    object: Union[Term, Value, None],
    graphs: Sequence[Optional[Node]],
) -> Pattern:
    return Pattern(subject, predicate, None if object is None else to_term(object), list(graphs))


class Queries(ABC):
    """What can be asked."""

    @abstractmethod
    def _ask(self, text: str, settings: RunSettings) -> Answer: ...

    def _answer(self, text: str, options: Mapping[str, Any]) -> Answer:
        return self._ask(text, run_settings(text, options))

    def query(self, text: str, **options: "Unpack[QueryOptions]") -> Result:
        """Runs a query of any form.

        >>> import lodestore
        >>> lodestore.open().query("ASK { FILTER (1 + 1 = 2) }")
        True
        """
        return result(self._answer(text, options))

    def select(self, text: str, **options: "Unpack[QueryOptions]") -> Solutions:
        """Runs a SELECT.

        >>> import lodestore
        >>> query = "SELECT ?sum { BIND (?a + ?b AS ?sum) }"
        >>> lodestore.open().select(query, bindings={"a": 1, "b": 2}).to_dicts()
        [{'sum': 3}]
        """
        found = self.query(text, **options)
        if not isinstance(found, Solutions):
            raise QueryError("this is no SELECT: use query(), ask() or construct()")
        return found

    def ask(self, text: str, **options: "Unpack[QueryOptions]") -> bool:
        """Runs an ASK."""
        found = self.query(text, **options)
        if not isinstance(found, bool):
            raise QueryError("this is no ASK: use query(), select() or construct()")
        return found

    def construct(self, text: str, **options: "Unpack[QueryOptions]") -> Triples:
        """Runs a CONSTRUCT or a DESCRIBE."""
        found = self.query(text, **options)
        if not isinstance(found, Triples):
            raise QueryError("this is no CONSTRUCT or DESCRIBE: use query(), select() or ask()")
        return found

    @abstractmethod
    def _quads(self, pattern: Pattern) -> QuadReader: ...

    def quads(
        self,
        subject: Optional[Node] = None,
        predicate: Optional[IRI] = None,
        object: Union[Term, Value, None] = None,
        graphs: Sequence[Optional[Node]] = (),
    ) -> Iterator[Tuple[Node, IRI, Term, Optional[Node]]]:
        """The quads that match, of some graphs (`None` is the default graph) or of all. Those of one triple come one after the other.

        >>> import lodestore
        >>> db = lodestore.open()
        >>> _ = db.update("INSERT DATA { GRAPH <e:g> { <e:ann> <e:age> 41 } }")
        >>> [(object.to_python(), graph) for _, _, object, graph in db.quads(lodestore.IRI("e:ann"))]
        [(41, IRI('e:g'))]
        """
        return _each(self._quads(pattern(subject, predicate, object, graphs)))

    def profile(self, text: str, **options: "Unpack[QueryOptions]") -> Dict[str, Any]:
        """Runs a query to its end and tells what its operators did: rows and seconds of each."""
        answer = self._answer(text, options)
        if answer.kind != "boolean":
            while answer.next_rows():
                pass
        report: Dict[str, Any] = json.loads(answer.report())
        return report


def _each(reader: QuadReader) -> Iterator[Tuple[Node, IRI, Term, Optional[Node]]]:
    while quads := reader.next_quads():
        yield from quads

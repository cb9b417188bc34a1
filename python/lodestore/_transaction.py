"""Transactions over several requests."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Callable, Iterable, List, NamedTuple, Optional, Sequence, Type, Union

from ._lodestore import IRI, Answer, BlankNode, NativeTransaction, QuadReader
from ._requests import Node, Quad, Queries, pattern
from ._settings import Document, Pattern, QueryOptions, RunSettings, run_settings
from ._values import Term, Value, to_term

if TYPE_CHECKING:
    from typing_extensions import Unpack

class Commit(NamedTuple):
    """What a transaction has changed."""

    inserted: int
    deleted: int
    version: int


class Transaction(Queries):
    """Several requests that happen together or not at all. As a context manager it commits at the end, and rolls back on an exception.

    It has the write lock until it ends: other writers wait. A request that fails rolls all of it back.

    >>> import lodestore
    >>> db = lodestore.open()
    >>> with db.transaction() as tx:
    ...     tx.update("INSERT DATA { <e:a> <e:p> 1 }")
    ...     tx.ask("ASK { <e:a> <e:p> 1 }"), db.ask("ASK { <e:a> <e:p> 1 }")
    (True, False)
    >>> db.ask("ASK { <e:a> <e:p> 1 }")
    True
    """

    def __init__(self, native: NativeTransaction, ended: Callable[[], None]) -> None:
        self._native = native
        self._ended = ended
        self.result: Optional[Commit] = None
        """What was changed, after the commit."""

    def _ask(self, text: str, settings: RunSettings) -> Answer:
        return self._native.query(text, settings)

    def update(self, text: str, **options: "Unpack[QueryOptions]") -> None:
        """Runs an update."""
        self._native.update(text, run_settings(text, options))

    def load(
        self, document: bytes, format: str, *, graph: Optional[str] = None, base: Optional[str] = None
    ) -> None:
        """Adds the statements of a document (`Database.load` is for large ones)."""
        self._native.load(Document("document", document, format, graph, base))

    def add(self, quads: Iterable[Quad]) -> None:
        """Adds quads. Blank nodes that answers or `blank_node()` have given are those of the database; each other one is new."""
        self._native.insert([(s, p, to_term(o), g) for s, p, o, g in quads])

    def remove(
        self,
        subject: Optional[Node] = None,
        predicate: Optional[IRI] = None,
        object: Union[Term, Value, None] = None,
        graphs: Sequence[Optional[Node]] = (),
    ) -> None:
        """Removes the quads that match, from some graphs (`None` is the default graph) or from all."""
        self._native.remove(pattern(subject, predicate, object, graphs))

    def blank_node(self) -> BlankNode:
        """A new blank node of the database."""
        return self._native.new_blanks(1)[0]

    def blank_nodes(self, count: int) -> List[BlankNode]:
        """New blank nodes of the database."""
        return self._native.new_blanks(count)

    def _quads(self, pattern: Pattern) -> QuadReader:
        return self._native.quads(pattern)

    def graphs(self) -> List[Node]:
        """The names of all graphs that have quads, without the default graph."""
        return self._native.graphs()

    @property
    def has_ended(self) -> bool:
        """Whether it was committed or rolled back, as Ctrl-C does."""
        return self._native.has_ended()

    def commit(self) -> Commit:
        """Makes all of it durable and visible."""
        try:
            self.result = Commit(*self._native.commit())
        finally:
            self._ended()
        return self.result

    def rollback(self) -> None:
        """Leaves everything as it was."""
        try:
            self._native.rollback()
        finally:
            self._ended()

    def __enter__(self) -> "Transaction":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if kind is not None:
            self.rollback()
        elif not self.has_ended:
            self.commit()

"""Answers: rows, triples, and the same as columns."""

from __future__ import annotations

import io
import json
from typing import IO, TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple, Union

from ._lodestore import Answer, Literal, Triple
from ._values import Term, Value

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Row:
    """A row of an answer: terms by the name of their variable, or by its place. What is unbound is `None`.

    >>> import lodestore
    >>> row = next(lodestore.open().select("SELECT (41 AS ?age) ?name {}"))
    >>> row["age"].to_python(), row[0].value, row["name"]
    (41, '41', None)
    >>> age, name = row
    """

    __slots__ = ("_names", "_terms")

    def __init__(self, names: Dict[str, int], terms: Tuple[Optional[Term], ...]) -> None:
        self._names = names
        self._terms = terms

    def __getitem__(self, key: Union[str, int]) -> Optional[Term]:
        return self._terms[key if isinstance(key, int) else self._names[key.lstrip("?")]]

    def __iter__(self) -> Iterator[Optional[Term]]:
        return iter(self._terms)

    def __len__(self) -> int:
        return len(self._terms)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Row):
            return self._terms == other._terms and self._names.keys() == other._names.keys()
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._terms)

    def keys(self) -> List[str]:
        """The variables, without `?`."""
        return list(self._names)

    def asdict(self) -> Dict[str, Term]:
        """What is bound, by variable."""
        return {name: term for name, term in zip(self._names, self._terms) if term is not None}

    def to_python(self) -> Tuple[Union[Value, Term, None], ...]:
        """The values of literals, IRIs as texts, and all other terms as they are."""
        return tuple(_plain(term) for term in self._terms)

    def __repr__(self) -> str:
        terms = ", ".join(f"{name}={term!r}" for name, term in zip(self._names, self._terms))
        return f"Row({terms})"


def _plain(term: Optional[Term]) -> Union[Value, Term, None]:
    return term.to_python() if isinstance(term, Literal) else getattr(term, "value", term)


class Columns:
    """What answers of rows and of triples have in common. An answer is read once: by iterating, or as a whole in one of its forms."""

    _default_format = "json"

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        """The answer as a stream of Arrow's C interface: rows are computed while the stream is read, and are never all in memory."""
        return self._answer.stream("typed")

    def to_arrow(self, form: str = "typed") -> "pyarrow.Table":
        """The answer as a table of pyarrow, without a copy.

        `form` is `'typed'` (columns of numbers, dates and texts where all values are of one kind), `'struct'` (kind, value, datatype and
        language of each term) or `'text'`.
        """
        import pyarrow

        return pyarrow.table(self._answer.batches(form, False))

    def to_pandas(self, form: str = "typed", *, categories: bool = False, **options: Any) -> "pandas.DataFrame":
        """The answer as a data frame of pandas: texts as such, or as categories. `options` are those of `pyarrow.Table.to_pandas`."""
        import pyarrow

        frame: "pandas.DataFrame" = pyarrow.table(self._answer.batches(form, not categories)).to_pandas(**options)
        return frame

    def to_polars(self, form: str = "typed") -> "polars.DataFrame":
        """The answer as a data frame of Polars."""
        import polars

        return polars.DataFrame(self._answer.batches(form, True))

    def serialize(self, format: Optional[str] = None) -> bytes:
        """The answer in a format: `json`, `xml`, `csv`, `tsv`, `table`, `arrow`, `parquet`; triples as `ttl`, `nt`, `rdf`, `jsonld`."""
        file = io.BytesIO()
        self.write(file, format)
        return file.getvalue()

    def write(self, file: IO[bytes], format: Optional[str] = None) -> int:
        """Writes the answer into a file that is open for bytes; returns how many rows it has."""
        return self._answer.write(format or self._default_format, file)

    @property
    def warnings(self) -> List[str]:
        """What of the query is most likely not meant."""
        return self._answer.warnings()

    def explain(self) -> str:
        """The plan, for people."""
        return self._answer.explain()

    def report(self) -> Dict[str, Any]:
        """The plan, and what has become of it so far: rows and seconds of each operator."""
        report: Dict[str, Any] = json.loads(self._answer.report())
        return report

    def close(self) -> None:
        """Ends the query, if it still runs."""
        self._answer.close()


class Solutions(Columns):
    """The answer of a SELECT: an iterator over rows, which are computed as they are asked for.

    >>> import lodestore
    >>> db = lodestore.open()
    >>> _ = db.update("INSERT DATA { <e:ann> <e:age> 41 . <e:bob> <e:age> 7 }")
    >>> for row in db.select("SELECT ?who ?age { ?who <e:age> ?age } ORDER BY ?age"):
    ...     print(row["who"], row["age"].to_python())
    <e:bob> 7
    <e:ann> 41
    """

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self.variables: Tuple[str, ...] = tuple(answer.variables())
        self._names = {name: place for place, name in enumerate(self.variables)}
        self._rows: Iterator[Row] = self._read()

    def _read(self) -> Iterator[Row]:
        names = self._names
        while rows := self._answer.next_rows():
            for terms in rows:
                yield Row(names, terms)

    def __iter__(self) -> "Solutions":
        return self

    def __next__(self) -> Row:
        return next(self._rows)

    def rows(self) -> List[Row]:
        """All rows that were not read yet."""
        return list(self._rows)

    def to_dicts(self) -> List[Dict[str, Union[Value, Term, None]]]:
        """All rows as dictionaries: values of literals, IRIs as texts."""
        return [dict(zip(self.variables, row.to_python())) for row in self._rows]


class Triples(Columns):
    """The answer of a CONSTRUCT or DESCRIBE: an iterator over triples, without duplicates.

    >>> import lodestore
    >>> triple = next(lodestore.open().construct("CONSTRUCT { <e:ann> <e:age> 41 } {}"))
    >>> triple.subject, triple.object.to_python()
    (IRI('e:ann'), 41)
    >>> subject, predicate, object = triple
    """

    _default_format = "ttl"

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self._triples: Iterator[Triple] = self._read()

    def _read(self) -> Iterator[Triple]:
        while triples := self._answer.next_rows():
            yield from triples

    def __iter__(self) -> "Triples":
        return self

    def __next__(self) -> Triple:
        return next(self._triples)

    def triples(self) -> List[Triple]:
        """All triples that were not read yet."""
        return list(self._triples)


Result = Union[Solutions, Triples, bool]
"""What a query answers: rows (SELECT), triples (CONSTRUCT and DESCRIBE), or a truth value (ASK)."""


def result(answer: Answer) -> Result:
    """The answer in its class."""
    if answer.kind == "solutions":
        return Solutions(answer)
    if answer.kind == "graph":
        return Triples(answer)
    return answer.boolean()

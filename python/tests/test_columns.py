"""Answers as columns: pyarrow, pandas, Polars, and whoever else reads Arrow's C interface."""

from __future__ import annotations

import gc
from datetime import date
from decimal import Decimal

import lodestore
import pandas
import polars
import pyarrow
import pytest

QUERY = """
PREFIX : <http://example.org/>
SELECT ?who ?age ?born ?score { ?who :age ?age OPTIONAL { ?who :born ?born ; :score ?score } } ORDER BY ?age
"""


def test_tables_of_pyarrow(people: lodestore.Database) -> None:
    table = people.select(QUERY).to_arrow()
    assert table.column_names == ["who", "age", "born", "score"]
    assert table.schema.field("age").type == pyarrow.int64()
    assert table.schema.field("born").type == pyarrow.date32()
    assert table.schema.field("who").metadata == {b"rdf.kind": b"iri"}
    assert table.to_pylist() == [
        {"who": "http://example.org/bob", "age": 7, "born": None, "score": None},
        {"who": "http://example.org/ann", "age": 41, "born": date(1984, 2, 3), "score": 1.5},
    ]


def test_any_taker_reads_the_answer_as_a_stream(people: lodestore.Database) -> None:
    reader = pyarrow.RecordBatchReader.from_stream(people.select(QUERY))
    assert reader.read_all().num_rows == 2
    assert pyarrow.table(people.select(QUERY)).num_rows == 2
    assert polars.DataFrame(people.select(QUERY)).height == 2
    triples = pyarrow.table(people.construct("CONSTRUCT WHERE { ?s ?p ?o }"))
    assert triples.column_names == ["subject", "predicate", "object"] and triples.num_rows == 8


def test_frames(people: lodestore.Database) -> None:
    frame = people.select(QUERY).to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["age"]) == [7, 41] and list(frame["who"]) == ["http://example.org/bob", "http://example.org/ann"]
    assert not isinstance(frame["who"].dtype, pandas.CategoricalDtype)
    categories = people.select(QUERY).to_pandas(categories=True)
    assert isinstance(categories["who"].dtype, pandas.CategoricalDtype) and list(categories["who"]) == list(frame["who"])
    other = people.select(QUERY).to_polars()
    assert isinstance(other, polars.DataFrame)
    assert other["age"].to_list() == [7, 41] and other["who"].to_list()[1] == "http://example.org/ann"
    assert other.schema["who"] == polars.String and frame["born"].isna().tolist() == [True, False]
    prices = people.select("SELECT ?w { ?s <http://example.org/weight> ?w }").to_arrow()
    assert prices.to_pylist() == [{"w": Decimal("61.500000000000000000")}]


def test_columns_of_mixed_terms_are_structs(people: lodestore.Database) -> None:
    query = "SELECT ?o { <http://example.org/bob> ?p ?o } ORDER BY ?o"
    row = people.select(query).to_arrow().to_pylist()[-1]
    assert row == {"o": {"kind": "literal", "value": "Bob", "datatype": row["o"]["datatype"], "language": "en"}}
    assert people.select(query).to_arrow("text").to_pylist() == [{"o": "7"}, {"o": "Bob"}]
    assert people.select(query).to_polars().height == 2
    assert people.select(query).to_pandas().to_dict("list")["o"][0]["value"] == "7"
    with pytest.raises(lodestore.FormatError, match="'typed'"):
        people.select(query).to_arrow("other")


def test_an_answer_is_read_once(people: lodestore.Database) -> None:
    answer = people.select(QUERY)
    answer.to_arrow()
    for again in (answer.to_arrow, answer.to_polars, answer.serialize, answer.__arrow_c_stream__):
        with pytest.raises(lodestore.Closed, match="run the query again"):
            again()
    with pytest.raises(lodestore.Closed):
        answer.rows()


def test_what_columns_hold_outlives_all_else() -> None:
    db = lodestore.open()
    db.load("".join(f'<e:{n}> <e:p> "text {n}" .\n' for n in range(10_000)).encode(), format="ttl")
    table = db.select("SELECT ?o { ?s ?p ?o }").to_arrow()
    stream = pyarrow.RecordBatchReader.from_stream(db.select("SELECT ?o { ?s ?p ?o }"))
    db.close()
    del db
    gc.collect()
    assert len(set(table["o"].to_pylist())) == 10_000 == stream.read_all().num_rows


def test_streams_that_nobody_reads_are_dropped(people: lodestore.Database) -> None:
    for _ in range(10):
        people.select(QUERY).__arrow_c_stream__()
        pyarrow.RecordBatchReader.from_stream(people.select(QUERY)).close()
    gc.collect()


def test_errors_while_a_stream_is_read_have_the_message_of_the_engine(db: lodestore.Database) -> None:
    db.load("".join(f"<e:{n}> <e:p> {n} .\n" for n in range(2000)).encode(), format="ttl")
    cross = "SELECT ?c { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER (?c + ?f = ?i + 0.5) }"
    with pytest.raises(lodestore.Timeout):
        db.select(cross, timeout=0.1).to_arrow()
    with pytest.raises(lodestore.TooManyRows):
        db.select("SELECT * { ?s ?p ?o }", rows_max=10).to_pandas()
    with pytest.raises(lodestore.MemoryLimit):
        db.select("SELECT ?a ?d { ?a ?b ?c . ?d ?e ?f }", memory="2MiB").to_arrow()

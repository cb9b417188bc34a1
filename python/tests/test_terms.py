"""Terms: what they are made of, equality, and values of Python."""

from __future__ import annotations

import copy
import pickle
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import List

import pytest
from lodestore import IRI, BlankNode, Literal, Triple, to_term

XSD = "http://www.w3.org/2001/XMLSchema#"


def test_terms_show_what_they_are() -> None:
    ann = IRI("http://example.org/ann")
    assert (ann.value, str(ann), repr(ann)) == (
        "http://example.org/ann",
        "<http://example.org/ann>",
        "IRI('http://example.org/ann')",
    )
    assert repr(BlankNode("b1")) == "BlankNode('b1')" and str(BlankNode("b1")) == "_:b1"
    assert BlankNode() != BlankNode()
    text = Literal("it's", language="en")
    assert (text.value, text.language, text.datatype.value) == (
        "it's",
        "en",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString",
    )
    assert repr(text) == """Literal("it's", language='en')"""
    assert Literal("x", language="ar", direction="rtl").direction == "rtl"
    assert str(Literal(1)) == f'"1"^^<{XSD}integer>'
    triple = Triple(ann, IRI("e:p"), Triple(BlankNode("b"), IRI("e:q"), Literal("x")))
    subject, predicate, object = triple
    assert (subject, predicate, isinstance(object, Triple)) == (ann, IRI("e:p"), True)
    assert eval(repr(triple)) == triple


def test_terms_are_equal_if_they_are_the_same_term() -> None:
    assert IRI("e:a") == IRI("e:a") != IRI("e:b")
    assert len({IRI("e:a"), IRI("e:a"), Literal("e:a"), BlankNode("a"), "e:a"}) == 4
    others: List[object] = [Literal("e:a"), "e:a", None]
    assert all(IRI("e:a") != other for other in others)
    # Terms and not values: 01 and 1 are two.
    assert Literal("01", datatype=XSD + "integer") != Literal("1", datatype=XSD + "integer")
    assert Literal("x", datatype=XSD + "string") == Literal("x")
    assert IRI("e:a") < IRI("e:b") and sorted([BlankNode("b"), BlankNode("a")])[0].value == "a"


@pytest.mark.parametrize(
    "term",
    [
        IRI("e:a"),
        BlankNode("x"),
        Literal("x"),
        Literal("x", language="en-GB"),
        Literal("x", language="en", direction="ltr"),
        Literal("1", datatype=XSD + "byte"),
        Triple(IRI("e:a"), IRI("e:b"), Literal("c", language="fr")),
    ],
)
def test_terms_are_pickled_and_copied(term: object) -> None:
    assert pickle.loads(pickle.dumps(term)) == term == copy.deepcopy(term)


def test_what_is_no_term_is_refused() -> None:
    for text in ["", "ann", "http://example.org/a b", "http://exa<mple"]:
        with pytest.raises(ValueError, match="is no absolute IRI"):
            IRI(text)
    with pytest.raises(ValueError, match="is no label"):
        BlankNode("a b")
    with pytest.raises(ValueError, match="is no language tag"):
        Literal("x", language="not a tag")
    with pytest.raises(ValueError, match="not both"):
        Literal("x", datatype=XSD + "string", language="en")
    with pytest.raises(ValueError, match="goes with a language"):
        Literal("x", direction="ltr")
    with pytest.raises(ValueError, match="has a language"):
        Literal("x", datatype="http://www.w3.org/1999/02/22-rdf-syntax-ns#langString")
    with pytest.raises(TypeError, match="goes with a text"):
        Literal(1, datatype=XSD + "integer")
    with pytest.raises(TypeError, match="list is no literal"):
        Literal([])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must"):
        Triple(Literal("x"), IRI("e:p"), Literal("x"))  # type: ignore[arg-type]
    deep = Triple(IRI("e:a"), IRI("e:b"), IRI("e:c"))
    with pytest.raises(ValueError, match="nest more than 64 deep"):
        for _ in range(64):
            deep = Triple(IRI("e:a"), IRI("e:b"), deep)


VALUES = [
    (True, "boolean", "true"),
    (41, "integer", "41"),
    (-(10**30), "integer", "-1000000000000000000000000000000"),
    (1.5, "double", "1.5e0"),
    (1e300, "double", "1e+300"),
    (float("inf"), "double", "INF"),
    (float("-inf"), "double", "-INF"),
    (Decimal("1.50"), "decimal", "1.50"),
    (Decimal("1E+3"), "decimal", "1000"),
    (date(2026, 2, 3), "date", "2026-02-03"),
    (datetime(2026, 2, 3, 4, 5, 6, 789000), "dateTime", "2026-02-03T04:05:06.789000"),
    (datetime(2026, 2, 3, 4, 5, 6, tzinfo=timezone.utc), "dateTime", "2026-02-03T04:05:06Z"),
    (datetime(2026, 2, 3, tzinfo=timezone(timedelta(hours=-3))), "dateTime", "2026-02-03T00:00:00-03:00"),
    (time(4, 5, 6), "time", "04:05:06"),
    (timedelta(days=1, hours=2, seconds=3.5), "dayTimeDuration", "P1DT7203.5S"),
    (-timedelta(minutes=1), "dayTimeDuration", "-P0DT60S"),
    (b"\x00\xff", "base64Binary", "AP8="),
]


@pytest.mark.parametrize("value, datatype, text", VALUES)
def test_values_become_literals_and_come_back(value: object, datatype: str, text: str) -> None:
    literal = Literal(value)  # type: ignore[arg-type]
    assert (literal.value, literal.datatype.value) == (text, XSD + datatype)
    back = literal.to_python()
    assert back == value and type(back) is type(value)
    assert to_term(value) == literal


@pytest.mark.parametrize(
    "text, datatype, value",
    [
        ("0", "boolean", False),
        ("+007", "unsignedByte", 7),
        (" 7 ", "int", 7),
        ("-.5", "decimal", Decimal("-0.5")),
        ("INF", "float", float("inf")),
        ("2026-02-03T04:05:06.1234567Z", "dateTime", "2026-02-03T04:05:06.1234567Z"),
        ("2026-02-03T04:05:06.12000000Z", "dateTime", datetime(2026, 2, 3, 4, 5, 6, 120000, timezone.utc)),
        ("ff", "hexBinary", b"\xff"),
        ("P1DT2H3M4.5S", "dayTimeDuration", timedelta(days=1, hours=2, minutes=3, seconds=4.5)),
        ("urn:x", "anyURI", "urn:x"),
        # What Python has no value for, or what is none, stays a text.
        ("2026-02-03Z", "date", "2026-02-03Z"),
        ("-0001-01-01", "date", "-0001-01-01"),
        ("24:00:00", "time", "24:00:00"),
        ("2026-02-30", "date", "2026-02-30"),
        ("P1Y", "yearMonthDuration", "P1Y"),
        ("PT", "dayTimeDuration", "PT"),
        ("P99999999999D", "dayTimeDuration", "P99999999999D"),
        ("1_000", "integer", "1_000"),
        ("٣", "integer", "٣"),
        ("nan", "double", "nan"),
        ("yes", "boolean", "yes"),
        ("1,5", "decimal", "1,5"),
        ("A", "hexBinary", "A"),
        ("9" * 5000, "integer", "9" * 5000),
    ],
)
def test_lexical_forms_become_values(text: str, datatype: str, value: object) -> None:
    back = Literal(text, datatype=XSD + datatype).to_python()
    assert back == value and type(back) is type(value)


def test_not_a_number_is_one_in_python() -> None:
    nan = Literal(float("nan")).to_python()
    assert nan != nan

"""What tests share."""

from __future__ import annotations

from typing import Iterator

import lodestore
import pytest


@pytest.fixture
def db() -> Iterator[lodestore.Database]:
    """An empty database in memory."""
    with lodestore.open() as database:
        yield database


@pytest.fixture
def people(db: lodestore.Database) -> lodestore.Database:
    """Two people, of whom one is described in a graph of its own."""
    db.load(
        b"""
        @prefix : <http://example.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        :ann :name "Ann" ; :age 41 ; :weight 61.5 ; :score 1.5e0 ; :born "1984-02-03"^^xsd:date ; :knows :bob .
        :bob :name "Bob"@en ; :age 7 .
        :more { :bob :likes "tea" }
        """,
        format="trig",
    )
    return db

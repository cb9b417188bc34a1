"""Transactions: all or nothing."""

from __future__ import annotations

import threading
from typing import List

import lodestore
import pytest
from lodestore import IRI, BlankNode, Literal

A, P, G = IRI("e:a"), IRI("e:p"), IRI("e:g")


def test_the_end_commits(db: lodestore.Database) -> None:
    with db.transaction() as tx:
        tx.update("INSERT DATA { <e:a> <e:p> 1 }")
        tx.add([(A, P, 2, None), (A, P, Literal("x", language="en"), G)])
        tx.load(b"<e:a> <e:p> 3 .", "ttl")
        tx.load(b"<e:a> <e:p> 4 .", "ttl", graph="e:g")
        assert len(list(tx.quads(A))) == 5 and len(db) == 0
        assert tx.select("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }").to_dicts() == [{"n": 3}]
        assert tx.graphs() == [G] and db.graphs() == []
    assert tx.result is not None and tx.result.inserted == 5 and len(db) == 5
    with pytest.raises(lodestore.Closed, match="has ended"):
        tx.update("INSERT DATA { <e:a> <e:p> 5 }")


def test_an_exception_rolls_back(db: lodestore.Database) -> None:
    with pytest.raises(ZeroDivisionError):
        with db.transaction() as tx:
            tx.update("INSERT DATA { <e:a> <e:p> 1 }")
            1 / 0
    assert len(db) == 0
    with db.transaction() as tx:
        tx.update("INSERT DATA { <e:a> <e:p> 1 }")
        tx.rollback()
    assert len(db) == 0
    db.update("INSERT DATA { <e:a> <e:p> 1 }")
    assert len(db) == 1


def test_a_request_that_fails_rolls_back(db: lodestore.Database) -> None:
    with pytest.raises(lodestore.DataSyntaxError):
        with db.transaction() as tx:
            tx.update("INSERT DATA { <e:a> <e:p> 1 }")
            tx.load(b"<e:a> oops", "ttl")
    assert len(db) == 0
    with db.transaction() as tx:
        tx.update("INSERT DATA { <e:a> <e:p> 1 }")
        # What is no SPARQL changes nothing.
        with pytest.raises(lodestore.QuerySyntaxError):
            tx.update("INSERT")
    assert len(db) == 1


def test_commit_by_hand(db: lodestore.Database) -> None:
    tx = db.transaction()
    tx.add([(A, P, 1, None)])
    assert tx.commit() == (1, 0, db.version)
    with pytest.raises(lodestore.Closed):
        tx.commit()
    with db.transaction() as tx:
        tx.remove(A)
        tx.commit()
    assert len(db) == 0


def test_quads_are_removed_by_pattern(db: lodestore.Database) -> None:
    db.load(b"<e:a> <e:p> 1, 2 . <e:g> { <e:a> <e:p> 1 . <e:b> <e:p> 3 }", format="trig")
    with db.transaction() as tx:
        tx.remove(object=1, graphs=[None])
        tx.remove(IRI("e:b"))
        with pytest.raises(TypeError):
            tx.remove("e:b")  # type: ignore[arg-type]
    assert sorted((str(o), g) for _, _, o, g in db.quads()) == [(str(Literal(1)), G), (str(Literal(2)), None)]


def test_blank_nodes(db: lodestore.Database) -> None:
    with db.transaction() as tx:
        node = tx.blank_node()
        tx.add([(node, P, 1, None), (BlankNode("own"), P, 2, None), (BlankNode("own"), P, 3, None)])
    with db.transaction() as tx:
        tx.add([(node, P, 4, None), (BlankNode("own"), P, 5, None)])
    of = {str(o)[1]: s for s, _, o, _ in db.quads()}
    assert of["1"] == of["4"] == node and of["2"] == of["3"] != of["5"]


def test_other_threads_wait(db: lodestore.Database) -> None:
    done: List[int] = []

    def work() -> None:
        done.append(db.update("INSERT DATA { <e:a> <e:p> 2 } ; DELETE WHERE { ?s <e:q> ?o }").inserted)

    with db.transaction() as tx:
        tx.add([(A, P, 1, None)])
        thread = threading.Thread(target=work)
        thread.start()
        thread.join(0.2)
        assert not done
    thread.join(20)
    assert done == [1] and len(db) == 2


def test_a_thread_does_not_wait_for_itself(db: lodestore.Database) -> None:
    with db.transaction():
        for change in (
            lambda: db.update("INSERT DATA { <e:a> <e:p> 1 }"),
            lambda: db.load(b"", format="ttl"),
            lambda: db.transaction(),
        ):
            with pytest.raises(lodestore.Error, match="this thread has an open transaction"):
                change()
        assert db.ask("ASK { ?s ?p ?o }") is False


def test_closing_rolls_back(db: lodestore.Database) -> None:
    tx = db.transaction()
    tx.add([(A, P, 1, None)])
    db.close()
    with pytest.raises(lodestore.Closed):
        tx.add([(A, P, 1, None)])


def test_a_transaction_ends_in_time(db: lodestore.Database) -> None:
    started = threading.Event()
    end = threading.Event()

    def hold() -> None:
        with db.transaction():
            started.set()
            end.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    started.wait(20)
    with pytest.raises(lodestore.Timeout):
        db.transaction(timeout=0.05)
    end.set()
    thread.join(20)

"""Ctrl-C, and the interpreter's lock."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from typing import Callable, Iterator, List

import lodestore
import pyarrow
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends itself signals")

# It counts for hours.
LONG = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l FILTER (?c + ?f = ?i + ?l + 0.5) }"
ROWS = LONG.replace("(COUNT(*) AS ?n)", "?a")


@pytest.fixture
def numbers(db: lodestore.Database) -> Iterator[lodestore.Database]:
    db.load("".join(f"<e:{n}> <e:p> {n} .\n" for n in range(3000)).encode(), format="ttl")
    yield db


def interrupted(work: Callable[[], object]) -> float:
    """How long after Ctrl-C it has ended, in seconds."""
    sent: List[float] = []

    def send() -> None:
        time.sleep(0.3)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        ended = time.monotonic()
    finally:
        # Where the work ended by itself, Ctrl-C is for this, and for no other test.
        with contextlib.suppress(KeyboardInterrupt):
            thread.join()
            time.sleep(0.05)
    return ended - sent[0]


@pytest.mark.parametrize("what", ["rows", "arrow", "pandas", "serialize", "profile", "update", "transaction"])
def test_ctrl_c_ends_what_runs(numbers: lodestore.Database, what: str) -> None:
    def in_transaction() -> None:
        with numbers.transaction() as tx:
            tx.update("INSERT DATA { <e:new> <e:p> 1 }")
            tx.update(f"INSERT {{ ?a <e:q> 1 }} WHERE {{ {{ {ROWS} }} }}")

    work: Callable[[], object] = {
        "rows": lambda: numbers.select(LONG).rows(),
        "arrow": lambda: numbers.select(ROWS).to_arrow(),
        "pandas": lambda: numbers.select(ROWS).to_pandas(),
        "serialize": lambda: numbers.select(ROWS).serialize("csv"),
        "profile": lambda: numbers.profile(LONG),
        "update": lambda: numbers.update(f"INSERT {{ ?a <e:q> 1 }} WHERE {{ {{ {ROWS} }} }}"),
        "transaction": in_transaction,
    }[what]
    took = interrupted(work)
    print(f"{what}: {took * 1000:.0f} ms")
    assert took < 0.1
    # All goes on.
    assert len(numbers) == 3000
    numbers.update("INSERT DATA { <e:x> <e:y> 1 }")


def test_a_transaction_that_ctrl_c_met_has_ended(numbers: lodestore.Database) -> None:
    tx = numbers.transaction()
    interrupted(lambda: tx.update(f"INSERT {{ ?a <e:q> 1 }} WHERE {{ {{ {ROWS} }} }}"))
    assert tx.has_ended
    numbers.update("INSERT DATA { <e:x> <e:y> 1 }")
    with pytest.raises(lodestore.Closed):
        tx.commit()


def test_ctrl_c_ends_a_stream(numbers: lodestore.Database) -> None:
    def read() -> None:
        try:
            pyarrow.table(numbers.select(ROWS))
        except pyarrow.ArrowException:
            # The taker's exception came first; the interpreter's is on its way.
            time.sleep(1)

    assert interrupted(read) < 0.1


def test_ctrl_c_ends_waiting_for_the_lock(numbers: lodestore.Database) -> None:
    started, end = threading.Event(), threading.Event()

    def hold() -> None:
        with numbers.transaction():
            started.set()
            end.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    started.wait(20)
    try:
        assert interrupted(lambda: numbers.transaction()) < 0.1
    finally:
        end.set()
        thread.join(20)


def test_ctrl_c_ends_a_load(db: lodestore.Database) -> None:
    class Endless:
        name = "endless.ttl"
        number = 0

        def read(self, size: int) -> bytes:
            self.number += 1
            return b"<e:%d> <e:p> 1 .\n" % self.number

    assert interrupted(lambda: db.load(Endless(), format="ttl")) < 0.1  # type: ignore[arg-type]
    assert len(db) == 0


def test_other_threads_run_while_the_engine_works(numbers: lodestore.Database) -> None:
    counted = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.is_set():
            counted += 1

    thread = threading.Thread(target=count, daemon=True)
    thread.start()
    try:
        with pytest.raises(lodestore.Timeout):
            numbers.select(LONG, timeout=0.5, threads=1).rows()
    finally:
        stop.set()
        thread.join(20)
    assert counted > 100_000


def test_handlers_of_others_run(numbers: lodestore.Database) -> None:
    seen: List[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    try:
        timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGUSR1))
        timer.start()
        with pytest.raises(lodestore.Timeout):
            numbers.select(LONG, timeout=0.5).rows()
        assert seen == [signal.SIGUSR1]
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_another_thread_cancels(numbers: lodestore.Database) -> None:
    answer = numbers.select(ROWS)
    timer = threading.Timer(0.2, answer.close)
    timer.start()
    with pytest.raises(lodestore.Cancelled):
        answer.rows()
    timer.join()

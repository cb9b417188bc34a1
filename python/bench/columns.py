"""How long a million rows of three columns take on their way to pandas, Polars, pyarrow, and as rows of Python.

    python bench/columns.py [ROWS]

The data are offers as BSBM has them: an IRI of its own for each, one of a hundredth as many products, and a price. Each way is tried five
times, and the least and the median are told, in seconds. Run it with the wheel of `cargo xtask python --release` installed.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from typing import Callable, Dict

import lodestore

BSBM = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/"
QUERY = f"""
PREFIX v: <{BSBM}vocabulary/>
SELECT ?offer ?product ?price {{ ?offer v:product ?product ; v:price ?price }}
"""
TIMES = 5


def data(rows: int) -> bytes:
    """Offers, as N-Triples."""
    choose = random.Random(1)
    lines = []
    for number in range(rows):
        offer = f"<{BSBM}instances/dataFromVendor{number % 40 + 1}/Offer{number}>"
        product = f"<{BSBM}instances/Product{choose.randrange(max(rows // 100, 1))}>"
        price = f'"{choose.randrange(500, 1_000_000) / 100}"^^<http://www.w3.org/2001/XMLSchema#double>'
        lines.append(f"{offer} <{BSBM}vocabulary/product> {product} .\n{offer} <{BSBM}vocabulary/price> {price} .\n")
    return "".join(lines).encode()


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with lodestore.open() as db:
        started = time.perf_counter()
        db.load(data(rows), format="nt")
        print(f"{len(db):,} triples, made and loaded in {time.perf_counter() - started:.1f} s")
        ways: Dict[str, Callable[[lodestore.Solutions], int]] = {
            "to_arrow": lambda answer: answer.to_arrow().num_rows,
            "to_pandas": lambda answer: len(answer.to_pandas()),
            "to_polars": lambda answer: answer.to_polars().height,
            "rows": lambda answer: sum(1 for _ in answer),
            "to_dicts": lambda answer: len(answer.to_dicts()),
        }
        for name, way in ways.items():
            took = []
            for _ in range(TIMES):
                started = time.perf_counter()
                found = way(db.select(QUERY))
                took.append(time.perf_counter() - started)
                assert found == rows
            print(f"{name:10} least {min(took):.3f}, median {statistics.median(took):.3f}")


if __name__ == "__main__":
    main()

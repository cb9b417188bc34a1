"""`%load_ext lodestore`: queries in the cells of a notebook."""

from __future__ import annotations

import itertools
import re
import shlex
import time
from argparse import ArgumentParser, Namespace
from html import escape
from typing import Any, Dict, List, Optional, Sequence

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from . import _database
from ._errors import Error, QuerySyntaxError
from ._html import table
from ._lodestore import Triple
from ._results import Row, Solutions, Triples
from ._svg import drawing

# A drawing of more is a tangle.
_DRAWN_MAX = 60
_UPDATE = re.compile(
    r"(?:\s|#[^\n]*|PREFIX\s+[^\s:]*:\s*<[^>]*>|BASE\s*<[^>]*>)*"
    r"(INSERT|DELETE|LOAD|CLEAR|CREATE|DROP|COPY|MOVE|ADD|WITH)\b",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"\bPREFIX\s+([^\s:]*):\s*<([^<>\"\s]*)>", re.IGNORECASE)


class Shown:
    """What a cell shows: HTML in a notebook, text in a terminal."""

    def __init__(self, html: str, text: str) -> None:
        self._html, self._text = html, text

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return self._text


class _Parser(ArgumentParser):
    def error(self, message: str) -> Any:
        raise UsageError(f"%%sparql: {message}")


def _parser() -> ArgumentParser:
    parser = _Parser(prog="%%sparql", add_help=False)
    parser.add_argument("database", nargs="?", help="a variable with a database, or the path of one (default: that of the last cell)")
    parser.add_argument("-o", "--out", metavar="NAME", help="a variable for the answer (a list of rows or triples, or a truth value)")
    parser.add_argument("--frame", metavar="NAME", help="a variable for the answer as a data frame of pandas")
    parser.add_argument("-n", "--rows", type=int, default=50, metavar="N", help="rows that are shown (50)")
    parser.add_argument("-b", "--bind", action="append", default=[], metavar="VAR=NAME", help="a variable of the query, and one of Python")
    parser.add_argument("--reason", metavar="RULES", help="also find what follows: hierarchies, rdfs, rdfs-plus")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="seconds that it may take")
    parser.add_argument("--table", action="store_true", help="triples as a table, and not as a drawing")
    parser.add_argument("--explain", action="store_true", help="shows the plan, and runs nothing")
    return parser


@magics_class
class SparqlMagics(Magics):
    """The magic, and the database of the last cell."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._database: Optional[_database.Database] = None
        self._opened: Dict[str, _database.Database] = {}

    @line_cell_magic
    def sparql(self, line: str, cell: Optional[str] = None) -> None:
        """Runs a query or an update: `%%sparql [DATABASE] [OPTIONS]` with its text below."""
        arguments = _parser().parse_args(shlex.split(line))
        if cell is None:
            if arguments.database is None:
                raise UsageError(_parser().format_help())
            self._choose(arguments.database)
            return
        self._choose(arguments.database)
        try:
            display(self._run(cell, arguments))
        except QuerySyntaxError as error:
            # Where the mistake is says more than where this file called what.
            raise UsageError(str(error)) from None
        except Error as error:
            raise UsageError(f"{type(error).__name__}: {error}") from None

    def _choose(self, name: Optional[str]) -> None:
        """Makes a database the one of this cell and those that follow."""
        if name is None:
            self._database = self._database or _database.open()
            return
        found = self._shell().user_ns.get(name)
        if isinstance(found, _database.Database):
            self._database = found
            return
        known = self._opened.get(name)
        if known is None or known.closed:
            try:
                known = self._opened[name] = _database.open(name, create=False)
            except Error as error:
                raise UsageError(f"{name} is no variable with a database, and {error}") from None
        self._database = known

    def _shell(self) -> InteractiveShell:
        assert isinstance(self.shell, InteractiveShell)
        return self.shell

    def _run(self, text: str, arguments: Namespace) -> Shown:
        database = self._database
        assert database is not None
        options: Dict[str, Any] = {"bindings": self._bindings(arguments.bind)}
        if arguments.reason is not None:
            options["reason"] = arguments.reason
        if arguments.timeout is not None:
            options["timeout"] = arguments.timeout
        if arguments.explain:
            return Shown(*_preformatted(database.explain(text, **options)))
        started = time.perf_counter()
        if _UPDATE.match(text):
            report = database.update(text, **options)
            told = f"inserted {report.inserted:,}, deleted {report.deleted:,} quads in {_seconds(started)}"
            return Shown(*_preformatted(told))
        prefixes = dict(_PREFIX.findall(text))
        found = database.query(text, **options)
        if isinstance(found, bool):
            self._put(arguments.out, found)
            return Shown(*_preformatted(f"{found}, in {_seconds(started)}"))
        if arguments.frame is not None:
            frame = found.to_pandas()
            self._put(arguments.frame, frame)
            return Shown(*_preformatted(f"{len(frame):,} rows in {arguments.frame}, in {_seconds(started)}"))
        if isinstance(found, Solutions):
            return self._rows(found, arguments, prefixes, started)
        return self._triples(found, arguments, prefixes, started)

    def _bindings(self, pairs: Sequence[str]) -> Dict[str, Any]:
        bindings = {}
        for pair in pairs:
            variable, equals, name = pair.partition("=")
            name = name if equals else variable
            if name not in self._shell().user_ns:
                raise UsageError(f"%%sparql: --bind {pair}: there is no variable {name}")
            bindings[variable] = self._shell().user_ns[name]
        return bindings

    def _put(self, name: Optional[str], value: object) -> None:
        if name is not None:
            self._shell().user_ns[name] = value

    def _rows(self, found: Solutions, arguments: Namespace, prefixes: Dict[str, str], started: float) -> Shown:
        # Without a variable for them, rows that are not shown need not be computed.
        rows: List[Row] = list(found if arguments.out else itertools.islice(found, arguments.rows + 1))
        self._put(arguments.out, rows)
        shown = rows[: arguments.rows]
        note = self._note(len(rows), len(shown), "row", arguments, found.warnings, started)
        found.close()
        html = table(found.variables, [tuple(row) for row in shown], note, prefixes)
        text = "\n".join("\t".join("" if term is None else str(term) for term in row) for row in shown)
        return Shown(html, "\t".join(found.variables) + "\n" + text + "\n" + note)

    def _triples(self, found: Triples, arguments: Namespace, prefixes: Dict[str, str], started: float) -> Shown:
        triples: List[Triple] = list(found if arguments.out else itertools.islice(found, arguments.rows + 1))
        self._put(arguments.out, triples)
        draws = not arguments.table and len(triples) <= _DRAWN_MAX
        shown = triples if draws else triples[: arguments.rows]
        note = self._note(len(triples), len(shown), "triple", arguments, found.warnings, started)
        found.close()
        rows = [tuple(triple) for triple in shown]
        html = table(("subject", "predicate", "object"), rows, note, prefixes)
        if draws and shown:
            html = drawing(shown, prefixes) + table((), (), note, prefixes)
        return Shown(html, "\n".join(" ".join(str(term) for term in row) + " ." for row in rows) + "\n" + note)

    def _note(
        self, found: int, shown: int, what: str, arguments: Namespace, warnings: Sequence[str], started: float
    ) -> str:
        count = f"{found:,} {what}{'' if found == 1 else 's'}"
        if found > shown:
            count = f"{shown:,} of {count}" if arguments.out else f"the first {shown:,} {what}s (--rows shows more)"
        return "; ".join([f"{count} in {_seconds(started)}", *(f"warning: {warning}" for warning in warnings)])


def _seconds(started: float) -> str:
    took = time.perf_counter() - started
    return f"{took * 1000:.1f} ms" if took < 1 else f"{took:.2f} s"


def _preformatted(text: str) -> List[str]:
    return [f"<pre>{escape(text)}</pre>", text]


def load(shell: InteractiveShell) -> None:
    """Registers the magic."""
    shell.register_magics(SparqlMagics)

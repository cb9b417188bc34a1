"""The chapter of the guide does what it says: its examples are one session, in an empty folder."""

from __future__ import annotations

import doctest
import pathlib
import re
from typing import List

import lodestore
import pytest
from IPython.core.interactiveshell import InteractiveShell

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "guide" / "src" / "python.md"


def test_the_examples_of_the_guide(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    # All else becomes empty lines, so that failures tell the lines of the page.
    is_inside, lines = False, []
    for line in text.split("\n"):
        fence = line.startswith("```")
        is_inside = (line == "```python") if fence else is_inside
        lines.append(line if is_inside and not fence else "")
    session = doctest.DocTestParser().get_doctest("\n".join(lines), {}, GUIDE.name, str(GUIDE), 0)
    assert len(session.examples) == len(re.findall(r"^>>> ", text, re.MULTILINE)) > 20
    told: List[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(session, out=told.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(told)


def test_the_cells_of_the_guide(people: lodestore.Database) -> None:
    (cells,) = re.findall(r"^```text\n(%load_ext.*?)```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.user_ns["db"] = people
    for cell in cells.split("\n\n"):
        shell.run_cell(cell).raise_error()
    assert shell.user_ns["rows"] == []
    InteractiveShell.clear_instance()

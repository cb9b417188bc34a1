"""What all tests of the page do: addresses, texts in the editor, runs, cells."""

import json
import os
import sys
import urllib.request

ONE, USERS, SEVERAL, FOLDER, *WANTED = sys.argv[1:]
TESTS = []
CUBE = "SELECT ?a ?b ?c { ?x <http://e/n> ?a . ?y <http://e/n> ?b . ?z <http://e/n> ?c }"
SLOW = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?p FILTER(?c != ?p || ?f != ?i) }"
# Ready once what has changed is drawn.
DRAWN = "const drawn = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))));"


class Skipped(Exception):
    """This server has not what the test is about."""


def test(function):
    TESTS.append(function)
    return function


def equal(found, wanted):
    assert found == wanted, f"{found!r} instead of {wanted!r}"


def write(page, text):
    """Another text in the editor, as if it were pasted."""
    page.do(f"(() => {{ {DRAWN} const area = document.querySelector('#query'); area.focus(); area.select(); document.execCommand('insertText', false, {json.dumps(text)}); return drawn(); }})()")


def value(page):
    return page.do("document.querySelector('#query').value")


def run(page, text, button="#run"):
    write(page, text)
    page.click(button)
    page.wait("!document.querySelector('#stop').hidden || document.querySelector('#status').textContent !== ''")
    page.wait("document.querySelector('#stop').hidden && document.querySelector('#status').textContent")


def count(page, selector):
    return page.do(f"document.querySelectorAll({json.dumps(selector)}).length")


def cells(page, column):
    """The cells of a column in sight, the first is 1."""
    return page.do(f"[...document.querySelectorAll('table.rows tbody tr:not(.space) td:nth-child({column + 1}) .cell')].map(cell => cell.textContent)")


def ask(address, path, **headers):
    with urllib.request.urlopen(urllib.request.Request(address + path, headers=headers)) as answer:
        return answer.headers, answer.read().decode()


def open_one(page, path="/"):
    page.go(ONE + path)
    page.wait("document.querySelector('#login').textContent !== null && !!document.querySelector('#query')")


def upload(page, name, text):
    path = os.path.join(FOLDER, name)
    with open(path, "w") as file:
        file.write(text)
    page.files("#upload-files", [path])

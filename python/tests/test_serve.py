"""The HTTP endpoint over an open database."""

from __future__ import annotations

import gc
import json
import threading
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, List

import lodestore
import pytest


def ask(url: str, query: str) -> Any:
    request = f"{url}/sparql?query={urllib.parse.quote(query)}"
    with urllib.request.urlopen(request, timeout=20) as response:
        return json.load(response)


def update(url: str, text: str) -> int:
    request = urllib.request.Request(f"{url}/update", text.encode(), {"Content-Type": "application/sparql-update"})
    with urllib.request.urlopen(request, timeout=20) as response:
        return int(response.status)


def is_there(url: str) -> bool:
    try:
        ask(url, "ASK {}")
    except urllib.error.URLError:
        return False
    return True


def test_it_serves_the_database_that_is_open(people: lodestore.Database) -> None:
    with people.serve("127.0.0.1:0") as server:
        assert ask(server.url, "ASK { ?s <http://example.org/age> 41 }")["boolean"] is True
        people.update("INSERT DATA { <e:a> <e:p> 1 }")
        assert ask(server.url, "ASK { <e:a> <e:p> 1 }")["boolean"] is True
        assert update(server.url, "INSERT DATA { <e:a> <e:p> 2 }") in (200, 204)
        assert people.ask("ASK { <e:a> <e:p> 2 }") is True
        with urllib.request.urlopen(server.url, timeout=20) as page:
            assert b"<html" in page.read().lower()
        assert repr(server) == f"<lodestore.Server {server.url}>"
    assert not is_there(server.url)
    server.stop()


def test_readers_only_read(people: lodestore.Database) -> None:
    with people.serve("127.0.0.1:0", anonymous="read") as server:
        assert is_there(server.url)
        with pytest.raises(urllib.error.HTTPError) as refused:
            update(server.url, "CLEAR ALL")
        assert refused.value.code in (401, 403) and len(people) == 9


def test_wrong_settings_and_addresses_that_are_taken(people: lodestore.Database) -> None:
    for bind in ("nowhere", "example.org:80", "127.0.0.1:99999"):
        with pytest.raises(ValueError, match="expected an address and a port"):
            people.serve(bind)
    with pytest.raises(ValueError, match="anonymous: expected read, update or admin, or none"):
        people.serve("127.0.0.1:0", anonymous="all")
    with pytest.raises(ValueError, match="cors"):
        people.serve("127.0.0.1:0", cors=["no origin"])
    with people.serve("127.0.0.1:0") as server:
        with pytest.raises(lodestore.ServerError, match="cannot listen on"):
            people.serve(server.url[len("http://") :])


def test_closing_the_database_stops_its_servers(people: lodestore.Database) -> None:
    one, two = people.serve("127.0.0.1:0"), people.serve("127.0.0.1:0")
    assert is_there(one.url) and is_there(two.url)
    people.close()
    assert not is_there(one.url) and not is_there(two.url)


def test_a_server_that_is_forgotten_goes_on_until_the_database_is_closed(people: lodestore.Database) -> None:
    url = people.serve("127.0.0.1:0").url
    gc.collect()
    assert is_there(url)


def test_many_ask_at_once(people: lodestore.Database) -> None:
    failures: List[BaseException] = []

    def work(url: str) -> None:
        try:
            for _ in range(10):
                assert ask(url, "ASK { ?s ?p ?o }")["boolean"] is True
        except BaseException as error:
            failures.append(error)

    with people.serve("127.0.0.1:0") as server:
        threads = [threading.Thread(target=work, args=(server.url,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        # Python is not kept from its own work.
        for _ in range(50):
            assert people.ask("ASK { ?s ?p ?o }") is True
        for thread in threads:
            thread.join(60)
    assert not failures

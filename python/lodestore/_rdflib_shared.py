"""Databases that stores of rdflib have opened: one process opens one once, and its stores share it."""

from __future__ import annotations

import os
import threading
from typing import Dict, Tuple

from . import _database


class Shared:
    """Databases, by path, with how many stores use each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: Dict[str, Tuple[_database.Database, int]] = {}

    def open(self, path: str, create: bool) -> _database.Database:
        with self._lock:
            key = os.path.realpath(path)
            database, users = self._open.get(key, (None, 0))
            if database is None or database.closed:
                database, users = _database.open(path, create=create), 0
            self._open[key] = database, users + 1
            return database

    def close(self, database: _database.Database) -> None:
        with self._lock:
            for key, (known, users) in list(self._open.items()):
                if known is database and users > 1:
                    self._open[key] = database, users - 1
                    return
                if known is database:
                    del self._open[key]
            database.close()


shared = Shared()
"""Those of this process."""

"""What is to be loaded: files, folders, open files, bytes, addresses."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import IO, Any, List, Optional, Union

from ._errors import LoadError
from ._lodestore import is_loadable_name

Source = Union[str, "os.PathLike[str]", bytes, IO[bytes]]
"""The path of a file or a folder, a document as bytes, a file that is open for reading bytes, or (with `allow_url`) an address."""


_Bytes = bytes


@dataclass(frozen=True)
class Named:
    """A source; what of path, bytes and file is there is what it is, else its name is an address."""

    name: str
    path: Optional[str] = None
    bytes: "Optional[_Bytes]" = None
    file: Optional[Any] = None


def find(source: Source, allow_url: bool, format_is_told: bool) -> List[Named]:
    """What a source stands for."""
    if isinstance(source, bytes):
        return [Named("bytes", bytes=source)]
    if hasattr(source, "read"):
        return [Named(str(getattr(source, "name", "file")), file=source)]
    path = os.fspath(source)
    if path.lower().startswith(("http://", "https://")):
        if not allow_url:
            raise LoadError(f"{path} is an address on the web: allow_url=True loads from there")
        return [Named(path)]
    if os.path.isdir(path):
        files = _in_folder(path, format_is_told)
        if not files:
            raise LoadError(
                f"{path}: no file in this folder has the name of an RDF file (.nt .nq .ttl .trig .rdf .jsonld): name the files, or format="
            )
        return files
    if not os.path.exists(path):
        raise LoadError(f"{path}: there is no such file")
    return [Named(path, path=path)]


def _in_folder(folder: str, format_is_told: bool) -> List[Named]:
    found = []
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(at, name)
            is_named = is_loadable_name(name) or (format_is_told and not name.startswith("."))
            if is_named and os.path.isfile(path):
                found.append(Named(path, path=path))
    return found

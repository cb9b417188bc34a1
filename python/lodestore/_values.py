"""Values of Python as literals, and the other way."""

from __future__ import annotations

import base64
import binascii
import re
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal, InvalidOperation
from typing import Callable, Dict, Optional, Tuple, Union

from ._lodestore import IRI, BlankNode, Literal, Triple

Term = Union[IRI, BlankNode, Literal, Triple]
"""Any term."""
Value = Union[str, bool, int, float, Decimal, datetime, date, time, timedelta, bytes]
"""What literals are in Python."""

XSD = "http://www.w3.org/2001/XMLSchema#"

_INTEGERS = (
    "integer nonNegativeInteger nonPositiveInteger positiveInteger negativeInteger "
    "long int short byte unsignedLong unsignedInt unsignedShort unsignedByte"
).split()

_ZONE = r"(?P<zone>Z|[+-]\d\d:\d\d)?"
_DAY = r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
_CLOCK = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:\.(?P<fraction>\d{1,6})0*)?"
_DATE = re.compile(_DAY + "$", re.ASCII)
_TIME = re.compile(_CLOCK + _ZONE + "$", re.ASCII)
_DATE_TIME = re.compile(_DAY + "T" + _CLOCK + _ZONE + "$", re.ASCII)
_DURATION = re.compile(
    r"(?P<sign>-)?P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d{1,6})?)S)?)?$",
    re.ASCII,
)
_DOUBLE = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)$", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+$", re.ASCII)
# More digits than this cost `int` a time that grows with their square, and it refuses them.
_DIGITS_MAX = 4300


def to_term(value: Union[Term, Value]) -> Term:
    """The term that a value stands for: terms are themselves, all else is a literal.

    >>> to_term(41)
    Literal('41', datatype='http://www.w3.org/2001/XMLSchema#integer')
    """
    return value if isinstance(value, (IRI, BlankNode, Literal, Triple)) else Literal(value)


def literal_parts(value: object) -> Tuple[str, str]:
    """Lexical form and datatype of a value that is no text."""
    if isinstance(value, bool):
        return ("true" if value else "false", XSD + "boolean")
    if isinstance(value, int):
        return (str(value), XSD + "integer")
    if isinstance(value, float):
        return (_double(value), XSD + "double")
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is no xsd:decimal")
        return (format(value, "f"), XSD + "decimal")
    if isinstance(value, datetime):
        return (_zoned(value.isoformat()), XSD + "dateTime")
    if isinstance(value, date):
        return (value.isoformat(), XSD + "date")
    if isinstance(value, time):
        return (_zoned(value.isoformat()), XSD + "time")
    if isinstance(value, timedelta):
        return (_duration(value), XSD + "dayTimeDuration")
    if isinstance(value, bytes):
        return (base64.b64encode(value).decode("ascii"), XSD + "base64Binary")
    raise TypeError(
        f"{type(value).__name__} is no literal: give a str, bool, int, float, Decimal, datetime, date, time, timedelta or bytes, "
        "or an IRI, BlankNode, Literal or Triple"
    )


def python_value(text: str, datatype: str) -> Value:
    """The value of a literal; its text, where Python has no such value."""
    parse = _PARSERS.get(datatype[len(XSD) :]) if datatype.startswith(XSD) else None
    if parse is None:
        return text
    try:
        value = parse(text.strip(" \t\r\n"))
    except (ValueError, OverflowError, InvalidOperation, binascii.Error):
        return text
    return text if value is None else value


def _double(value: float) -> str:
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "INF" if value > 0 else "-INF"
    # The shortest text that is the same number, as XSD writes it.
    return repr(value) if "e" in repr(value) else repr(value) + "e0"


def _zoned(text: str) -> str:
    return text[:-6] + "Z" if text.endswith("+00:00") else text


def _duration(value: timedelta) -> str:
    sign, value = ("-", -value) if value < timedelta(0) else ("", value)
    seconds = f"{value.seconds}.{value.microseconds:06}".rstrip("0").rstrip(".")
    return f"{sign}P{value.days}DT{seconds}S"


def _parse_boolean(text: str) -> Optional[bool]:
    return {"true": True, "1": True, "false": False, "0": False}.get(text)


def _parse_integer(text: str) -> Optional[int]:
    return int(text) if _INTEGER.match(text) and len(text) <= _DIGITS_MAX else None


def _parse_decimal(text: str) -> Optional[Decimal]:
    return Decimal(text) if _DECIMAL.match(text) else None


def _parse_double(text: str) -> Optional[float]:
    special = {"INF": float("inf"), "+INF": float("inf"), "-INF": float("-inf"), "NaN": float("nan")}
    return special.get(text, float(text) if _DOUBLE.match(text) else None)


def _zone(found: "re.Match[str]") -> Optional[timezone]:
    text = found["zone"]
    if text is None:
        return None
    if text == "Z":
        return timezone.utc
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[4:]))
    return timezone(-offset if text[0] == "-" else offset)


def _clock(found: "re.Match[str]") -> Tuple[int, int, int, int]:
    fraction = (found["fraction"] or "").ljust(6, "0")
    return int(found["hour"]), int(found["minute"]), int(found["second"]), int(fraction)


def _parse_date(text: str) -> Optional[date]:
    # Python's dates have no time zone.
    found = _DATE.match(text)
    return date(int(found["year"]), int(found["month"]), int(found["day"])) if found else None


def _parse_time(text: str) -> Optional[time]:
    found = _TIME.match(text)
    return time(*_clock(found), tzinfo=_zone(found)) if found else None


def _parse_date_time(text: str) -> Optional[datetime]:
    found = _DATE_TIME.match(text)
    if found is None:
        return None
    day = int(found["year"]), int(found["month"]), int(found["day"])
    return datetime(*day, *_clock(found), tzinfo=_zone(found))


def _parse_duration(text: str) -> Optional[timedelta]:
    found = _DURATION.match(text)
    if found is None or text[-1] in "PT":
        return None
    parts = {name: Decimal(found[name] or 0) for name in ("days", "hours", "minutes", "seconds")}
    seconds = ((parts["days"] * 24 + parts["hours"]) * 60 + parts["minutes"]) * 60 + parts["seconds"]
    value = timedelta(seconds=int(seconds), microseconds=int(seconds % 1 * 1_000_000))
    return -value if found["sign"] else value


_PARSERS: Dict[str, Callable[[str], Optional[Value]]] = {
    "boolean": _parse_boolean,
    "decimal": _parse_decimal,
    "double": _parse_double,
    "float": _parse_double,
    "date": _parse_date,
    "time": _parse_time,
    "dateTime": _parse_date_time,
    "dateTimeStamp": _parse_date_time,
    "dayTimeDuration": _parse_duration,
    "base64Binary": lambda text: base64.b64decode(text, validate=True),
    "hexBinary": binascii.unhexlify,
    **{name: _parse_integer for name in _INTEGERS},
}

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of values in a deployment file.

Each reads YAML text, says for the documentation what it accepts, and has a
JSON Schema for editors. What it refuses it tells with what was found and what
is accepted.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from mace.python.tools.config.vocabulary import Runtime
from mace.python.tools.wording import listed, nearest, shown

# A dimension beyond this does not fit the model file's 32-bit dimensions.
MAX_DIMENSION = (1 << 31) - 1
# Longest shape the runtime takes (mace/public/mace.h).
MAX_RANK = 8

_TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
_FALSE_WORDS = frozenset({"0", "false", "no", "off"})
_INTEGER = re.compile(r"[+-]?\d{1,18}")
_FILE_STEM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}")
_SOC = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_CONTROL = re.compile("[\x00-\x1f\x7f]")


class BadValueError(ValueError):
    """A value that is not accepted.

    Attributes:
        problems: (index in the list, None for the value as a whole; message).
    """

    def __init__(self, *problems: tuple[int | None, str]) -> None:
        super().__init__("; ".join(message for _, message in problems))
        self.problems = problems


@dataclass(frozen=True)
class Kind:
    """A kind of value.

    Attributes:
        read: from YAML's text, list or mapping; raises BadValueError.
        accepts: in the words of the reference table.
        schema: JSON Schema.
        is_file: it names files.
    """

    read: Callable[[object], Any]
    accepts: str
    schema: Mapping[str, Any]
    is_file: bool = False


def refuse(found: object, accepted: str) -> BadValueError:
    """The error for a value that was `found` where `accepted` is needed."""
    if isinstance(found, dict):
        what = "a mapping" if found else "an empty mapping"
    elif isinstance(found, list):
        what = "a list" if found else "an empty list"
    elif found is None:
        what = "an empty value"
    else:
        what = shown(found)
    return BadValueError((None, f"found {what}, accepted: {accepted}"))


def _text(value: object, accepted: str) -> str:
    if not isinstance(value, str):
        raise refuse(value, accepted)
    return value.strip()


def _read_stem(value: object) -> str:
    accepted = (
        'a name of letters, digits, "_", "-", "+" and ".", as files are named after it'
    )
    word = _text(value, accepted)
    if not _FILE_STEM.fullmatch(word):
        raise refuse(value, accepted)
    return word


def _read_soc(value: object) -> str:
    accepted = "a SoC name such as sdm845, or all"
    word = _text(value, accepted)
    if not _SOC.fullmatch(word):
        raise refuse(value, accepted)
    return word.lower()


def _read_flag(value: object) -> bool:
    word = _text(value, "0 or 1").lower()
    if word not in _TRUE_WORDS | _FALSE_WORDS:
        raise refuse(value, "0 or 1")
    return word in _TRUE_WORDS


def _integer(accepted: str, fits: Callable[[int], bool]) -> Callable[[object], int]:
    def read(value: object) -> int:
        word = _text(value, accepted)
        if not _INTEGER.fullmatch(word) or not fits(int(word)):
            raise refuse(value, accepted)
        return int(word)

    return read


def _read_name(value: object) -> str:
    word = _text(value, "a name")
    if not word or _CONTROL.search(word):
        raise refuse(value, "a name")
    return word


def _read_sha256(value: object) -> str:
    accepted = "64 hexadecimal digits, as sha256sum prints them"
    word = _text(value, accepted)
    if not _SHA256.fullmatch(word):
        if re.fullmatch("[0-9a-fA-F]+", word):
            found = f"{len(word)} hexadecimal digits"
            raise BadValueError((None, f"found {found}, accepted: {accepted}"))
        raise refuse(value, accepted)
    return word.lower()


def _read_location(value: object) -> str:
    accepted = "a path, or an address beginning with http:// or https://"
    word = _text(value, accepted)
    if not word or _CONTROL.search(word):
        raise refuse(value, accepted)
    if _SCHEME.match(word) and not is_http_address(word):
        raise refuse(value, accepted)
    return word


def is_http_address(word: str) -> bool:
    """Whether this is an http(s) address with a host."""
    try:
        parts = urlsplit(word)
        # Reading the port checks it.
        return parts.scheme in ("http", "https") and bool(
            parts.hostname and parts.port != 0
        )
    except ValueError:
        return False


def _numbers(value: object, accepted: str) -> Sequence[object]:
    """The numbers of ``1,2`` or of a YAML list."""
    if isinstance(value, list):
        return value
    return _text(value, accepted).strip("[]() ").split(",")


def _read_shape(value: object) -> tuple[int, ...]:
    accepted = (
        "dimensions such as 1,224,224,3, each 1 or more, "
        "or -1 where the size is decided at run time"
    )
    shape = []
    for word in _numbers(value, accepted):
        text = word.strip() if isinstance(word, str) else ""
        size = int(text) if _INTEGER.fullmatch(text) else 0
        if size != -1 and not 1 <= size <= MAX_DIMENSION:
            raise refuse(value, accepted)
        shape.append(size)
    if len(shape) > MAX_RANK:
        found = f"found {len(shape)} dimensions, accepted: at most {MAX_RANK}"
        raise BadValueError((None, found))
    return tuple(shape)


def _read_range(value: object) -> tuple[float, float]:
    accepted = "two numbers, lowest first, such as -1.0,1.0"
    ends = [_number(word) for word in _numbers(value, accepted)]
    if len(ends) != 2 or not ends[0] < ends[1]:
        raise refuse(value, accepted)
    return ends[0], ends[1]


def _number(value: object) -> float:
    """A finite number; NaN for all else."""
    try:
        number = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


_DEVICES = {"hexagon": Runtime.DSP} | {
    runtime.value: runtime for runtime in Runtime if len(runtime.devices) == 1
}


def _read_thresholds(value: object) -> dict[Runtime, float]:
    accepted = "a mapping such as {CPU: 0.999, GPU: 0.995, HEXAGON: 0.98}"
    if not isinstance(value, dict) or not value:
        raise refuse(value, accepted)
    result: dict[Runtime, float] = {}
    wrong = []
    for key, word in value.items():
        device, number = _DEVICES.get(str(key).lower()), _number(word)
        if device is None:
            wrong.append(f"unknown device {shown(key)}")
        elif device in result:
            wrong.append(f"device {shown(key)} given twice")
        elif not 0.0 < number <= 1.0:
            bad = refuse(word, "a number above 0 and not above 1.0")
            wrong.append(f"{key}: {bad}")
        else:
            result[device] = number
    if wrong:
        raise BadValueError((None, f"{'; '.join(wrong)} (accepted: {accepted})"))
    return result


def _read_renamings(value: object) -> dict[str, str]:
    accepted = "a mapping such as {state_in: state_out}"
    if not isinstance(value, dict) or not value:
        raise refuse(value, accepted)
    result: dict[str, str] = {}
    wrong = []
    for key, name in value.items():
        try:
            result[_read_name(key)] = _read_name(name)
        except BadValueError as error:
            wrong += [f"{key}: {message}" for _, message in error.problems]
    if wrong:
        raise BadValueError((None, "; ".join(wrong)))
    return result


def word(
    words: type[enum.Enum], aliases: Mapping[str, str] | None = None, accepts: str = ""
) -> Kind:
    """One of the words of an enum, in any case.

    Words that the release cannot use are understood, and refused by the effect
    of their key; they are not offered.

    Args:
        aliases: further spellings that mean the same and are as good.
        accepts: for the reference table; all words if empty, those that the
            release cannot use apart.
    """
    spellings = {str(m.value).lower(): m for m in words}
    spellings.update({old: words(new) for old, new in (aliases or {}).items()})
    offered = [str(m.value) for m in words if getattr(m, "in_release", True)]

    def read(value: object) -> enum.Enum:
        found = _text(value, listed(offered))
        member = spellings.get(found.lower())
        if member is None:
            error = f"found {shown(found)}, accepted: {listed(offered)}"
            usable = [w for w, m in spellings.items() if str(m.value) in offered]
            near = nearest(found, usable)
            if near:
                error += f"; did you mean {spellings[near].value}?"
            raise BadValueError((None, error))
        return member

    values = [str(member.value) for member in words]
    later = [value for value in values if value not in offered]
    cell = _coded(offered) + (
        f"; not in this release: {_coded(later)}" if later else ""
    )
    return Kind(read, accepts or cell, {"enum": [*values, *(aliases or ())]})


def _coded(words: Iterable[str]) -> str:
    return ", ".join(f"`{item}`" for item in words)


def many(item: Kind, accepts: str = "", separated: bool = False) -> Kind:
    """A list of values, or one value.

    Args:
        separated: commas separate values within one text.
    """

    def read(value: object) -> tuple[Any, ...]:
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list):
            raise refuse(value, "a value or a list of values")
        if separated:
            value = [part for entry in value for part in _split(entry)]
        if not value:
            raise refuse(value, "at least one value")
        result, problems = [], []
        for index, entry in enumerate(value):
            try:
                result.append(item.read(entry))
            except BadValueError as error:
                problems += [(index, message) for _, message in error.problems]
        if problems:
            raise BadValueError(*problems)
        return tuple(result)

    array = {"type": "array", "items": item.schema, "minItems": 1}
    schema = {"anyOf": [item.schema, array]}
    words = accepts or f"{item.accepts} or list of them"
    return Kind(read, words, schema, item.is_file)


def _split(entry: object) -> Sequence[object]:
    return entry.split(",") if isinstance(entry, str) and "," in entry else [entry]


def one_for_all(item: Kind) -> Kind:
    """A list with one value for each tensor, or one for all of them."""
    return many(item, f"one for all or a list of {item.accepts}", separated=True)


_SCALAR = {"type": ["string", "number"]}
_ARRAY: Mapping[str, Any] = {"type": "array", "items": {"type": "number"}}

FLAG = Kind(_read_flag, "`0` or `1`", {"enum": [0, 1, True, False]})
COUNT = Kind(
    _integer("a whole number, 0 or more", lambda number: number >= 0),
    "whole number",
    {"type": "integer", "minimum": 0},
)
INTEGER = Kind(
    _integer("a whole number", lambda _: True), "whole number", {"type": "integer"}
)
WINOGRAD = Kind(
    _integer("0 (off), 2 or 4", lambda number: number in (0, 2, 4)),
    "`0`, `2` or `4`",
    {"enum": [0, 2, 4]},
)
NAME = Kind(_read_name, "name", _SCALAR)
FILE_STEM = Kind(
    _read_stem, "name", {"type": "string", "pattern": f"^{_FILE_STEM.pattern}$"}
)
LOCATION = Kind(
    _read_location, "path or http(s) address", {"type": "string"}, is_file=True
)
SHA256 = Kind(
    _read_sha256,
    "64 hexadecimal digits",
    {"type": "string", "pattern": f"^{_SHA256.pattern}$"},
)
SOC = Kind(_read_soc, "SoC name", {"type": "string"})
SHAPE = Kind(
    _read_shape,
    "shape, as `1,224,224,3`,",
    {"anyOf": [{"type": ["string", "integer"]}, _ARRAY]},
)
RANGE = Kind(
    _read_range, "range, as `-1.0,1.0`,", {"anyOf": [{"type": "string"}, _ARRAY]}
)
NAME_TO_NAME = Kind(
    _read_renamings,
    "mapping from name to name",
    {"type": "object", "minProperties": 1, "additionalProperties": _SCALAR},
)
THRESHOLDS = Kind(
    _read_thresholds,
    "mapping of `CPU`, `GPU`, `HEXAGON` to a number up to 1.0",
    {
        "type": "object",
        "additionalProperties": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    },
)

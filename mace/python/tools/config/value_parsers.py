# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Parsers from the text of YAML to the values of a deployment file.

They raise `PydanticCustomError`, whose message says what was found and what is
accepted.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pydantic_core import PydanticCustomError

from mace.python.tools.config import deployment as normal
from mace.python.tools.wording import listed, nearest, shown

_EnumT = TypeVar("_EnumT", bound=enum.Enum)

# A dimension beyond this does not fit the model file's 32-bit dimensions.
MAX_DIMENSION = (1 << 31) - 1
# Longest shape the runtime takes (mace/public/mace.h).
MAX_RANK = 8

_TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
_FALSE_WORDS = frozenset({"0", "false", "no", "off"})
_INTEGER = re.compile(r"[+-]?\d{1,18}")
FILE_STEM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_CONTROL = re.compile("[\x00-\x1f\x7f]")


def refuse(found: object, accepted: str) -> PydanticCustomError:
    """The error for a value that was `found` where `accepted` is needed."""
    if isinstance(found, dict):
        what = "a mapping" if found else "an empty mapping"
    elif isinstance(found, list):
        what = "a list" if found else "an empty list"
    elif found is None:
        what = "an empty value"
    else:
        what = shown(found)
    return fail(f"found {what}, accepted: {accepted}")


def fail(message: str) -> PydanticCustomError:
    """An error with this message."""
    # Through the context, as braces in the template have a meaning.
    return PydanticCustomError("mace", "{message}", {"message": message})


def _text(value: object, accepted: str) -> str:
    if not isinstance(value, str):
        raise refuse(value, accepted)
    return value.strip()


def parse_flag(value: object) -> bool:
    """0/1, true/false, yes/no or on/off, in any case."""
    accepted = "0 or 1"
    word = _text(value, accepted).lower()
    if word in _TRUE_WORDS:
        return True
    if word in _FALSE_WORDS:
        return False
    raise refuse(value, accepted)


def parse_count(value: object) -> int:
    """An integer that is not negative; on/off words count as 1/0."""
    accepted = "a whole number, 0 or more"
    word = _text(value, accepted)
    if _INTEGER.fullmatch(word) and int(word) >= 0:
        return int(word)
    if word.lower() in _TRUE_WORDS | _FALSE_WORDS:
        return int(parse_flag(word))
    raise refuse(value, accepted)


def parse_integer(value: object) -> int:
    """An integer of either sign."""
    word = _text(value, "a whole number")
    if not _INTEGER.fullmatch(word):
        raise refuse(value, "a whole number")
    return int(word)


def parse_winograd(value: object) -> int:
    """0, 2 or 4; old on/off spellings are rewritten before this."""
    accepted = "0 (off), 2 or 4"
    word = _text(value, accepted)
    if word not in ("0", "2", "4"):
        raise refuse(value, accepted)
    return int(word)


def parse_name(value: object) -> str:
    """Any text, such as a tensor's name."""
    word = _text(value, "a name")
    if not word or _CONTROL.search(word):
        raise refuse(value, "a name")
    return word


def parse_file_stem(value: object) -> str:
    """A name that can be a file's name on every system."""
    accepted = (
        'a name of letters, digits, "_", "-", "+" and ".", as files are named after it'
    )
    word = _text(value, accepted)
    if not FILE_STEM.fullmatch(word):
        raise refuse(value, accepted)
    return word


def parse_soc(value: object) -> str:
    """A system-on-chip name in lower case, or 'all'."""
    accepted = "a SoC name such as sdm845, or all"
    word = _text(value, accepted)
    if not _WORD.fullmatch(word):
        raise refuse(value, accepted)
    return word.lower()


def parse_sha256(value: object) -> str:
    """64 hexadecimal digits, returned in lower case."""
    accepted = "64 hexadecimal digits, as sha256sum prints them"
    word = _text(value, accepted)
    if not SHA256.fullmatch(word):
        if word and re.fullmatch("[0-9a-fA-F]+", word):
            raise fail(f"found {len(word)} hexadecimal digits, accepted: {accepted}")
        raise refuse(value, accepted)
    return word.lower()


def parse_location(value: object) -> str:
    """A local path or an http(s) address."""
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


def parse_shape(value: object) -> list[int]:
    """A shape, as ``1,224,224,3`` or a YAML list; -1 is a free dimension."""
    accepted = (
        "dimensions such as 1,224,224,3, each 1 or more, "
        "or -1 where the size is decided at run time"
    )
    words = value if isinstance(value, list) else None
    if words is None:
        words = _text(value, accepted).strip("[]() ").split(",")
    shape = []
    for word in words:
        text = word.strip() if isinstance(word, str) else ""
        if not _INTEGER.fullmatch(text):
            raise refuse(value, accepted)
        size = int(text)
        if size != -1 and not 1 <= size <= MAX_DIMENSION:
            raise refuse(value, accepted)
        shape.append(size)
    if len(shape) > MAX_RANK:
        raise fail(f"found {len(shape)} dimensions, accepted: at most {MAX_RANK}")
    return shape


def parse_range(value: object) -> tuple[float, float]:
    """A range as ``-1.0,1.0`` or a YAML list of two numbers."""
    accepted = "two numbers, lowest first, such as -1.0,1.0"
    words = value if isinstance(value, list) else None
    if words is None:
        words = _text(value, accepted).strip("[]() ").split(",")
    if len(words) != 2:
        raise refuse(value, accepted)
    low, high = (_number(word) for word in words)
    if low is None or high is None or low >= high:
        raise refuse(value, accepted)
    return low, high


def _number(value: object) -> float | None:
    try:
        number = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def parse_threshold(value: object) -> float:
    """A cosine similarity."""
    accepted = "a number above 0 and not above 1.0"
    number = _number(value)
    if number is None or not 0.0 < number <= 1.0:
        raise refuse(value, accepted)
    return number


def split_list(value: object) -> object:
    """A list, a single value, or values separated by commas."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        raise refuse(value, "a value or a list of values")
    result: list[object] = []
    for item in value:
        if isinstance(item, str) and "," in item:
            result.extend(part.strip() for part in item.split(","))
        else:
            result.append(item)
    return _not_empty(result)


def as_list(value: object) -> object:
    """A list or a single value."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise refuse(value, "a value or a list of values")
    return _not_empty(value)


def _not_empty(value: list[Any]) -> list[Any]:
    if not value:
        raise fail("found an empty list, accepted: at least one value")
    return value


def word_parser(
    enum_type: type[_EnumT], aliases: Mapping[str, str] | None = None
) -> Callable[[object], _EnumT]:
    """A parser for the values of an enum, in any case.

    `aliases` are further spellings that mean the same and are as good.
    """
    by_word = {str(member.value).lower(): member for member in enum_type}
    extra = {key: by_word[word] for key, word in (aliases or {}).items()}
    accepted = listed(str(member.value) for member in enum_type)

    def parse(value: object) -> _EnumT:
        word = _text(value, accepted)
        member = by_word.get(word.lower()) or extra.get(word.lower())
        if member is None:
            error = f"found {shown(word)}, accepted: {accepted}"
            near = nearest(word, [*by_word, *extra])
            if near:
                member = by_word.get(near) or extra[near]
                error += f"; did you mean {member.value}?"
            raise fail(error)
        return member

    return parse


# 'arm64' and 'aarch64_linux_gnu' are two documented names of one ABI.
ABI_ALIASES = {
    "aarch64_linux_gnu": "arm64",
    "aarch64-linux-gnu": "arm64",
    "arm_linux_gnueabihf": "armhf",
    "arm-linux-gnueabihf": "armhf",
}
parse_abi = word_parser(normal.Abi, ABI_ALIASES)
parse_runtime = word_parser(normal.Runtime, {"gpu+cpu": "cpu+gpu"})


THRESHOLD_DEVICES = {
    "cpu": normal.Runtime.CPU,
    "gpu": normal.Runtime.GPU,
    "hexagon": normal.Runtime.DSP,
    "dsp": normal.Runtime.DSP,
    "hta": normal.Runtime.HTA,
    "htp": normal.Runtime.HTP,
    "apu": normal.Runtime.APU,
}


def parse_thresholds(value: object) -> dict[normal.Runtime, float]:
    """A mapping from device to the least similarity wanted of it."""
    accepted = "a mapping such as {CPU: 0.999, GPU: 0.995, HEXAGON: 0.98}"
    if not isinstance(value, dict) or not value:
        raise refuse(value, accepted)
    result: dict[normal.Runtime, float] = {}
    wrong = []
    for key, number in value.items():
        device = THRESHOLD_DEVICES.get(str(key).lower())
        if device is None:
            wrong.append(f"unknown device {shown(key)}")
            continue
        if device in result:
            wrong.append(f"device {shown(key)} given twice")
        try:
            result[device] = parse_threshold(number)
        except PydanticCustomError as error:
            wrong.append(f"{key}: {error.message()}")
    if wrong:
        raise fail(f"{'; '.join(wrong)} (accepted: {accepted})")
    return result

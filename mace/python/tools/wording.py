# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The recurring parts of messages: quoted values, lists, similar names and files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path

# Longer values are shortened in messages.
_SHOWN_VALUE_LENGTH = 60


# Characters that a terminal obeys instead of printing them: control characters, and
# those that reverse the direction of the text behind them. Line breaks and tabs are
# among them, but not in texts of several lines.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)


def printable(text: str) -> str:
    """`text` as a terminal may get it, whoever wrote it: what it would obey is written
    as an escape such as ``\\x1b``. Names in models, and what devices answer, may hide
    or forge what is printed beside them.
    """
    return _OBEYED.sub(_escape, text.replace("\r\n", "\n"))


def on_one_line(text: str) -> str:
    """The same for a cell of a table."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def shown(value: object) -> str:
    """`value` as quoted in messages: short, on one line."""
    text = str(value)
    if len(text) > _SHOWN_VALUE_LENGTH:
        text = text[: _SHOWN_VALUE_LENGTH - 3] + "..."
    return repr(text)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most similar to `word`, if any."""
    # 0.6 is difflib's own default: far enough for a dropped or doubled letter
    # in a short key, near enough not to propose an unrelated one.
    # Input of any length comes in; the match is quadratic, so cut it.
    matches = difflib.get_close_matches(
        word[:100].lower(), list(known), n=1, cutoff=0.6
    )
    return matches[0] if matches else None


def nearest_names(name: str, known: Iterable[str], count: int = 5) -> list[str]:
    """Up to `count` names of a model that are similar to `name`."""
    by_fold: dict[str, str] = {}
    for candidate in known:
        by_fold.setdefault(candidate.lower(), candidate)
    near = difflib.get_close_matches(name.lower(), by_fold, count, cutoff=0.5)
    # Users often give a part of the name, which similarity underrates.
    near += [f for f in by_fold if name.lower() in f and f not in near]
    return [by_fold[f] for f in near[:count]]


def near_names(name: str, known: Iterable[str]) -> str:
    """ "'prob' (near: 'probs', 'prob_1')"; just the name if none is near."""
    near = nearest_names(name, known, 3)
    return f"{name!r} (near: {', '.join(map(repr, near))})" if near else repr(name)


def near_file(path: Path) -> str:
    """For a missing file: a question after one of a similar name beside it, or ''."""
    try:
        # A link that leads nowhere is missing, too, and is listed.
        names = sorted(entry.name for entry in path.parent.iterdir() if entry.exists())
    except (OSError, ValueError):
        return ""
    # Of the same kind: the dot and the first letter of the ending are right.
    kind = path.suffix[:2]
    by_word = {name.lower(): name for name in names if Path(name).suffix[:2] == kind}
    found = nearest(path.name, by_word)
    # The same stem with another ending is more likely than a similar one.
    same = [name for name in names if Path(name).stem == path.stem and path.stem]
    name = same[0] if same else found and by_word[found]
    return f"; did you mean {path.parent / name}?" if name else ""


def counted(number: int, noun: str) -> str:
    """``1 node``, ``2 nodes``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(words: Iterable[str]) -> str:
    """Words as a message lists them: ``a, b or c``."""
    items = list(words)
    if len(items) < 2:
        return "".join(items)
    return ", ".join(items[:-1]) + " or " + items[-1]

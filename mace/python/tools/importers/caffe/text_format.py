# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Parses protobuf's text form into a message, and keeps what the message lacks.

Every fork of Caffe adds fields of its own. `google.protobuf.text_format` stops at
the first one, or forgets all of them; but an unknown field may change what a layer
computes. This parser notes unknown fields, so that a layer that has some can be
refused, and a layer that is not needed can be ignored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.descriptor import FieldDescriptor as Fd

# Deeper nesting than any network needs.
_DEEPEST = 32

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\f\v]+|\#[^\n]*)
    |(?P<line>\n)
    |(?P<name>[A-Za-z_][A-Za-z0-9_.]*)
    |(?P<number>(?:0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)[fF]?)
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<mark>[{}<>\[\]:;,-])
    """,
    re.VERBOSE,
)
_INTEGERS = {
    Fd.TYPE_INT32: (-(2**31), 2**31 - 1),
    Fd.TYPE_INT64: (-(2**63), 2**63 - 1),
    Fd.TYPE_UINT32: (0, 2**32 - 1),
}
_FLOATS = (Fd.TYPE_FLOAT, Fd.TYPE_DOUBLE)
_BOOLS = {
    **dict.fromkeys(("true", "True", "t", "1"), True),
    **dict.fromkeys(("false", "False", "f", "0"), False),
}
_CLOSING = {"{": "}", "<": ">"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class TextError(Exception):
    """The text is not in protobuf's text form, or does not fit the message."""


@dataclass(frozen=True)
class Unknown:
    """A field that the message lacks.

    Attributes:
        place: index of the entry of each repeated field around it, by field name.
        name: full name, from the outermost message of a repeated field on.
        line: where it is, from 1.
    """

    place: tuple[tuple[str, int], ...]
    name: str
    line: int


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int


@dataclass
class _Place:
    """Where the parser is: the messages around it."""

    names: tuple[str, ...] = ()
    entries: tuple[tuple[str, int], ...] = ()

    def inside(self, name: str, index: int | None) -> _Place:
        entry = () if index is None else ((name, index),)
        return _Place((*self.names, name), (*self.entries, *entry))


@dataclass
class _Parser:
    tokens: Iterator[_Token]
    ignored: Collection[str]
    unknown: list[Unknown] = field(default_factory=list)
    token: _Token = _Token("end", "", 1)

    def advance(self) -> _Token:
        """The current token; goes on to the next one."""
        current = self.token
        self.token = next(self.tokens, _Token("end", "", current.line))
        return current

    def accept(self, *texts: str) -> bool:
        if self.token.kind == "mark" and self.token.text in texts:
            self.advance()
            return True
        return False

    def fail(self, what: str, token: _Token | None = None) -> TextError:
        token = token or self.token
        return TextError(f"line {token.line}: {what}")

    def message(self, message: Any, end: str, place: _Place) -> None:
        """Parses fields until the mark `end` ('': the end of the text)."""
        if len(place.names) > _DEEPEST:
            raise self.fail("messages are nested too deeply")
        while True:
            if self.token.kind == "end" and not end:
                return
            if end and self.accept(end):
                return
            if self.token.kind != "name":
                found = self.token.text or "the end of the file"
                raise self.fail(f"expected the name of a field, not {found!r}")
            self._field(message, place)
            self.accept(";", ",")

    def _field(self, message: Any, place: _Place) -> None:
        token = self.advance()
        name = token.text
        known = message.DESCRIPTOR.fields_by_name.get(name)
        if known is None or name in self.ignored:
            if name not in self.ignored:
                full = ".".join((*place.names[1:], name))
                self.unknown.append(Unknown(place.entries, full, token.line))
            self._skip()
            return
        if not _is_repeated(known) and message.HasField(name):
            raise self.fail(f"{name} is given twice", token)
        colon = self.accept(":")
        if known.type != Fd.TYPE_MESSAGE and not colon:
            raise self.fail(f"expected ':' after {name}")
        for _ in self._entries(_is_repeated(known), name):
            if known.type == Fd.TYPE_MESSAGE:
                self._inner(message, known, place)
            elif _is_repeated(known):
                getattr(message, name).append(self._scalar(known))
            else:
                setattr(message, name, self._scalar(known))

    def _entries(self, repeated: bool, name: str) -> Iterator[None]:
        """One step for each value: several in brackets."""
        if not self.accept("["):
            yield
            return
        if not repeated:
            raise self.fail(f"{name} takes one value")
        while not self.accept("]"):
            yield
            if not self.accept(",") and self.token.text != "]":
                raise self.fail("expected ',' or ']'")

    def _inner(self, message: Any, known: Any, place: _Place) -> None:
        name = known.name
        index = None
        if _is_repeated(known):
            index = len(getattr(message, name))
            inner = getattr(message, name).add()
        else:
            inner = getattr(message, name)
            inner.SetInParent()
        end = _CLOSING.get(self.token.text)
        if end is None:
            raise self.fail(f"expected '{{' after {name}")
        self.advance()
        self.message(inner, end, place.inside(name, index))

    def _skip(self) -> None:
        """The value of a field that is not read."""
        colon = self.accept(":")
        open_marks: list[str] = []
        while True:
            token = self.advance()
            if token.kind == "end":
                raise self.fail("the text ends within a field", token)
            if token.text in ("{", "<", "[") and token.kind == "mark":
                open_marks.append({**_CLOSING, "[": "]"}[token.text])
            elif token.text in ("}", ">", "]") and token.kind == "mark":
                if not open_marks or open_marks.pop() != token.text:
                    raise self.fail(f"unexpected {token.text!r}", token)
            elif not open_marks and (token.kind == "mark" or not colon):
                if token.text == "-":
                    continue
                raise self.fail(f"unexpected {token.text!r}", token)
            if not open_marks:
                break
        while token.kind == "string" and self.token.kind == "string":
            token = self.advance()

    def _scalar(self, known: Any) -> Any:
        negative = self.accept("-")
        token = self.advance()
        if known.type == Fd.TYPE_STRING:
            if token.kind != "string" or negative:
                raise self.fail(f"{known.name} takes a text in quotes", token)
            text = _unquoted(token.text)
            while self.token.kind == "string":
                text += _unquoted(self.advance().text)
            return text
        if known.type == Fd.TYPE_ENUM:
            return self._enum(known, token)
        if known.type == Fd.TYPE_BOOL:
            if token.text not in _BOOLS or negative:
                raise self.fail(f"{known.name} takes true or false", token)
            return _BOOLS[token.text]
        return self._number(known, token, negative)

    def _enum(self, known: Any, token: _Token) -> int:
        values = known.enum_type.values_by_name
        if token.text in values:
            return int(values[token.text].number)
        numbers = {str(v.number): v.number for v in values.values()}
        if token.text in numbers:
            return int(numbers[token.text])
        raise self.fail(
            f"{known.name} is {token.text!r}; accepted: {', '.join(values)}", token
        )

    def _number(self, known: Any, token: _Token, negative: bool) -> float:
        text = token.text.lower()
        try:
            if known.type in _FLOATS:
                if token.kind not in ("number", "name"):
                    raise ValueError
                value = float(text.rstrip("f") if token.kind == "number" else text)
            else:
                value = _integer(text)
        except ValueError:
            what = "a number" if known.type in _FLOATS else "an integer"
            raise self.fail(f"{known.name} takes {what}", token) from None
        value = -value if negative else value
        low, high = _INTEGERS.get(known.type, (value, value))
        if known.type not in _FLOATS and not low <= value <= high:
            raise self.fail(f"{known.name} is out of range", token)
        return value


def parse_text(text: str, message: Any, ignored: Collection[str]) -> list[Unknown]:
    """Fills `message` from its text form.

    Args:
        text: the whole file.
        message: an empty message.
        ignored: names of fields that do not matter, in all messages.

    Returns:
        The fields that the message lacks, without those of `ignored`.

    Raises:
        TextError: names the line.
    """
    parser = _Parser(_tokens(text), ignored)
    parser.advance()
    parser.message(message, "", _Place())
    return parser.unknown


def _tokens(text: str) -> Iterator[_Token]:
    line, position = 1, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise TextError(f"line {line}: unexpected {text[position]!r}")
        position = match.end()
        kind = match.lastgroup or ""
        if kind == "line":
            line += 1
        elif kind != "space":
            yield _Token(kind, match.group(), line)


def _is_repeated(known: Any) -> bool:
    found = getattr(known, "is_repeated", None)  # not in older versions of protobuf
    return bool(known.label == Fd.LABEL_REPEATED if found is None else found)


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m.group(1), m.group(1)), text[1:-1])


def _integer(text: str) -> int:
    if text.startswith("0x"):
        return int(text, 16)
    if len(text) > 1 and text.startswith("0"):
        return int(text, 8)
    if len(text) > 20:  # converting a very long one would take quadratic time
        raise ValueError
    return int(text)

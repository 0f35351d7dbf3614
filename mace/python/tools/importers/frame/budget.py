# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How much a model may become while it is read.

A few bytes can stand for terabytes: compressed zeros, one dataset under many names,
functions that call each other twice, a loop of 2**62 steps. Readers and handlers
therefore take what they unpack, repeat or make from the budget of the model before
they do so. It is a multiple of what the model's files hold and a floor, and one budget
serves all parts of a model.
"""

from __future__ import annotations

import contextlib
import contextvars
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar, Union

from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodeError,
)

# The most that each byte or node of the files may become. Compressed weights take a
# tenth less than plain ones; text and graphs, which are small, up to a twentieth.
TIMES = 16
# What any file may become, however small it is.
_FLOOR_BYTES = 64 << 20
# More nodes take minutes, and make a model that no engine runs well.
FLOOR_NODES = 1 << 15
_FLOOR_ELEMENTS = 1 << 28
# Choices that each run makes, inside of others. Both branches of each become nodes, so
# that their number may double with each level.
MOST_INNER_CHOICES = 64
# One constant that is not the repetition of one element.
_LARGEST_MADE = 1 << 26
# The memory that a parsed text takes, at most, for each of its bytes. A plain text thus
# always fits into the budget of its own file.
_TEXT_TIMES = 16
_ELEMENT_BYTES = 4

_Key = TypeVar("_Key", bound=Hashable)


@dataclass
class Budget:
    """The budget of one model.

    Attributes:
        path: of the model, for messages.
        size: bytes of its files that were opened so far.
        nodes: that its files hold, as far as they were counted.
        refusals: how often what a node becomes was too much.
    """

    path: Path | None = None
    size: int = 0
    nodes: int = 0
    refusals: int = 0
    _files: set[Hashable] = field(default_factory=set)
    _unpacked: int = 0
    _added: int = 0
    _made: float = 0
    _choices: int = 0
    _inner_choices: int = 0

    def copy(self) -> Budget:
        """One of which as much is spent."""
        return replace(self, _files=set(self._files))

    def hold(self, path: Path, size: int, file: Hashable = None) -> None:
        """Notes a file of the model, each once.

        Args:
            path, size: of the file.
            file: what identifies it; None: the path.
        """
        if self.path is None:
            self.path = path
        if file is None:
            file = path
        if file not in self._files:
            self._files.add(file)
            self.size += size

    def _refusal(self, reason: str, hint: str = "") -> UnsupportedNodeError:
        self.refusals += 1
        return UnsupportedNodeError(reason, hint)

    @property
    def unpackable(self) -> int:
        """Bytes that may still be unpacked."""
        return max(0, _FLOOR_BYTES + TIMES * self.size - self._unpacked)

    def unpack(self, count: int, what: str) -> None:
        """Takes bytes that are about to be unpacked.

        Args:
            count: of bytes.
            what: they are, for the message.

        Raises:
            ImportModelError: they are too many.
        """
        if count > self.unpackable:
            raise ImportModelError(self.excess(count, what))
        self._unpacked += count

    def excess(self, count: int, what: str) -> str:
        """Why so many bytes more are refused."""
        found = f"{what} to {bytes_text(count)}"
        if self._unpacked:
            found += f", after {bytes_text(self._unpacked)} of other parts"
        return (
            f"model_file_path: {self.path or 'the model'} unpacks {found}; its "
            f"{bytes_text(self.size)} may become "
            f"{bytes_text(_FLOOR_BYTES + TIMES * self.size)} in all ({TIMES} times the "
            f"files and {bytes_text(_FLOOR_BYTES)}): the file is damaged or made to "
            "fill the memory"
        )

    def unpack_text(self, count: int, what: str) -> None:
        """Takes a text that is about to be parsed, which takes more memory than bytes.

        Raises:
            ImportModelError: it is too long.
        """
        if count * _TEXT_TIMES > self.unpackable:
            raise ImportModelError(
                f"model_file_path: {self.path or 'the model'}: {what} is a text of "
                f"{bytes_text(count)}; at most "
                f"{bytes_text(self.unpackable // _TEXT_TIMES)} are read for "
                f"{bytes_text(self.size)} of files"
            )
        self._unpacked += count * _TEXT_TIMES

    @property
    def spare_nodes(self) -> int:
        """Nodes that may still be added."""
        return max(0, FLOOR_NODES + TIMES * self.nodes - self._added)

    def add_nodes(self, count: int, what: str = "the model") -> None:
        """Takes nodes that the file does not hold one by one: steps of loops, and
        bodies of functions.

        Raises:
            UnsupportedNodeError: they are too many.
        """
        self.check_nodes(count, what)
        self._added += count

    def check_nodes(self, count: int, what: str) -> None:
        """The same, if they are counted again when they are added."""
        most = FLOOR_NODES + TIMES * self.nodes
        if self._added + count > most:
            raise self._refusal(
                f"{what} would become {_number(self._added + count)} nodes; calls and "
                f"loops of a model of this size may become {most}",
                "cut the model before it with output_tensors",
            )

    @property
    def added(self) -> int:
        """Nodes that were added so far."""
        return self._added

    def check_rest(self, before: int, rounds: int) -> None:
        """Refuses the rest of a loop when its first round is there: that may hold loops
        whose rounds nobody could count before.

        Args:
            before: the nodes that had been added before the first round.
            rounds: how many follow, at least.
        """
        each = self._added - before
        self.check_nodes(rounds * each, f"{rounds} or more rounds of {each} nodes")

    @contextlib.contextmanager
    def choice(self, condition: str) -> Iterator[None]:
        """While this lasts, both branches of a choice are converted.

        Args:
            condition: its name, for the message.

        Raises:
            UnsupportedNodeError: too many choices lie in others.
        """
        if self._choices:
            self._inner_choices += 1
        if self._inner_choices > MOST_INNER_CHOICES:
            raise self._refusal(
                f"its condition ({condition}) is computed at run time, as those of "
                f"{MOST_INNER_CHOICES} others in branches of branches; both "
                "branches of each would become nodes",
                "cut the model before it with output_tensors",
            )
        self._choices += 1
        try:
            yield
        finally:
            self._choices -= 1

    def make(self, *lengths: float, repeated: bool = False) -> None:
        """Takes a constant that is about to be made, and that no file holds.

        Args:
            lengths: of its dimensions.
            repeated: it is one element, repeated by a view.

        Raises:
            UnsupportedNodeError: it has too many elements.
        """
        count = math.prod(lengths)
        count = 0 if count < 0 else count  # a NaN stays one
        most = _FLOOR_ELEMENTS + TIMES * self.size // _ELEMENT_BYTES
        # Not a number is none of those, either.
        if not repeated and not count <= _LARGEST_MADE:
            raise self._refusal(
                f"a constant of {_number(count)} elements is too large; at most "
                f"{_LARGEST_MADE} are made"
            )
        if not self._made + count <= most:
            raise self._refusal(
                f"a constant of {_number(count)} elements is too large: with those "
                f"before it, {_number(self._made + count)} are made; for a model of "
                f"this size, at most {most}"
            )
        self._made += count


_CURRENT: contextvars.ContextVar[Budget | None] = contextvars.ContextVar(
    "budget", default=None
)


@contextlib.contextmanager
def one_budget(of: Budget | None = None) -> Iterator[Budget]:
    """While this lasts, all that is read shares a budget: for the importers, which read
    one model at a time.

    Args:
        of: the model; None: a new one.
    """
    token = _CURRENT.set(Budget() if of is None else of)
    try:
        yield budget()
    finally:
        _CURRENT.reset(token)


def budget() -> Budget:
    """Of the model that is being read; a new one if none is."""
    return _CURRENT.get() or Budget()


def check_made(*lengths: float, repeated: bool = False) -> None:
    """`Budget.make` of the model that is being read."""
    budget().make(*lengths, repeated=repeated)


def expanded(
    roots: Iterable[_Key],
    body: Callable[[_Key], tuple[int, Mapping[tuple[_Key, ...], int]]],
) -> int:
    """How many nodes calls become, at least, when each is replaced by what it calls.

    The number is computed, not counted: it is exponential in the number of functions.
    A function that calls itself counts as if it did not.

    Args:
        roots: what is called, as often as it is called.
        body: the number of nodes of one, and how often it calls one of several.
    """
    costs: dict[_Key, int] = {}
    roots = list(roots)
    waiting = list(dict.fromkeys(roots))
    inside: dict[_Key, tuple[int, Mapping[tuple[_Key, ...], int]]] = {}
    while waiting:
        key = waiting[-1]
        if key in costs:
            waiting.pop()
        elif key not in inside:
            inside[key] = own, calls = body(key)
            waiting += [
                other
                for choice in calls
                for other in choice
                if other not in costs and other not in inside
            ]
        else:
            own, calls = inside.pop(key)
            costs[key] = own + sum(
                times * min(costs.get(other, 0) for other in choice)
                for choice, times in calls.items()
            )
    return sum(costs[root] for root in roots)


def _number(count: Union[int, float]) -> str:
    if isinstance(count, int) and count >= 1 << 50:
        return f"more than 2**{count.bit_length() - 1}"
    return f"{count:.0f}" if count < 1e15 else f"{count:g}"


def bytes_text(count: int) -> str:
    """``640 bytes``, ``1.3 KB``, ``15.9 GB``."""
    if count < 1000:
        return f"{count} bytes"
    size = float(count)
    for unit in ("KB", "MB", "GB", "TB", "PB"):
        size /= 1000
        if size < 1000 or unit == "PB":
            break
    return f"{size:.1f} {unit}"

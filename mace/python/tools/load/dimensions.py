# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The dimensions that a model leaves open, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mace.python.tools.errors import UsageError
from mace.python.tools.importers.frame.description import TensorDescription
from mace.python.tools.ir.shapes import format_shape
from mace.python.tools.wording import listed, shown


class Dimensions:
    """Numbers for open dimensions.

    Dimensions of one name have one number. One without a name is called by its input
    and its index, as ``x[0]``.

    Args:
        given: by name; -1 is for those that each run decides.
        keep_open: take all others for such.
        in_python: messages are for those who call `mace.load`.
    """

    def __init__(
        self, given: Mapping[str, int], keep_open: bool = False, in_python: bool = False
    ) -> None:
        self._given = dict(given)
        self._keep_open = keep_open
        self._in_python = in_python
        # What each may be called, with the name that is shown.
        self._known: dict[str, str] = {}
        self._open: dict[str, None] = {}

    def close(self, tensor: TensorDescription) -> tuple[int, ...]:
        """The shape of an input with numbers; -1 for those that are still open."""
        return tuple(
            dim if isinstance(dim, int) else self._number(tensor.name, index, dim)
            for index, dim in enumerate(tensor.shape or ())
        )

    def _number(self, tensor: str, index: int, name: str | None) -> int:
        own = f"{tensor}[{index}]"
        names = [own, name] if name else [own]
        self._known.update(dict.fromkeys(names, names[-1]))
        for each in names:
            if each in self._given:
                return self._given[each]
        if not self._keep_open:
            self._open[names[-1]] = None
        return -1

    def check(self, model: str, inputs: Iterable[TensorDescription]) -> None:
        """Whether all have numbers, after `close` for all inputs.

        Raises:
            UsageError: naming those that do not, and numbers for none.
        """
        problems = []
        unknown = [name for name in self._given if name not in self._known]
        if unknown:
            there = listed(dict.fromkeys(self._known.values())) or "none"
            problems.append(
                f"{'' if self._in_python else '--'}dims: {model} has no open dimension "
                f"{listed(map(shown, unknown))}; it has: {there}"
            )
        if self._open:
            shapes = ", ".join(
                f"{t.name} {format_shape(t.shape)}"
                for t in inputs
                if t.shape is not None and not all(isinstance(d, int) for d in t.shape)
            )
            problems.append(
                f"{model} leaves dimensions of its inputs open: {shapes}; give "
                f"them numbers, for example {self._example()} (-1: each run decides), "
                "or write input_shapes in a deployment file"
            )
        if problems:
            raise UsageError("\n".join(problems))

    def _example(self) -> str:
        """All that is to be written, with what is there already."""
        known = {n: number for n, number in self._given.items() if n in self._known}
        numbers = {**known, **dict.fromkeys(self._open, 1)}
        if self._in_python:
            return f"dims={numbers}"
        return f"--dims={','.join(f'{name}={n}' for name, n in numbers.items())}"

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Executed instructions by class, as instruction_plugin.c reports them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True)
class Counts:
    """Instructions by class; the names are those of the plugin.

    The first five multiply and accumulate. Everything of a 32-bit guest is in
    `other`: only its total is known.
    """

    fmla: float = 0
    fmla_half: float = 0
    fmadd: float = 0
    dot: float = 0
    mla: float = 0
    simd: float = 0
    load_simd: float = 0
    store_simd: float = 0
    load: float = 0
    store: float = 0
    branch: float = 0
    integer: float = 0
    other: float = 0

    @property
    def total(self) -> float:
        return float(sum(getattr(self, name) for name in CLASSES))

    @property
    def multiply_adds(self) -> float:
        """Instructions, not products: one has up to 16."""
        return self.fmla + self.fmla_half + self.fmadd + self.dot + self.mla

    @property
    def share(self) -> float:
        """Of multiply-adds in all instructions; 0 if they are not known."""
        return self.multiply_adds / self.total if self.total else 0.0

    def per_run(self, fewer: Counts, runs: int) -> Counts:
        """The counts of one inference, from runs with different numbers of them."""
        return Counts(
            *((getattr(self, name) - getattr(fewer, name)) / runs for name in CLASSES)
        )


CLASSES = tuple(field.name for field in fields(Counts))


@dataclass(frozen=True)
class Block:
    """Straight code that ends in a branch, or where the emulator cut it.

    Attributes:
        function: of the executable, as the linker names it; empty if unknown.
        instructions: executed in it.
        address: of its first instruction, where the program was loaded.
        size: instructions of it.
        macs: of these, multiply-adds.
        words: their encodings; empty for a 32-bit guest.
    """

    function: str
    instructions: int
    address: int
    size: int
    macs: int
    words: tuple[int, ...]


@dataclass(frozen=True)
class Execution:
    """What a program executed.

    Attributes:
        total: from start to end.
        marks: from each mark to the next; the first from the start.
        blocks: the hottest first, as many as were asked for.
    """

    total: Counts
    marks: tuple[Counts, ...] = ()
    blocks: tuple[Block, ...] = field(default=(), repr=False)

    def per_mark(self) -> Counts:
        """The mean between marks.

        Raises:
            ValueError: there are fewer than two.
        """
        if len(self.marks) < 2:
            raise ValueError("the program made fewer than two marks")
        runs = self.marks[1:]
        return Counts(
            *(sum(getattr(run, name) for run in runs) / len(runs) for name in CLASSES)
        )


def parse(lines: Iterable[str]) -> Execution:
    """Parses the plugin's output.

    Raises:
        ValueError: it is cut off: the emulated program was killed.
    """
    total = None
    marks = []
    blocks = []
    for line in lines:
        record: dict[str, Any] = json.loads(line)
        kind = record.pop("type")
        if kind == "block":
            record["words"] = tuple(record["words"])
            blocks.append(Block(**record))
        elif kind == "mark":
            marks.append(Counts(**record))
        else:
            total = Counts(**record)
    if total is None:
        raise ValueError("the counts are cut off")
    return Execution(total, tuple(marks), tuple(blocks))

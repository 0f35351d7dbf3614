# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Loops whose rounds the run counts: the operators between LoopBegin and LoopEnd.

A loop consists of the operators that its LoopBegin leads to and that lead to its
LoopEnd. In a sorted graph they are next to each other, as the engine needs them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mace.python.tools.catalogue import LoopPart, default_catalogue

if TYPE_CHECKING:
    from mace.python.tools.ir.graph import Op


def part_of(op_type: str) -> LoopPart:
    """Whether such operators begin or end a loop."""
    catalogue = default_catalogue()
    return catalogue[op_type].loop if op_type in catalogue else LoopPart.NONE


def has_loops(ops: Iterable[Op]) -> bool:
    """Whether there is a loop."""
    return any(
        part_of(op_type) is not LoopPart.NONE for op_type in {o.type for o in ops}
    )


def loops_of(ops: Sequence[Op]) -> list[tuple[int, int]]:
    """The places of the operators that begin and end each loop of a sorted graph,
    inner loops first.
    """
    open_: list[int] = []
    found = []
    for index, op in enumerate(ops):
        part = part_of(op.type)
        if part is LoopPart.BEGIN:
            open_.append(index)
        elif part is LoopPart.END and open_:
            found.append((open_.pop(), index))
    return found


def arranged(ops: Sequence[Op]) -> list[Op]:
    """Sorted operators in an order in which nothing is inside of a loop but what
    belongs to it.
    """
    place = {op: index for index, op in enumerate(ops)}
    bodies: list[list[Op]] = []
    for end in ops:
        enters = end.input(0).producer if part_of(end.type) is LoopPart.END else None
        if enters is None or enters not in place:
            continue
        inside = _between(enters, end, place)
        # All of a loop is inside, even if it begins with what each round has.
        for inner in bodies:
            if inner[-1] in inside:
                inside.update(inner)
        between = sorted(inside - {enters, end}, key=place.__getitem__)
        bodies.append([enters, *between, end])
    return _arranged(list(ops), bodies, place)


def _between(begin: Op, end: Op, place: dict[Op, int]) -> set[Op]:
    """The operators that `begin` leads to and that lead to `end`."""
    first, last = place[begin], place[end]
    after, stack = {begin}, [begin]
    while stack:
        for value in stack.pop().outputs:
            for reader, _ in value.uses:
                if reader not in after and first < place.get(reader, -1) <= last:
                    after.add(reader)
                    stack.append(reader)
    inside, stack = {begin, end}, [end]
    while stack:
        for read in stack.pop().inputs:
            maker = read.producer if read else None
            if maker in after and maker not in inside:
                inside.add(maker)
                stack.append(maker)
    return inside


def _arranged(
    ops: Sequence[Op], bodies: Sequence[Sequence[Op]], place: dict[Op, int]
) -> list[Op]:
    """`ops` with the loops among them as one each."""
    members = set(ops)
    inner = sorted((b for b in bodies if b[0] in members), key=len, reverse=True)
    unit: dict[Op, int] = {}
    outermost: list[Sequence[Op]] = []
    for body in inner:
        if body[0] not in unit:
            unit.update(dict.fromkeys(body, len(outermost)))
            outermost.append(body)
    # What waits for what, by the place of an operator or of the first one of a loop.
    key = {op: place[outermost[unit[op]][0]] if op in unit else place[op] for op in ops}
    waits: dict[int, set[int]] = {number: set() for number in key.values()}
    for op in ops:
        for value in op.inputs:
            maker = value.producer if value else None
            if maker in key and key[maker] != key[op]:
                waits[key[op]].add(key[maker])
    readers: dict[int, list[int]] = {}
    for number, makers in waits.items():
        for maker_place in makers:
            readers.setdefault(maker_place, []).append(number)
    ready = [number for number, makers in waits.items() if not makers]
    heapq.heapify(ready)
    by_place = {place[op]: op for op in ops}
    result: list[Op] = []
    while ready:
        number = heapq.heappop(ready)
        op = by_place[number]
        if op in unit:
            body = outermost[unit[op]]
            rest = [b for b in bodies if b is not body]
            result += [op, *_arranged(body[1:-1], rest, place), body[-1]]
        else:
            result.append(op)
        for reader in readers.get(number, ()):
            waits[reader].discard(number)
            if not waits[reader]:
                heapq.heappush(ready, reader)
    # What remains waits in a circle: something outside of a loop reads what is inside.
    done = set(result)
    return result + [op for op in ops if op not in done]

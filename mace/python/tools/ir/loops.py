# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The order of operators that others decide on.

Loops, whose rounds the run counts, are the operators between LoopBegin and LoopEnd. A
loop consists of the operators that its LoopBegin leads to and that lead to its LoopEnd.
In a sorted graph they are next to each other, as the engine needs them.

Choices by a condition of one element need one of their sides. The CPU does not run what
only the other one needs, if the condition is computed before it (runtimes/cpu/loops.h):
as it is in a sorted graph.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mace.python.tools.catalogue import ControlFlow, default_catalogue
from mace.python.tools.ir.shapes import elements

if TYPE_CHECKING:
    from mace.python.tools.ir.graph import Op, Value

    # Conditions of one element, and what they must be.
    Guards = frozenset[tuple[Value, bool]]


def control_of(op_type: str) -> ControlFlow:
    """What such operators decide on others."""
    catalogue = default_catalogue()
    return catalogue[op_type].control if op_type in catalogue else ControlFlow.NONE


def is_of_loop(op_type: str) -> bool:
    """Whether such operators begin or end a loop."""
    return control_of(op_type) in (ControlFlow.LOOP_BEGIN, ControlFlow.LOOP_END)


def is_choice(op: Op) -> bool:
    """Whether it needs only one of its sides in a run."""
    if control_of(op.type) is not ControlFlow.CHOICE:
        return False
    condition = op.input(0)
    return elements(condition.shape) == 1 and not condition.is_constant


def decides(ops: Iterable[Op]) -> bool:
    """Whether there are loops or choices."""
    return any(is_of_loop(op.type) or is_choice(op) for op in ops)


def guards_of(ops: Sequence[Op], outputs: Iterable[Value]) -> dict[Op, Guards]:
    """The conditions on which all readers of each operator of a sorted graph depend,
    and what they must be. Operators without any are left out.

    Args:
        outputs: of the graph, which are always needed.
    """
    nothing: Guards = frozenset()
    needs: dict[Value, Guards] = dict.fromkeys(outputs, nothing)
    guards: dict[Op, Guards] = {}

    def need(value: Value | None, found: Guards) -> None:
        if value is not None and not value.is_constant:
            needs[value] = needs[value] & found if value in needs else found

    for op in reversed(ops):
        read = [needs[value] for value in op.outputs if value in needs]
        own = frozenset.intersection(*read) if read else nothing
        if own:
            guards[op] = own
        if op.type == "Shape":
            continue  # computed before the run
        chosen = is_choice(op)
        for index, value in enumerate(op.inputs):
            side = own
            if chosen and index in (1, 2):
                side = own | {(op.input(0), index == 1)}
            need(value, side)
    return guards


def loops_of(ops: Sequence[Op]) -> list[tuple[int, int]]:
    """The places of the operators that begin and end each loop of a sorted graph,
    inner loops first.
    """
    open_: list[int] = []
    found = []
    for index, op in enumerate(ops):
        part = control_of(op.type)
        if part is ControlFlow.LOOP_BEGIN:
            open_.append(index)
        elif part is ControlFlow.LOOP_END and open_:
            found.append((open_.pop(), index))
    return found


def arranged(ops: Sequence[Op], outputs: Iterable[Value]) -> list[Op]:
    """Sorted operators in an order in which nothing is inside of a loop but what
    belongs to it, and conditions come before what only one side of a choice needs.

    Args:
        outputs: of the graph.
    """
    place = {op: index for index, op in enumerate(ops)}
    conditions = {
        op: {condition.producer for condition, _ in guards}
        for op, guards in guards_of(ops, outputs).items()
    }
    guarded: dict[Op, list[Op]] = {}
    for op, makers in conditions.items():
        for maker in makers:
            if maker is not None:
                guarded.setdefault(maker, []).append(op)
    bodies: list[list[Op]] = []
    for end in ops:
        if control_of(end.type) is not ControlFlow.LOOP_END:
            continue
        enters = end.input(0).producer
        if enters is None or enters not in place:
            continue
        inside = _between(enters, end, place, guarded)
        # All of a loop is inside, even if it begins with what each round has.
        for inner in bodies:
            if inner[-1] in inside:
                inside.update(inner)
        between = sorted(inside - {enters, end}, key=place.__getitem__)
        bodies.append([enters, *between, end])
    return _arranged(list(ops), bodies, place, conditions)


def _between(
    begin: Op, end: Op, place: dict[Op, int], guarded: Mapping[Op, Sequence[Op]]
) -> set[Op]:
    """The operators that `begin` leads to and that lead to `end`.

    Args:
        guarded: those that only some results of a condition need. What a condition
            inside decides on is inside, too: outside it would always run.
    """
    last = place[end]
    after, stack = {begin}, [begin]
    while stack:
        op = stack.pop()
        readers = [reader for value in op.outputs for reader, _ in value.uses]
        for reader in (*readers, *guarded.get(op, ())):
            if reader not in after and place.get(reader, last + 1) <= last:
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
    ops: Sequence[Op],
    bodies: Sequence[Sequence[Op]],
    place: dict[Op, int],
    conditions: Mapping[Op, set[Op | None]],
) -> list[Op]:
    """`ops` with the loops among them as one each.

    Args:
        conditions: the operators that decide whether one is needed.
    """
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
        for maker in conditions.get(op, ()):
            # A condition inside of a loop is one of its rounds.
            outside = maker not in unit or outermost[unit[maker]][-1] is maker
            if maker in key and outside and key[maker] != key[op]:
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
            result += [op, *_arranged(body[1:-1], rest, place, conditions), body[-1]]
        else:
            result.append(op)
        for reader in readers.get(number, ()):
            waits[reader].discard(number)
            if not waits[reader]:
                heapq.heappush(ready, reader)
    # What remains waits in a circle: something outside of a loop reads what is inside.
    done = set(result)
    return result + [op for op in ops if op not in done]

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Control flow: If, Loop, Scan and SequenceMap become the nodes of their graphs.

Loops are unrolled if the number of their steps is known and not too large; otherwise
the engine runs them (mace/ops/loop). Nodes of a body that do not depend on the step are
imported once.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import Protocol

import numpy as np
import onnx

from mace.python.tools.importers.emit.control_flow import Choice, EngineLoop
from mace.python.tools.importers.emit.rounds import (
    Maker,
    Part,
    count_rounds,
    small_constant,
)
from mace.python.tools.importers.frame.budget import budget
from mace.python.tools.importers.frame.errors import (
    UnsupportedNodeError,
    static_hint,
)
from mace.python.tools.importers.frame.known import known_elements
from mace.python.tools.importers.onnx.inner_graphs import least_nodes, reads, stays_true
from mace.python.tools.importers.onnx.sequences import (
    Known,
    Tensors,
    describe,
    slices,
    stacked,
    tensor,
)
from mace.python.tools.importers.standard.attributes import ELEMENT_TYPES
from mace.python.tools.importers.standard.convert import renamed
from mace.python.tools.importers.standard.counts import Counts
from mace.python.tools.importers.standard.node import STATIC_HINT, Node
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import format_shape, static

# How `rounds` calls operators that ONNX names otherwise.
_COUNTING = {
    "And": "LogicalAnd",
    "GreaterOrEqual": "GreaterEqual",
    "LessOrEqual": "LessEqual",
    "Not": "LogicalNot",
    "Or": "LogicalOr",
}
# Loops that become more nodes run in the engine if they can: unrolled, they take long
# to convert and to load.
MOST_UNROLLED = 2000
_LONGEST_PREFIX = 200
# The condition of a step, and the number of the next one, are no tensors of a body.
_NEXT = ("number of the next step",)
_ONE = ("one",)


class Host(Protocol):
    """What imports the nodes of a graph."""

    def known(self, name: str) -> Known:
        """What a name stands for."""

    def bind(self, name: str, value: Known) -> None:
        """Gives a value a name that is new."""

    def bind_constant(self, name: str, data: onnx.TensorProto) -> None:
        """The same for an initializer."""

    def run(self, nodes: Sequence[onnx.NodeProto], results: Sequence[str]) -> None:
        """Imports nodes in place of another one."""


class _UnknownStepsError(UnsupportedNodeError):
    """A loop cannot be unrolled, as the number of its steps is not known; the engine
    may run it.
    """


class _TooManyStepsError(_UnknownStepsError):
    """A loop should not be unrolled, as its steps become many nodes."""


@contextlib.contextmanager
def _steps() -> Iterator[None]:
    """What is asked for here decides how many steps there are."""
    try:
        yield
    except UnsupportedNodeError as error:
        raise _UnknownStepsError(error.reason, error.hint) from error


class Subgraph:
    """A graph that is run any number of times."""

    def __init__(
        self,
        host: Host,
        graph: onnx.GraphProto,
        prefix: str,
        most_nodes: int | None = None,
    ) -> None:
        """Imports what does not depend on the inputs.

        Args:
            graph: of an attribute.
            prefix: of the names that its tensors get; unique.
            most_nodes: that its runs may become; None: as many as the budget has.
        """
        self._most_nodes = most_nodes
        self._host = host
        if len(prefix) > _LONGEST_PREFIX:
            # Where graphs in graphs have the same names, each level would double them.
            prefix = f"loop_{hashlib.sha256(prefix.encode()).hexdigest()[:16]}"
        self._prefix = prefix
        self._inputs = [value.name for value in graph.input]
        self.outputs = list(graph.output)
        self._rest = 0  # how many runs follow the next one, at least
        # Names inside of the graph, by whether a step has its own.
        self._own: dict[str, bool] = dict.fromkeys(self._inputs, True)
        for entry in graph.initializer:
            if entry.name not in self._own:
                self._own[entry.name] = False
                host.bind_constant(f"{prefix}/{entry.name}", entry)
        fixed: list[onnx.NodeProto] = []
        self._nodes: list[onnx.NodeProto] = []
        for node in graph.node:
            varies = any(self._own.get(name, False) for name in reads(node))
            (self._nodes if varies else fixed).append(node)
            self._own.update(dict.fromkeys(filter(None, node.output), varies))
        made = [name for node in fixed for name in filter(None, node.output)]
        self._run(fixed, self._renaming(""), made)

    @property
    def cost(self) -> int:
        """The nodes that a run becomes at least."""
        return max(1, least_nodes(self._nodes, self._number))

    def _number(self, name: str) -> int | None:
        if self._own.get(name):
            return None
        found = small_constant(self._host.known(self._renaming("")(name)))
        if found is None or found.size != 1 or found.dtype.kind not in "bi":
            return None
        return int(found.item())

    def check_steps(self, count: int) -> None:
        """Refuses so many runs before the first one if they are too many."""
        cost = self.cost
        self._check_cost(count * cost, f"its {count} steps of {cost} nodes")
        self._rest = count - 1

    def _check_cost(self, nodes: int, what: str) -> None:
        try:
            budget().check_nodes(nodes, what)
            if self._most_nodes is not None and nodes > self._most_nodes:
                raise UnsupportedNodeError(f"{what} are too many to be unrolled")
        except UnsupportedNodeError as error:
            if self._most_nodes is None:
                raise
            raise _TooManyStepsError(error.reason, error.hint) from error

    def check_rounds(self, limit: int | None, states: Sequence[Known]) -> None:
        """Refuses the steps of a loop before the first one, if they are too many and
        its condition counts them.
        """
        outputs = [value.name for value in self.outputs]
        if stays_true(self._inputs, outputs, self._nodes, self._number):
            if limit is None:
                raise UnsupportedNodeError(
                    "it never ends: M is missing, and its condition stays true"
                )
            self.check_steps(limit)
            return
        if len(self._inputs) != 2 + len(states) or len(self.outputs) <= len(states):
            return  # the first step says so
        cost = self.cost
        most = budget().spare_nodes // cost
        if limit is not None:
            most = min(most, limit)
        names = outputs[: 1 + len(states)]
        given = [np.array(0), np.array(True), *map(small_constant, states)]
        count = count_rounds(
            Part(lambda tensor: 1, ["condition"]),
            Part(self._maker, [_NEXT, *names]),
            lambda number: given[number],
            most,
        )
        if count is not None and (limit is None or count <= limit):
            what = f"its {count} or more steps of {cost} nodes"
            self._check_cost(count * cost, what)
            self._rest = count - 1

    def _maker(self, tensor: Hashable) -> Maker | None:
        """What a step computes a tensor of."""
        if tensor == _NEXT:
            return "Add", [self._inputs[0], _ONE]
        if tensor == _ONE:
            return np.array(1)
        name = str(tensor)
        if not name:
            return None
        if name in self._inputs:
            return self._inputs.index(name)
        if not self._own.get(name):
            return small_constant(self._host.known(self._renaming("")(name)))
        for node in self._nodes:
            if name in node.output and not node.attribute:
                return _COUNTING.get(node.op_type, node.op_type), node.input
        return None

    def run(
        self,
        step: int | str,
        arguments: Sequence[Known],
        decide: Callable[[Known], None] | None = None,
    ) -> list[Known]:
        """The outputs for these inputs.

        Args:
            step: its number.
            arguments: the inputs.
            decide: gets output 0 before the nodes that it does not need are imported.
        """
        if len(arguments) != len(self._inputs):
            raise UnsupportedNodeError(
                f"its graph has {len(self._inputs)} inputs, not {len(arguments)}"
            )
        rename = self._renaming(f"{step}/")
        before = budget().added
        if not self._nodes:
            budget().add_nodes(1, "with others, it")  # the constants of a step
        for name, value in zip(self._inputs, arguments):
            self._host.bind(rename(name), value)
        outputs = [value.name for value in self.outputs]
        nodes = self._nodes
        if decide is not None and outputs:
            first, nodes = self._needed(outputs[0])
            read = {*outputs, *(name for node in nodes for name in reads(node))}
            made = [name for node in first for name in node.output if name in read]
            self._run(first, rename, made)
            decide(self._host.known(rename(outputs[0])))
        self._run(nodes, rename, outputs)
        if self._rest > 0:
            each, rest, self._rest = budget().added - before, self._rest, 0
            self._check_cost(rest * each, f"{rest} or more steps of {each} nodes")
        return [self._host.known(rename(name)) for name in outputs]

    def _needed(self, name: str) -> tuple[list[onnx.NodeProto], list[onnx.NodeProto]]:
        """The nodes of a step that a tensor needs, and the others, in order."""
        needed, first, others = {name}, [], []
        for node in reversed(self._nodes):
            if needed.intersection(node.output):
                needed.update(reads(node))
                first.append(node)
            else:
                others.append(node)
        return first[::-1], others[::-1]

    def _renaming(self, step: str) -> Callable[[str], str]:
        def rename(name: str) -> str:
            varies = self._own.get(name) if name else None
            if varies is None:
                return name  # a tensor outside
            return f"{self._prefix}/{step if varies else ''}{name}"

        return rename

    def _run(
        self,
        nodes: Sequence[onnx.NodeProto],
        rename: Callable[[str], str],
        results: Sequence[str],
    ) -> None:
        budget().add_nodes(len(nodes), "with others, it")
        copies = [renamed(node, rename, {}) for node in nodes]
        self._host.run(copies, [rename(name) for name in results])


def run_if(host: Host, node: Node, inputs: Sequence[Known | None]) -> list[Known]:
    """The outputs of the branch that is taken, or the choice between both."""
    if not inputs or inputs[0] is None:
        raise UnsupportedNodeError("its condition is missing")
    condition = tensor(inputs, 0)
    graphs = [_graph(node, name) for name in ("then_branch", "else_branch")]
    prefixes = [f"{node.output_name}/{name}" for name in ("then", "else")]
    if condition.is_constant:
        taken = 0 if condition.numpy().all() else 1
        return Subgraph(host, graphs[taken], prefixes[taken]).run("", [])
    choice = Choice(node.builder, condition, node.label)
    yes, no = (
        found if found is None else list(found)
        for found in choice.both(
            *(partial(_branch, host, *of) for of in zip(graphs, prefixes))
        )
    )
    return [
        _choice(node, choice, *pair)
        if node.is_used(index)
        else next(found for found in pair if found is not None)
        for index, pair in enumerate(itertools.zip_longest(yes or [], no or []))
    ]


def _branch(host: Host, graph: onnx.GraphProto, prefix: str) -> list[Known]:
    return Subgraph(host, graph, prefix).run("", [])


def _choice(node: Node, choice: Choice, yes: Known | None, no: Known | None) -> Known:
    """Args: yes, no: None for the result of a branch that is not converted."""
    condition = choice.condition
    one, other = _result(yes, condition), _result(no, condition)
    if one is None or other is None:
        lengths, chosen = Counts(node), choice.between(one, other)
        known = one or other
        count = lengths.of(known) if known is not None else None
        return lengths.limited(chosen, count.count, count.axis) if count else chosen
    if one is other:
        return one
    either = Counts(node).either(condition, one, other)
    if either is not None:
        return either
    if one.shape is None or one.shape != other.shape or None in one.shape:
        raise UnsupportedNodeError(
            f"the condition ({condition.name}) is computed at run time, and the "
            f"branches give the shapes {format_shape(one.shape)} and "
            f"{format_shape(other.shape)}",
            static_hint(condition, STATIC_HINT),
        )
    return node.make("Where", [condition, one, other])


def _result(found: Known | None, condition: Value) -> Value | None:
    """What a branch gives, which must be a tensor."""
    if found is None or isinstance(found, Value):
        return found
    raise UnsupportedNodeError(
        f"the condition ({condition.name}) is computed at run time, and an output is "
        f"{describe(found)}",
        static_hint(condition, STATIC_HINT),
    )


def _unrolled_or_looped(
    node: Node,
    unroll: Callable[[str, int | None], list[Known]],
    loop: Callable[[UnsupportedNodeError], list[Known]],
) -> list[Known]:
    """The results of a loop, unrolled if its steps are known and few.

    Args:
        unroll: called with a unique prefix of names, and the most nodes that it may
            become.
        loop: leaves it to the engine; called with the reason.
    """
    try:
        return unroll(node.output_name, MOST_UNROLLED)
    except _UnknownStepsError as error:
        why = error
    try:
        with node.builder.counted.in_loop():
            return loop(why)
    except UnsupportedNodeError:
        if not isinstance(why, _TooManyStepsError):
            raise
    return unroll(f"{node.output_name}/unrolled", None)


def run_loop(host: Host, node: Node, inputs: Sequence[Known | None]) -> list[Known]:
    """The last states, and the scan outputs of all steps."""
    return _unrolled_or_looped(
        node,
        lambda prefix, most: _unrolled(host, node, inputs, prefix, most),
        lambda why: _looped(host, node, inputs, why),
    )


def _unrolled(
    host: Host,
    node: Node,
    inputs: Sequence[Known | None],
    prefix: str,
    most_nodes: int | None,
) -> list[Known]:
    given = [*inputs, None, None]
    limit = None if given[0] is None else _integer(tensor(given, 0), "M")
    goes_on = True if given[1] is None else _flag(tensor(given, 1), "cond")
    states = [_required(value, index + 2) for index, value in enumerate(inputs[2:])]
    body = Subgraph(host, _graph(node, "body"), prefix, most_nodes)
    scanned: list[list[Value]] = [[] for _ in body.outputs[1 + len(states) :]]
    if goes_on:
        body.check_rounds(limit, states)
    count = 0

    def decide(goes_on_after: Known) -> None:
        nonlocal goes_on
        if count + 1 != limit:
            goes_on = _flag(
                tensor([goes_on_after], 0), f"whether a step follows step {count}"
            )

    while goes_on and (limit is None or count < limit):
        number = node.builder.constant(
            f"{prefix}/{count}/number", np.array(count, np.int64)
        )
        on = node.builder.constant(f"{prefix}/{count}/condition", np.array(True))
        _, *results = body.run(count, [number, on, *states], decide)
        states = results[: len(states)]
        _collect(scanned, results[len(states) :])
        count += 1
    types = body.outputs[1 + len(states) :]
    return [
        *states,
        *(_stacked(node, values, 0, kind) for values, kind in zip(scanned, types)),
    ]


def _looped(
    host: Host, node: Node, inputs: Sequence[Known | None], why: UnsupportedNodeError
) -> list[Known]:
    """The same as a loop of the engine.

    Args:
        why: the loop is not unrolled.
    """
    given = [*inputs, None, None]
    limit = None if given[0] is None else _limit(tensor(given, 0))
    go = None if given[1] is None else tensor(given, 1)
    others = [x for x in inputs[2:] if x is not None and not isinstance(x, Value)]
    if others:
        raise UnsupportedNodeError(
            f"{why.reason}; and it hands on {describe(others[0])}", why.hint
        )
    states = [tensor(inputs, index) for index in range(2, len(inputs))]
    loop = EngineLoop(node.builder, node.label, limit, go, states)
    body = Subgraph(host, _graph(node, "body"), f"{node.output_name}/loop")
    results = body.run(
        "step", [loop.step, node.literal(True, DataType.BOOL), *loop.states]
    )
    values = [tensor(results, index) for index in range(len(results))]
    again, following, scanned = values[0], values[1:], values[1 + len(states) :]
    always = all(x is None or (x.is_constant and x.numpy().all()) for x in (go, again))
    if scanned and not (always and limit is not None and _is_known(limit)):
        raise UnsupportedNodeError(
            f"{why.reason}; and it collects a value of each step", why.hint
        )
    ended, collected = loop.end(again, following[: len(states)], scanned)
    return [*ended, *collected]


def _is_known(value: Value) -> bool:
    """Whether it follows from shapes alone."""
    return value.is_constant or value.dims is not None


def _limit(value: Value) -> Value | None:
    """The number of steps; None if it is no limit."""
    most = np.iinfo(np.int32).max
    if value.is_constant and value.numpy().size == 1 and value.numpy().item() >= most:
        return None
    return value


def run_scan(host: Host, node: Node, inputs: Sequence[Known | None]) -> list[Known]:
    """The last states, and the scan outputs of all steps."""
    if node.opset < 9:
        body = Subgraph(host, _graph(node, "body"), node.output_name)
        return _scan_of_batch(node, body, inputs)
    values = [_required(value, index) for index, value in enumerate(inputs)]

    def scan(prefix: str, most_nodes: int | None) -> _Scan:
        body = Subgraph(host, _graph(node, "body"), prefix, most_nodes)
        return _Scan(node, body, len(values))

    return _unrolled_or_looped(
        node,
        lambda prefix, most: scan(prefix, most).run(values, 0),
        lambda why: scan(f"{node.output_name}/loop", None).run_in_engine(values, why),
    )


def _scan_of_batch(
    node: Node, body: Subgraph, inputs: Sequence[Known | None]
) -> list[Known]:
    """Operator set 8: every tensor has a batch in front."""
    if inputs and inputs[0] is not None:
        raise UnsupportedNodeError("sequence_lens is given")
    values = [tensor(inputs, index) for index in range(1, len(inputs))]
    if not values:
        raise UnsupportedNodeError("it has no inputs")
    scan = _Scan(node, body, len(values))
    batch = node.static_shape(values[0])[0] if node.shape(values[0]) else 0
    if batch == 0:
        raise UnsupportedNodeError("the batch is empty")
    body.check_steps(batch)
    rows = [slices(node, x, 0, [1] * batch, keep=False) for x in values]
    results: list[list[Value]] = [[] for _ in body.outputs]
    for row in range(batch):
        outputs = scan.run([parts[row] for parts in rows], row)
        _collect(results, outputs)
    return [stacked(node, parts, 0) for parts in results]


class _Scan:
    """A loop over slices of the inputs."""

    def __init__(self, node: Node, body: Subgraph, count: int) -> None:
        self._node = node
        self._body = body
        self._scanned = node.integer("num_scan_inputs", 0)
        self._states = count - self._scanned
        if self._scanned < 1 or self._states < 0:
            raise UnsupportedNodeError(f"num_scan_inputs is {self._scanned}")
        self._outputs = len(body.outputs) - self._states
        old = node.opset < 9
        inputs = "directions" if old else "scan_input_directions"
        self._directions = self._list(inputs, self._scanned)
        self._axes = self._list("scan_input_axes", self._scanned)
        self._output_directions = self._list("scan_output_directions", self._outputs)
        self._output_axes = self._list("scan_output_axes", self._outputs)

    def _list(self, name: str, count: int) -> list[int]:
        values = self._node.integers(name, [0] * count)
        if len(values) != count:
            raise UnsupportedNodeError(f"{name} has {len(values)} numbers, not {count}")
        return values

    def run(self, values: Sequence[Known], row: int) -> list[Known]:
        """The outputs for these inputs; `row` of a batch."""
        node = self._node
        states = list(values[: self._states])
        parts = list(self._parts(values[self._states :]))
        lengths = {len(part) for part in parts}
        if len(lengths) != 1:
            raise UnsupportedNodeError(f"its inputs have {sorted(lengths)} steps")
        (length,) = lengths
        scanned: list[list[Value]] = [[] for _ in range(self._outputs)]
        for step in range(length):
            results = self._body.run(
                row * length + step, [*states, *(part[step] for part in parts)]
            )
            states = results[: self._states]
            _collect(scanned, results[self._states :])
        outputs: list[Known] = [*states]
        for index, found in enumerate(scanned):
            kind = self._body.outputs[self._states + index]
            ordered = found[::-1] if self._output_directions[index] else found
            axis = self._output_axes[index]
            if found:
                axis = node.axis(axis, len(node.shape(found[0])) + 1)
            outputs.append(_stacked(node, ordered, axis, kind))
        return outputs

    def run_in_engine(
        self, values: Sequence[Known], why: UnsupportedNodeError
    ) -> list[Known]:
        """The same as a loop of the engine.

        Args:
            why: the loop is not unrolled.
        """
        node = self._node
        if any(self._output_directions):
            raise why
        states = [tensor(values, index) for index in range(self._states)]
        scanned = [tensor(values, index) for index in range(self._states, len(values))]
        axes = [
            node.axis(axis, len(node.shape(x))) for axis, x in zip(self._axes, scanned)
        ]
        first = node.make("Shape", [scanned[0]])
        at = node.literal([axes[0]], DataType.INT32)
        trips = node.make("Gather", [first, at], {"axis": 0})
        loop = EngineLoop(node.builder, node.label, trips, None, states)
        parts = []
        for x, axis, backwards in zip(scanned, axes, self._directions):
            place = loop.step
            if backwards:
                last = node.eltwise("SUB", trips, node.literal(1, DataType.INT32))
                place = node.eltwise("SUB", node.reshape(last, []), place)
            parts.append(node.make("Gather", [x, place], {"axis": axis}))
        results = self._body.run("step", [*loop.states, *parts])
        made = [tensor(results, index) for index in range(len(results))]
        ended, collected = loop.end(None, made[: self._states], made[self._states :])
        outputs: list[Known] = [*ended]
        for value, axis in zip(collected, self._output_axes):
            rank = len(node.shape(value))
            axis = node.axis(axis, rank)
            perm = [*range(1, axis + 1), 0, *range(axis + 1, rank)]
            outputs.append(node.transpose(value, perm) if axis else value)
        return outputs

    def _parts(self, values: Sequence[Known]) -> Iterator[list[Value]]:
        node = self._node
        for index in range(len(values)):
            x = tensor(values, index)
            axis = node.axis(self._axes[index], len(node.shape(x)))
            what = f"the number of steps, dimension {axis} of {x.name}, is"
            with _steps():
                (length,) = node.known_dims([node.shape(x)[axis]], what)
            self._body.check_steps(length)
            parts = slices(node, x, axis, [1] * length, keep=False)
            yield parts[::-1] if self._directions[index] else parts


def run_map(host: Host, node: Node, inputs: Sequence[Known | None]) -> list[Known]:
    """SequenceMap: sequences of the outputs for each tensor of a sequence."""
    first = inputs[0] if inputs else None
    if not isinstance(first, Tensors):
        raise UnsupportedNodeError("input 0 is no sequence")
    count = len(first.values)
    body = Subgraph(host, _graph(node, "body"), node.output_name)
    body.check_steps(count)
    results: list[list[Value]] = [[] for _ in body.outputs]
    for step in range(count):
        arguments: list[Known] = []
        for index, value in enumerate(inputs):
            known = _required(value, index)
            if isinstance(known, Tensors):
                if len(known.values) != count:
                    raise UnsupportedNodeError(
                        f"input {index} is {describe(known)}, not of {count}"
                    )
                known = known.values[step]
            arguments.append(known)
        _collect(results, body.run(step, arguments))
    return [Tensors(tuple(values)) for values in results]


RUN: dict[str, Callable[[Host, Node, Sequence[Known | None]], list[Known]]] = {
    "If": run_if,
    "Loop": run_loop,
    "Scan": run_scan,
    "SequenceMap": run_map,
}


def _graph(node: Node, name: str) -> onnx.GraphProto:
    graph = node.attribute_value(name) if node.has(name) else None
    if not isinstance(graph, onnx.GraphProto):
        raise UnsupportedNodeError(f"attribute {name} is missing")
    return graph


def _required(value: Known | None, index: int) -> Known:
    if value is None:
        raise UnsupportedNodeError(f"input {index} is missing")
    return value


def _integer(value: Value, what: str) -> int:
    if not value.is_constant or value.numpy().size != 1:
        raise _UnknownStepsError(
            f"{what}, the number of steps ({value.name}), is computed at run time",
            static_hint(
                value,
                "give fixed input_shapes; if there is a step for each result that the "
                "run finds, end the model before the loop with output_tensors",
            ),
        )
    return int(value.numpy().reshape(-1)[0])


def _flag(value: Value, what: str) -> bool:
    with _steps():
        return bool(known_elements(value, what, STATIC_HINT).numpy().all())


def _collect(lists: Sequence[list[Value]], results: Sequence[Known]) -> None:
    for index, found in enumerate(lists):
        found.append(tensor(results, index))


def _stacked(
    node: Node, values: Sequence[Value], axis: int, kind: onnx.ValueInfoProto
) -> Value:
    """The results of all steps as one tensor."""
    if values:
        return stacked(node, values, axis)
    described = kind.type.tensor_type
    shape = static(
        tuple(
            dim.dim_value if dim.HasField("dim_value") else None
            for dim in described.shape.dim
        )
    )
    dtype = ELEMENT_TYPES.get(described.elem_type)
    if not described.HasField("shape") or shape is None or dtype is None:
        raise UnsupportedNodeError(
            f"it has no steps, and the shape of {kind.name} is not stated"
        )
    axis = node.axis(axis, len(shape) + 1)
    empty = np.zeros((*shape[:axis], 0, *shape[axis:]), dtype.numpy)
    return node.builder.constant(f"{node.label}/empty", empty)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A GraphDef under rewriting, and the table of rewrites."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mace.python.tools.errors import MaceError, UsageError
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tensorflow.node import (
    Tensor,
    decode_tensor,
    split_tensor_name,
)
from mace.python.tools.importers.tensorflow.reader import new_graph
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.wording import nearest_names

# What every rewrite takes.
IGNORE_ERRORS = "ignore_errors"
FLOAT = 1
_NUMBERS = {
    np.dtype(np.float32): FLOAT,
    np.dtype(np.int32): 3,
    np.dtype(np.uint8): 4,
    np.dtype(np.int8): 6,
    np.dtype(np.bool_): 10,
}


class TransformError(MaceError):
    """A graph cannot be rewritten."""


def source_of(text: str) -> Tensor:
    """The node and the output that an input names; -1 for a control input."""
    return (text[1:], -1) if text.startswith("^") else split_tensor_name(text)


def input_text(tensor: Tensor) -> str:
    """How an input names a tensor; the inverse of `source_of`."""
    node, output = tensor
    if output < 0:
        return f"^{node}"
    return f"{node}:{output}" if output else node


def is_constant(node: Any) -> bool:
    """Whether a node is a constant."""
    return bool(node.op == "Const")


def data_inputs(node: Any) -> list[Tensor]:
    """The tensors that a node reads, without control inputs."""
    return [t for t in map(source_of, node.input) if t[1] >= 0]


def integers(node: Any, name: str) -> list[int]:
    """A list of integers in an attribute; empty if it is not set."""
    return list(node.attr[name].list.i) if name in node.attr else []


def string(node: Any, name: str, default: str = "") -> str:
    """A string in an attribute."""
    if name not in node.attr:
        return default
    return bytes(node.attr[name].s).decode("utf-8", "replace")


class WorkGraph:
    """Nodes by name, in order, and what the model's inputs and outputs are.

    Args:
        proto: the GraphDef; its nodes are changed.
        inputs, outputs: names of tensors.

    Raises:
        TransformError: a tensor does not exist, or a node reads one that does not.
    """

    def __init__(
        self, proto: Any, inputs: Iterable[str], outputs: Iterable[str]
    ) -> None:
        self._proto = proto
        self.nodes: dict[str, Any] = {node.name: node for node in proto.node}
        self.inputs = [self._named("--inputs", name) for name in inputs]
        self.outputs = [self._named("--outputs", name) for name in outputs]
        self.check()

    def _named(self, flag: str, name: str) -> Tensor:
        tensor = split_tensor_name(name)
        if tensor[0] not in self.nodes:
            near = nearest_names(tensor[0], self.nodes)
            hint = f"near names: {', '.join(near)}" if near else "no name is near"
            raise TransformError(f"{flag}: the graph has no node {name!r}; {hint}")
        return tensor

    @property
    def kept(self) -> set[str]:
        """Nodes whose names and results must stay."""
        return {node for node, _ in (*self.inputs, *self.outputs)}

    def to_proto(self) -> Any:
        """The graph as a message."""
        result = new_graph()
        result.CopyFrom(self._proto)
        del result.node[:]
        result.node.extend(self.nodes.values())
        for node in result.node:
            self._keep_places(node)
        return result

    def _keep_places(self, node: Any) -> None:
        """Removes the names of nodes that no longer exist from what a node must share
        its device with: TensorFlow would not load them.
        """
        if "_class" not in node.attr:
            return
        places = node.attr["_class"].list.s
        kept = [
            place
            for place in places
            if not place.startswith(b"loc:@")
            or place[5:].decode("utf-8", "replace") in self.nodes
        ]
        if len(kept) < len(places):
            del places[:]
            places.extend(kept)
            if not kept:
                del node.attr["_class"]

    def check(self) -> None:
        """Checks that each node, input and output that is named exists."""
        for node in self.nodes.values():
            for name in node.input:
                if source_of(name)[0] not in self.nodes:
                    raise TransformError(
                        f"node {node.name} reads {name!r}, which the graph does not "
                        "hold"
                    )

    def new_node(self, name: str, op: str, inputs: Sequence[str] = ()) -> Any:
        """A node that is not yet in the graph."""
        return type(next(iter(self.nodes.values())))(name=name, op=op, input=inputs)

    def replace(self, name: str, node: Any, *before: Any) -> None:
        """Puts a node in the place of another one, and nodes before it."""
        nodes: dict[str, Any] = {}
        for key, old in self.nodes.items():
            if key == name:
                nodes.update((new.name, new) for new in (*before, node))
            else:
                nodes[key] = old
        self.nodes = nodes

    def unique_name(self, name: str) -> str:
        """A name that no node has."""
        number, result = 0, name
        while result in self.nodes:
            number += 1
            result = f"{name}_{number}"
        return result

    def readers(self) -> dict[Tensor, list[Any]]:
        """Who reads each tensor; a node that reads it twice is there twice."""
        found: dict[Tensor, list[Any]] = {}
        for node in self.nodes.values():
            for name in node.input:
                found.setdefault(source_of(name), []).append(node)
        return found

    def redirect(self, change: Callable[[Tensor], Tensor | None]) -> None:
        """Changes what nodes read.

        Args:
            change: what to read instead of a tensor; None removes the input.
        """
        for node in self.nodes.values():
            wanted: list[str] = []
            for name in node.input:
                tensor = change(source_of(name))
                text = "" if tensor is None else input_text(tensor)
                if text and not (text.startswith("^") and text in wanted):
                    wanted.append(text)
            # Control inputs come last.
            wanted.sort(key=lambda text: text.startswith("^"))
            if wanted != list(node.input):
                del node.input[:]
                node.input.extend(wanted)

    def constant(self, tensor: Tensor) -> Array | None:
        """The elements of a constant; None if the tensor is none, or not of numbers."""
        node = self.nodes[tensor[0]]
        if not is_constant(node) or tensor[1] != 0 or "value" not in node.attr:
            return None
        try:
            return decode_tensor(node.attr["value"].tensor)
        except UnsupportedNodeError:
            return None

    def new_constant(self, name: str, array: Array, dtype: int | None = None) -> Any:
        """A constant that is not yet in the graph."""
        node = self.new_node(name, "Const")
        number = _NUMBERS[array.dtype] if dtype is None else dtype
        node.attr["dtype"].type = number
        tensor = node.attr["value"].tensor
        tensor.dtype = number
        for size in array.shape:
            tensor.tensor_shape.dim.add(size=size)
        little = array.dtype.newbyteorder("<")
        tensor.tensor_content = np.ascontiguousarray(array, little).tobytes()
        return node

    def needed(self) -> set[str]:
        """The nodes that the outputs need, from the model's inputs on."""
        ends = {node for node, _ in self.inputs}
        found: set[str] = set()
        stack = [node for node, _ in self.outputs]
        while stack:
            name = stack.pop()
            if name in found:
                continue
            found.add(name)
            if name not in ends:
                stack += [source_of(text)[0] for text in self.nodes[name].input]
        return found

    def drop_unread(self, names: Iterable[str]) -> None:
        """Removes those of some nodes that nothing reads, and what only they read."""
        kept, readers = self.kept, self.readers()
        counts: dict[str, int] = {}
        for (node, _), found in readers.items():
            counts[node] = counts.get(node, 0) + len(found)
        stack = list(names)
        while stack:
            name = stack.pop()
            if name not in self.nodes or name in kept or counts.get(name):
                continue
            for text in self.nodes.pop(name).input:
                source = source_of(text)[0]
                counts[source] -= 1
                stack.append(source)

    def ordered(self) -> Iterator[Any]:
        """All nodes, each after what it reads; otherwise in their order.

        Raises:
            TransformError: a node needs itself.
        """
        done: set[str] = set()
        on_path: set[str] = set()
        for root in self.nodes:
            stack = [(root, False)]
            while stack:
                name, leaving = stack.pop()
                if leaving:
                    on_path.discard(name)
                    done.add(name)
                    yield self.nodes[name]
                elif name in on_path:
                    raise TransformError(
                        f"node {name} depends on itself (a loop of TensorFlow 1); "
                        "freeze the model with lower_control_flow=False"
                    )
                elif name not in done:
                    on_path.add(name)
                    stack.append((name, True))
                    sources = [source_of(t)[0] for t in self.nodes[name].input]
                    stack += [(s, False) for s in reversed(sources) if s not in done]


@dataclass(frozen=True)
class Arguments:
    """The arguments of one rewrite.

    Attributes:
        name: of the rewrite.
        values: by key, in order.
    """

    name: str
    values: Mapping[str, Sequence[str]]

    def all(self, key: str) -> Sequence[str]:
        """Each value of a key that may be repeated."""
        return self.values.get(key, ())

    def one(self, key: str, default: str | None = None) -> str:
        """The only value of a key.

        Raises:
            UsageError: it is repeated, or missing without a default.
        """
        values = self.all(key)
        if len(values) > 1:
            raise UsageError(f"--transforms: {self.name}: {key} is given twice")
        if not values and default is None:
            raise UsageError(f"--transforms: {self.name} needs {key}=...")
        return values[0] if values else str(default)

    def integer(self, key: str, default: int, lowest: int) -> int:
        """A whole number, with its least value."""
        text = self.one(key, str(default))
        try:
            number = int(text)
        except ValueError:
            number = lowest - 1
        if number < lowest:
            raise UsageError(
                f"--transforms: {self.name}: {key}: found {text!r}, accepted: a whole "
                f"number, at least {lowest}"
            )
        return number

    def flag(self, key: str) -> bool:
        """true or false; false if it is not given."""
        text = self.one(key, "false").lower()
        if text not in ("true", "false", "1", "0"):
            raise UsageError(
                f"--transforms: {self.name}: {key}: found {text!r}, accepted: true or "
                "false"
            )
        return text in ("true", "1")


Transform = Callable[[WorkGraph, Arguments], None]


@dataclass(frozen=True)
class Entry:
    """A rewrite and the keys it takes."""

    run: Transform
    keys: tuple[str, ...]

    @property
    def summary(self) -> str:
        """What it does, in a line."""
        return (self.run.__doc__ or "").split("\n\n")[0].replace("\n    ", " ")


_ENTRIES: dict[str, Entry] = {}


def transform(*keys: str) -> Callable[[Transform], Transform]:
    """Decorator: the function is the rewrite of its name, with these keys."""

    def add(function: Transform) -> Transform:
        _ENTRIES[function.__name__] = Entry(function, (*keys, IGNORE_ERRORS))
        return function

    return add


def entries() -> Mapping[str, Entry]:
    """All rewrites by name, sorted."""
    # These register theirs when they are imported.
    from mace.python.tools.rewrite import cleaning, constants, convolutions  # noqa: F401

    return dict(sorted(_ENTRIES.items()))

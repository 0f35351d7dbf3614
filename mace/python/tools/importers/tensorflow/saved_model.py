# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the folder of a SavedModel: graph, signature, and the values of variables.

Which tensor of the checkpoint a variable gets is written in the graph itself: nodes
that TensorFlow runs when it loads the model restore tensors and assign them. TensorFlow
2 also saves the objects that a model consists of. A function says which of them it
reads besides its arguments; the checkpoint says where the state of each object is, and
finds the object by the names that lead to it from the first one. The restoring function
in the graph knows some variables under other names (those of Keras 3 are copied before
they are saved), so that only the objects lead to their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.model_file import check_part
from mace.python.tools.importers.tensorflow.bundle import PROTO, Bundle
from mace.python.tools.importers.tensorflow.node import (
    Function,
    Tensor,
    split_tensor_name,
)
from mace.python.tools.importers.tf_operators.node import Node
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.proto import load_proto

_OBJECTS = "_CHECKPOINTABLE_OBJECT_GRAPH"
_VALUE = "VARIABLE_VALUE"
_NAMES = ("saved_model.pb", "saved_model.pbtxt")
_TAG = "serve"
SIGNATURE = "serving_default"
_CALLS = {"PartitionedCall", "StatefulPartitionedCall"}
_RESTORE = "RestoreV2"
_ASSIGN = {"AssignVariableOp", "Assign"}
_PASS_ON = {"Identity", "IdentityN"}


def model_file(folder: Path) -> Path:
    """The file of the graph in the folder.

    Raises:
        ImportModelError: it is not the folder of a SavedModel.
    """
    found = [folder / name for name in _NAMES if (folder / name).is_file()]
    if not found:
        raise ImportModelError(
            f"model_file_path: {folder} is a folder without {_NAMES[0]}: it is no "
            "SavedModel"
        )
    check_part(folder, found[0])
    return found[0]


def served_graph(path: Path, model: Any) -> Any:
    """The MetaGraphDef for inference.

    Raises:
        ImportModelError: there is none.
    """
    graphs = {tuple(sorted(g.meta_info_def.tags)): g for g in model.meta_graphs}
    if (_TAG,) in graphs:
        return graphs[_TAG,]
    for tags, graph in graphs.items():
        if _TAG in tags:
            return graph
    shown = "; ".join(", ".join(tags) or "no tag" for tags in graphs) or "no graphs"
    raise ImportModelError(
        f"model_file_path: {path} has no graph with the tag {_TAG!r} (it has: "
        f"{shown}): save the model for serving"
    )


@dataclass(frozen=True)
class Signature:
    """What a SavedModel takes and returns: messages `TensorInfo` by name."""

    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)

    def tensors(self) -> dict[str, Tensor]:
        """The tensors by name; an input and an output of one name are the output."""
        infos = {**self.inputs, **self.outputs}
        return {name: split_tensor_name(info.name) for name, info in infos.items()}


def signature(graph: Any) -> Signature:
    """The signature `serving_default`, or the only one, or all together with the names
    that the graph has for their tensors.
    """
    signatures = {
        name: entry
        for name, entry in graph.signature_def.items()
        if not name.startswith("__")
    }
    chosen = signatures.get(SIGNATURE)
    if chosen is None and len(signatures) == 1:
        (chosen,) = signatures.values()
    if chosen is not None:
        return Signature(
            {name: chosen.inputs[name] for name in sorted(chosen.inputs)},
            {name: chosen.outputs[name] for name in sorted(chosen.outputs)},
        )
    sides: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for _, entry in sorted(signatures.items()):
        for side, infos in zip(sides, (entry.inputs, entry.outputs)):
            for _, info in sorted(infos.items()):
                side[info.name.removesuffix(":0")] = info
    return Signature(*sides)


@dataclass
class Variables:
    """The values of variables, by the name of the node that stands for one."""

    keys: Mapping[str, str]
    bundle: Bundle | None = None

    def read(self, node: str) -> Array | None:
        """The value; None if the file has none.

        Raises:
            UnsupportedNodeError: it cannot be read.
        """
        if self.bundle is None or node not in self.keys:
            return None
        return self.bundle.read(self.keys[node])


def read_variables(
    folder: Path,
    nodes: Mapping[str, Node],
    functions: Mapping[str, Function],
    objects: Any,
) -> Variables:
    """The variables of a SavedModel; none if it has no checkpoint.

    Args:
        objects: the message `SavedObjectGraph`; empty in files of TensorFlow 1.

    Raises:
        ImportModelError: the checkpoint is damaged.
    """
    prefix = folder / "variables" / "variables"
    if not prefix.with_name("variables.index").exists():
        return Variables({})
    bundle = Bundle(prefix, folder)
    top = {(name, 0): name for name in nodes}
    restored = dict(_assigned(nodes, functions, top))
    return Variables({**_checkpoint_keys(objects, bundle, nodes), **restored}, bundle)


def _checkpoint_keys(
    objects: Any, bundle: Bundle, nodes: Mapping[str, Node]
) -> dict[str, str]:
    """The key of each variable's value, by the name of the node that stands for it."""
    if not objects.nodes or _OBJECTS not in bundle:
        return {}
    stored = load_proto(PROTO).TrackableObjectGraph()
    try:
        stored.ParseFromString(bundle.read_text(_OBJECTS))
    except DecodeError as error:
        raise ImportModelError(
            f"model_file_path: the checkpoint of the model is damaged: {_OBJECTS} "
            f"cannot be read ({error})"
        ) from error
    values = dict(_values(objects.nodes, stored.nodes))
    found = {}
    for node in nodes.values():
        if node.op not in _CALLS:
            continue
        function = objects.concrete_functions.get(node.function("f"))
        if function is None or len(function.bound_inputs) > len(node.inputs):
            continue
        count = len(function.bound_inputs)
        read = node.inputs[len(node.inputs) - count :]
        for (name, _), index in zip(read, function.bound_inputs):
            if index in values:
                found[name] = values[index]
    return found


def _values(saved: Any, stored: Any) -> Iterator[tuple[int, str]]:
    """The objects with a value, and the key of that in the checkpoint."""
    waiting, seen = [(0, 0)], {0}
    while waiting:
        here, there = waiting.pop()
        if not (0 <= here < len(saved) and 0 <= there < len(stored)):
            continue
        for attribute in stored[there].attributes:
            if attribute.name == _VALUE:
                yield here, attribute.checkpoint_key
        theirs = {child.local_name: child.node_id for child in stored[there].children}
        for child in saved[here].children:
            if child.local_name in theirs and child.node_id not in seen:
                seen.add(child.node_id)
                waiting.append((child.node_id, theirs[child.local_name]))


def _assigned(
    nodes: Mapping[str, Node],
    functions: Mapping[str, Function],
    variables: Mapping[Tensor, str],
    depth: int = 0,
) -> Iterator[tuple[str, str]]:
    """Variables, and the keys of the tensors that they get.

    Args:
        variables: the node of the graph that a tensor stands for.
    """
    for node in nodes.values():
        if node.op in _ASSIGN and len(node.inputs) == 2:
            key = _restored(nodes, node.inputs[1])
            name = variables.get(node.inputs[0])
            if key is not None and name is not None:
                yield name, key
        elif node.op in _CALLS and depth < 4:
            function = functions.get(node.function("f"))
            if function is None or not _restores(function):
                continue
            inner = {
                (argument, 0): variables[source]
                for argument, source in zip(function.arguments, node.inputs)
                if source in variables
            }
            yield from _assigned(function.nodes, functions, inner, depth + 1)


def _restores(function: Function) -> bool:
    return any(n.op in _CALLS or n.op == _RESTORE for n in function.nodes.values())


def _restored(nodes: Mapping[str, Node], tensor: Tensor) -> str | None:
    """The key of what is restored as this tensor; None: it is no such tensor."""
    for _ in range(4):
        node = nodes.get(tensor[0])
        if node is None:
            return None
        if node.op == _RESTORE:
            names = nodes.get(node.inputs[1][0]) if len(node.inputs) > 1 else None
            return None if names is None else _text(names, tensor[1])
        if node.op not in _PASS_ON or not node.inputs:
            return None
        tensor = node.inputs[tensor[1] if node.op == "IdentityN" else 0]
    return None


def _text(node: Node, index: int) -> str | None:
    values = node.attrs["value"].tensor.string_val if node.has("value") else ()
    if not 0 <= index < len(values):
        return None
    return bytes(values[index]).decode("utf-8", "replace")


def called_nodes(
    nodes: Mapping[str, Node], functions: Mapping[str, Function], signature: Signature
) -> Iterator[Node]:
    """The nodes that the outputs need, each once, and those of functions that they
    call.
    """
    ends = [name for name, _ in signature.tensors().values()]
    bodies: list[tuple[Mapping[str, Node], list[str]]] = [(nodes, ends)]
    done: set[str] = set()
    while bodies:
        body, pending = bodies.pop()
        seen: set[str] = set()
        while pending:
            name = pending.pop()
            node = body.get(name)
            if node is None or name in seen:
                continue
            seen.add(name)
            yield node
            pending += [source for source, _ in node.inputs]
            for key in ("f", "then_branch", "else_branch", "cond", "body"):
                function = functions.get(node.function(key))
                if function is not None and function.name not in done:
                    done.add(function.name)
                    bodies.append(
                        (function.nodes, [source for source, _ in function.results])
                    )

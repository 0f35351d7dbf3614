# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Which tensor of the checkpoint each variable of a SavedModel gets, by its objects.

TensorFlow saves the objects that a model consists of. A function says which of them it
reads besides its arguments; the checkpoint says where the state of each object is, and
finds the object by the names that lead to it from the first one. The restoring function
in the graph knows some variables under other names (those of Keras 3 are copied before
they are saved), so that only the objects lead to their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf.message import DecodeError

from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.tensorflow.bundle import Bundle
from mace.python.tools.importers.tf_operators.node import Node
from mace.python.tools.proto import load_proto

_PROTO = "mace/python/tools/importers/tensorflow/graph_def.proto"
_OBJECTS = "_CHECKPOINTABLE_OBJECT_GRAPH"
_VALUE = "VARIABLE_VALUE"
_CALLS = {"PartitionedCall", "StatefulPartitionedCall"}


def checkpoint_keys(
    objects: Any, bundle: Bundle, nodes: Mapping[str, Node]
) -> dict[str, str]:
    """The key of each variable's value, by the name of the node that stands for it.

    Args:
        objects: the message `SavedObjectGraph`; empty in files of TensorFlow 1.

    Raises:
        ImportModelError: the checkpoint is damaged.
    """
    if not objects.nodes or _OBJECTS not in bundle:
        return {}
    stored = load_proto(_PROTO).TrackableObjectGraph()
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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX models with operators that ONNX Runtime does not know, if a folder of the
user's own operators says what they compute. Used only in the child process.

It says so as ONNX does: by a class derived from `onnx.reference.op_run.OpRun` in
`<name>_onnx.py`, with the name of the operator and its `op_domain`. ONNX Runtime
computes all nodes before such a node, the class the node, and so on.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Dict, Tuple

import numpy as np

from mace.python.tools.custom_ops import fault_of, handler_modules, import_custom
from mace.python.tools.validate.frameworks.onnx_session import (
    all_nodes,
    open_session,
    reads,
)
from mace.python.tools.validate.frameworks.reference import Array, FrameworkError

# By domain and type.
OwnOps = Dict[Tuple[str, str], Any]


def own_operators() -> OwnOps:
    """The classes of the folders in use."""
    from onnx.reference.op_run import OpRun

    found = {}
    for name, path in handler_modules("onnx"):
        module = import_custom(name, path)
        for item in vars(module).values():
            is_own = inspect.isclass(item) and item.__module__ == module.__name__
            if is_own and issubclass(item, OpRun):
                found[item.op_domain, item.__name__] = item
    return found


def own_nodes(model: Any, own: OwnOps) -> list[str]:
    """The operators of a model's graph that the classes compute, `domain.Type`."""
    nodes = [n for n in model.graph.node if (n.domain, n.op_type) in own]
    return sorted({f"{n.domain}.{n.op_type}".lstrip(".") for n in nodes})


def unknown_operators(model: Any) -> list[str]:
    """Operators of a model that are of no operator set of ONNX or ONNX Runtime."""
    defined = {(f.domain, f.name) for f in model.functions}
    return sorted(
        f"{node.domain}.{node.op_type}"
        for node in all_nodes(model.graph.node)
        if node.domain.split(".")[0] not in ("", "ai", "com")
        and (node.domain, node.op_type) not in defined
    )


@dataclass(frozen=True)
class ModelInput:
    """An input of a model, as a session of ONNX Runtime describes it."""

    name: str
    type: str
    shape: list[Any]


def model_inputs(model: Any) -> list[ModelInput]:
    """The inputs of a model."""
    from onnx import TensorProto

    return [
        ModelInput(
            value.name,
            f"tensor({TensorProto.DataType.Name(kind.elem_type).lower()})",
            [
                dim.dim_value if dim.HasField("dim_value") else None
                for dim in kind.shape.dim
            ],
        )
        for value in model.graph.input
        for kind in [value.type.tensor_type]
    ]


def run_in_parts(
    model: Any, own: OwnOps, feeds: dict[str, Array], outputs: Sequence[str]
) -> list[Array]:
    """The outputs of a model, computed part by part.

    Args:
        model: its nodes are in the order in which they can be computed.
        feeds: its inputs.
        outputs: names of tensors.

    Raises:
        FrameworkError: a part cannot be computed.
    """
    parts = _Parts(model, own, feeds, outputs)
    waiting: list[Any] = []
    for node in model.graph.node:
        if (node.domain, node.op_type) in own:
            parts.run(waiting)
            parts.run_own(node)
            waiting = []
        else:
            waiting.append(node)
    parts.run(waiting)
    return [parts.values[name] for name in outputs]


class _Parts:
    """The tensors of a model that are known so far."""

    def __init__(
        self,
        model: Any,
        own: OwnOps,
        feeds: dict[str, Array],
        outputs: Sequence[str],
    ) -> None:
        from onnx import numpy_helper

        self._model = model
        self._own = own
        self._outputs = outputs
        self._initializers = {i.name: i for i in model.graph.initializer}
        self.values = dict(feeds)
        # Also read by classes, which are told arrays.
        for name in (n for n in outputs if n in self._initializers):
            self.values[name] = numpy_helper.to_array(self._initializers[name])

    def run(self, nodes: Sequence[Any]) -> None:
        """Computes nodes by ONNX Runtime."""
        made = {name for node in nodes for name in node.output if name}
        read = {name for node in nodes for name in reads(node)} - made
        here = {id(node) for node in nodes}
        later = {
            name
            for node in self._model.graph.node
            if id(node) not in here
            for name in reads(node)
        }
        wanted = sorted(made & (later | set(self._outputs)))
        if not wanted:
            return
        for node in all_nodes(nodes):
            if (node.domain, node.op_type) in self._own:
                raise FrameworkError(
                    f"{node.domain}.{node.op_type} is within the graph of another "
                    "node, where ONNX Runtime cannot leave it to a class; give "
                    "validation_outputs_data"
                )
        session = open_session(self._part(nodes, read, wanted).SerializeToString())
        inputs = [given.name for given in session.get_inputs()]
        results = session.run(wanted, {name: self.values[name] for name in inputs})
        self.values.update(zip(wanted, map(np.asarray, results)))

    def run_own(self, node: Any) -> None:
        """Computes one node by its class."""
        from onnx import numpy_helper
        from onnx.reference import ReferenceEvaluator

        inputs = {}
        for name in filter(None, node.input):
            if name not in self.values:
                initializer = self._initializers[name]
                self.values[name] = numpy_helper.to_array(initializer)
            inputs[name] = self.values[name]
        wanted = [name for name in node.output if name]
        model = self._part([node], set(inputs), wanted)
        try:
            evaluator = ReferenceEvaluator(model, new_ops=list(self._own.values()))
            results = evaluator.run(None, inputs)
        except Exception as error:  # whatever the class does
            where = fault_of(error)
            raise FrameworkError(
                f"the class of {node.domain}.{node.op_type} cannot compute node "
                f"{node.name or wanted[0]!r}: {where + ': ' if where else ''}"
                f"{type(error).__name__}: {error}"
            ) from error
        self.values.update(zip(wanted, map(np.asarray, results)))

    def _part(self, nodes: Sequence[Any], read: set[str], outputs: list[str]) -> Any:
        """A model of these nodes."""
        from onnx import ValueInfoProto, helper

        inputs = [
            helper.make_tensor_value_info(
                name,
                helper.np_dtype_to_tensor_dtype(self.values[name].dtype),
                self.values[name].shape,
            )
            for name in sorted(read & self.values.keys())
        ]
        graph = helper.make_graph(
            nodes,
            "part",
            inputs,
            [ValueInfoProto(name=name) for name in outputs],
            [i for n, i in self._initializers.items() if n in read - {*self.values}],
        )
        return helper.make_model(
            graph,
            opset_imports=self._model.opset_import,
            ir_version=self._model.ir_version,
            functions=self._model.functions,
        )

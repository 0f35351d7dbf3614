# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Builds small ONNX models for tests and compares with onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.frame.testing import request_for
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.ir.builder import narrow
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat, Graph
from mace.python.tools.validate.frameworks.onnx_custom import (
    own_nodes,
    own_operators,
    run_in_parts,
)
from mace.python.tools.validate.frameworks.onnx_session import open_session

SEED = 7


def normal(*shape: int, seed: int = SEED) -> Array:
    """Seeded N(0, 1) values."""
    rng = np.random.default_rng([seed, *shape])
    return rng.standard_normal(shape).astype(np.float32)


def make_model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Array],
    outputs: Sequence[str],
    constants: Mapping[str, Array] | None = None,
    opset: int = 21,
) -> onnx.ModelProto:
    """A model whose inputs have the types and shapes of the given arrays."""
    constants = constants or {}
    infos = [_info(name, array) for name, array in inputs.items()]
    if opset < 9:
        # IR version 3 lists initializers among the inputs.
        infos += [_info(name, array) for name, array in constants.items()]
    graph = onnx.helper.make_graph(
        list(nodes),
        "graph",
        infos,
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [onnx.numpy_helper.from_array(a, name) for name, a in constants.items()],
    )
    others = sorted({node.domain for node in nodes} - {"", "ai.onnx"})
    return onnx.helper.make_model(
        graph,
        opset_imports=[
            onnx.helper.make_opsetid("", opset),
            *(onnx.helper.make_opsetid(domain, 1) for domain in others),
        ],
        ir_version=3 if opset < 9 else 10,
    )


def kaldi_model(
    op_type: str,
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array] | None = None,
    outputs: Sequence[str] = ("y",),
    **attributes: Any,
) -> onnx.ModelProto:
    """A model of one operator, as kaldi-onnx writes it."""
    names = [*inputs, *(constants or {})]
    node = onnx.helper.make_node(
        op_type, names, outputs, op_type, domain="ai.kaldi.dnn", **attributes
    )
    model = make_model([node], inputs, outputs, constants, 7)
    del model.opset_import[:]
    model.opset_import.add(domain="ai.kaldi.dnn", version=7)
    return model


def _info(name: str, array: Array) -> onnx.ValueInfoProto:
    kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    return onnx.helper.make_tensor_value_info(name, kind, array.shape)


def import_proto(
    model: onnx.ModelProto,
    inputs: Mapping[str, Array],
    outputs: Sequence[str],
    folder: Path,
) -> Graph:
    """Imports a model through a file."""
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return import_model(request_for(path, inputs, outputs))


def import_open(model: onnx.ModelProto, folder: Path, open_dims: str) -> Graph:
    """Imports a model whose inputs are open where a letter of `open_dims` stands, the
    name of the dimension, or a star for one that no other input has.
    """
    specs = []
    for value in model.graph.input:
        dims = value.type.tensor_type.shape.dim
        for axis, (dim, letter) in enumerate(zip(dims, open_dims)):
            if letter != ".":
                dim.dim_param = f"{value.name}{axis}" if letter == "*" else letter
        shape = tuple(-1 if d.dim_param else d.dim_value for d in dims)
        kind = value.type.tensor_type.elem_type
        dtype = DataType.of(onnx.helper.tensor_dtype_to_np_dtype(kind))
        specs.append(InputSpec(value.name, shape, dtype, DataFormat.NONE))
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    outputs = tuple(OutputSpec(v.name, DataFormat.NONE) for v in model.graph.output)
    return import_model(ImportRequest("model", path, tuple(specs), outputs))


def run_mace(
    model: onnx.ModelProto, inputs: Mapping[str, Array], folder: Path
) -> list[Array]:
    """The outputs of the imported model, in the reference executor."""
    outputs = [value.name for value in model.graph.output]
    graph = import_proto(model, inputs, outputs, folder)
    types = {value.name: value.dtype.numpy for value in graph.inputs}
    results = run_graph(graph, {n: np.asarray(a, types[n]) for n, a in inputs.items()})
    return [results[name] for name in outputs]


def run_onnxruntime(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    """The outputs of onnxruntime; skips the test if it is not installed. Nodes that a
    folder of users' own operators has a class for are computed by that class.
    """
    pytest.importorskip("onnxruntime")
    own = own_operators()
    if own_nodes(model, own):
        outputs = [value.name for value in model.graph.output]
        return run_in_parts(model, own, dict(inputs), outputs)
    session = open_session(model.SerializeToString(), threads=1)
    results: list[Array] = session.run(None, dict(inputs))
    return results


def assert_same(
    found: Sequence[Array], wanted: Sequence[Array], rtol: float = 1e-5
) -> None:
    """Checks that they are equal except for rounding of a few float32 operations."""
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted):
        expected: Any = narrow(np.asarray(theirs))
        assert ours.dtype == expected.dtype
        np.testing.assert_allclose(ours, expected, rtol=rtol, atol=1e-5)


def compare(
    model: onnx.ModelProto,
    inputs: Mapping[str, Array],
    folder: Path,
    rtol: float = 1e-5,
) -> None:
    """The imported model beside onnxruntime."""
    assert_same(run_mace(model, inputs, folder), run_onnxruntime(model, inputs), rtol)


def check_operator(
    folder: Path,
    kind: str,
    inputs: Mapping[str, Array],
    names: Sequence[str],
    outputs: Sequence[str] = ("y",),
    constants: Mapping[str, Array] | None = None,
    **attributes: Any,
) -> None:
    """One operator by MACE and by ONNX Runtime.

    Args:
        kind: with its domain, as com.microsoft.Gelu.
        names: of what it reads; '' for one that is left out.
        outputs: likewise.
    """
    domain, _, op_type = kind.rpartition(".")
    node = onnx.helper.make_node(op_type, names, outputs, domain=domain, **attributes)
    wanted = [name for name in outputs if name]
    model = make_model([node], inputs, wanted, constants, opset=17)
    compare(model, inputs, folder, 1e-4)


def check_node(
    folder: Path,
    kind: str,
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array] | None = None,
    outputs: Sequence[str] = ("y",),
    names: Sequence[str] | None = None,
    **attributes: Any,
) -> None:
    """As check_operator, of a node that reads all inputs and constants, or `names`."""
    read = names or [*inputs, *(constants or {})]
    check_operator(folder, kind, inputs, read, outputs, constants, **attributes)


def random_bytes(dtype: Any, *shape: int) -> Array:
    bounds = np.iinfo(dtype)
    rng = np.random.default_rng([5, *shape])
    return np.asarray(rng.integers(bounds.min, bounds.max + 1, shape, dtype))


def filled(number: float, *shape: int) -> Array:
    return np.asarray(np.full(shape, number), np.float32)


def random_scales(count: int) -> Array:
    return np.asarray(np.abs(normal(count)) * 0.02 + 0.003, np.float32)


class QuantizedNode:
    """A model of one node on quantized tensors, whose inputs are added in order."""

    def __init__(self, op: str) -> None:
        self._op = op
        self._names: list[str] = []
        self.inputs: dict[str, Array] = {}
        self.constants: dict[str, Array] = {}

    def input(self, array: Array) -> QuantizedNode:
        name = f"x{len(self._names)}"
        self.inputs[name] = array
        self._names.append(name)
        return self

    def constant(self, *arrays: Array | None) -> QuantizedNode:
        for array in arrays:
            name = "" if array is None else f"c{len(self._names)}"
            if array is not None:
                self.constants[name] = array
            self._names.append(name)
        return self

    def proto(self, **attributes: Any) -> onnx.ModelProto:
        domain, _, op_type = self._op.rpartition(".")
        node = onnx.helper.make_node(
            op_type, self._names, ["y"], domain=domain, **attributes
        )
        model = make_model([node], self.inputs, ["y"], self.constants)
        if domain:
            model.opset_import.add(domain=domain, version=1)
        return model

    def check(self, folder: Path, steps: float = 1.0, **attributes: Any) -> None:
        """Beside onnxruntime: at most `steps` apart; floats are to be the same."""
        model = self.proto(**attributes)
        (found,) = run_mace(model, self.inputs, folder)
        (wanted,) = run_onnxruntime(model, self.inputs)
        assert found.dtype == wanted.dtype
        assert found.shape == wanted.shape
        assert np.unique(wanted).size > min(8, wanted.size // 2)
        difference = np.abs(found.astype(np.float64) - wanted.astype(np.float64))
        if found.dtype == np.float32:
            assert difference.max() <= 1e-4 * np.abs(wanted).max()
        else:
            assert difference.max() <= steps
            assert np.mean(difference > 0) < 0.02

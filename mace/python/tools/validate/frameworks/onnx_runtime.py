# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX models in ONNX Runtime. Used only in the child process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mace.python.tools.validate.frameworks.onnx_custom import (
    model_inputs,
    own_nodes,
    own_operators,
    run_in_parts,
    unknown_operators,
)
from mace.python.tools.validate.frameworks.onnx_session import open_plain_session, reads
from mace.python.tools.validate.frameworks.reference import (
    Array,
    FrameworkError,
    ReferenceRequest,
    ReferenceResult,
)
from mace.python.tools.wording import near_names


def run(request: ReferenceRequest) -> ReferenceResult:
    """Runs an ONNX model; inputs and outputs may be inner tensors."""
    import onnxruntime

    model = _load(request.model_file)
    known = _tensor_names(model.graph)
    missing = [name for name in request.outputs if name not in known]
    missing += [name for name in request.inputs if name not in known]
    if missing:
        raise FrameworkError(
            f"{request.model_file} has no tensor "
            + "; ".join(near_names(name, known) for name in missing)
        )
    wanted = [*request.outputs]
    wanted += [name for name in request.optional_outputs if name in known]
    wanted = list(dict.fromkeys(wanted))
    _cut(model.graph, list(request.inputs), wanted)
    # Inputs cannot be fetched as outputs; their values are those passed.
    fed = {name: request.inputs[name] for name in wanted if name in request.inputs}
    fetched = [name for name in wanted if name not in fed]

    own = own_operators()
    version = f"onnxruntime {onnxruntime.__version__}"
    try:
        if own_nodes(model, own):
            version += (
                f", {', '.join(own_nodes(model, own))} by its class in custom_ops"
            )
            feeds = _feeds(model_inputs(model), request)
            values = run_in_parts(model, own, feeds, fetched)
        else:
            session, is_plain = open_plain_session(model)
            version += ", without its optimizer" if is_plain else ""
            feeds = _feeds(session.get_inputs(), request)
            values = session.run(fetched, feeds) if fetched else []
    except FrameworkError:
        raise
    except Exception as error:  # the package has no common base class
        raise FrameworkError(
            f"onnxruntime cannot run {request.model_file}: {error}{_hint(model)}"
        ) from error
    tensors = {**fed, **dict(zip(fetched, (np.asarray(v) for v in values)))}
    nodes = {
        name: f"{node.op_type} {node.name}".rstrip()
        for node in model.graph.node
        for name in node.output
        if name in tensors
    }
    return ReferenceResult(tensors, version, nodes=nodes)


def _hint(model: Any) -> str:
    unknown = unknown_operators(model)
    if not unknown:
        return ""
    domain, _, kind = unknown[0].rpartition(".")
    return (
        f"\nIf ONNX Runtime does not know {', '.join(unknown)}, say what it computes: "
        f"class {kind}(onnx.reference.op_run.OpRun) with op_domain = {domain!r} in a "
        "file <name>_onnx.py of custom_ops; or give validation_outputs_data"
    )


def _load(path: Path) -> Any:
    import onnx

    try:
        return onnx.load(str(path))
    except Exception as error:  # protobuf's and onnx's own kinds
        raise FrameworkError(f"{path} is no readable ONNX model: {error}") from error


def _tensor_names(graph: Any) -> set[str]:
    names = {value.name for value in graph.input}
    names |= {value.name for value in graph.initializer}
    names |= {name for node in graph.node for name in node.output if name}
    return names


def _cut(graph: Any, inputs: list[str], outputs: list[str]) -> None:
    """Reduces the graph to the nodes between `inputs` and `outputs`."""
    import onnx

    producer = {name: node for node in graph.node for name in node.output}
    needed: set[str] = set()
    pending = list(outputs)
    while pending:
        name = pending.pop()
        if name in needed:
            continue
        needed.add(name)
        if name not in inputs and name in producer:
            pending.extend(reads(producer[name]))
    keep = [
        node
        for node in graph.node
        if any(name in needed and name not in inputs for name in node.output)
    ]
    for node in keep:  # a kept node must not also produce an input
        for i, name in enumerate(node.output):
            if name in inputs:
                node.output[i] = f"{name}__cut"
    declared = {value.name: value for value in graph.input}
    graph_inputs = []
    for name in inputs:
        if name in declared:
            graph_inputs.append(declared[name])
        elif name in needed:
            graph_inputs.append(
                onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
            )
    initial = {value.name for value in graph.initializer}
    extra = [
        value
        for name, value in declared.items()
        if name in needed and name not in inputs
    ]
    absent = [value.name for value in extra if value.name not in initial]
    if absent:
        raise FrameworkError(
            "the outputs also depend on the inputs "
            + ", ".join(absent)
            + ": name them in input_tensors"
        )
    graph_inputs += extra
    new_nodes = [onnx.NodeProto.FromString(n.SerializeToString()) for n in keep]
    new_inputs = [
        onnx.ValueInfoProto.FromString(v.SerializeToString()) for v in graph_inputs
    ]
    old_outputs = {value.name: value for value in graph.output}
    new_outputs = []
    for name in outputs:
        if name in inputs:
            continue
        info = onnx.ValueInfoProto()
        if name in old_outputs:
            info.CopyFrom(old_outputs[name])
        info.name = name
        new_outputs.append(info)
    # The runtime refuses an initializer that no node reads.
    for i in reversed(range(len(graph.initializer))):
        if graph.initializer[i].name not in needed:
            del graph.initializer[i]
    _replace(graph.node, new_nodes)
    _replace(graph.input, new_inputs)
    _replace(graph.output, new_outputs)


def _replace(field: Any, values: list[Any]) -> None:
    del field[:]
    field.extend(values)


_DTYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(int16)": np.int16,
    "tensor(int8)": np.int8,
    "tensor(uint8)": np.uint8,
    "tensor(bool)": np.bool_,
}


def _feeds(inputs: Any, request: ReferenceRequest) -> dict[str, Array]:
    feeds: dict[str, Array] = {}
    for wanted in inputs:
        if wanted.name not in request.inputs:
            continue  # an initialiser that older models also list as input
        array = request.inputs[wanted.name]
        dtype = _DTYPES.get(wanted.type)
        if dtype is None:
            raise FrameworkError(f"input {wanted.name} is a {wanted.type}")
        _check_shape(wanted.name, wanted.shape, array)
        feeds[wanted.name] = array.astype(dtype, copy=False)
    return feeds


def _check_shape(name: str, declared: Any, array: Array) -> None:
    if not declared:
        return
    fits = len(declared) == array.ndim and all(
        not isinstance(want, int) or want == have
        for want, have in zip(declared, array.shape)
    )
    if not fits:
        raise FrameworkError(
            f"input {name} has shape {list(array.shape)} in the framework's order, "
            f"and the model wants {list(declared)}; check input_shapes and "
            "input_data_formats in the deployment file"
        )

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes small exported programs, as torch.export.save does, without PyTorch."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.testing import request_for
from mace.python.tools.importers.pytorch import import_model
from mace.python.tools.importers.pytorch.tensors import contiguous
from mace.python.tools.ir.builder import narrow
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import Graph

SEED = 5
_NUMBERS = {
    "bool": 12,
    "float16": 6,
    "float32": 7,
    "float64": 8,
    "int32": 4,
    "int64": 5,
    "int8": 2,
    "uint8": 1,
}
_STORAGES = {"float32": "FloatStorage", "int64": "LongStorage"}

Json = Any
# Pickle's own implementation in Python, whose opcodes can be replaced.
_PythonPickler: Any = pickle._Pickler


def normal(*shape: int) -> Array:
    """Seeded N(0, 1) values."""
    rng = np.random.default_rng([SEED, *shape])
    return rng.standard_normal(shape).astype(np.float32)


def meta(array: Array, strides: Sequence[int] | None = None) -> Json:
    """What a program says of a tensor."""
    steps = contiguous(array.shape) if strides is None else strides
    return {
        "dtype": _NUMBERS[array.dtype.name],
        "sizes": [{"as_int": size} for size in array.shape],
        "requires_grad": False,
        "device": {"type": "cpu", "index": None},
        "strides": [{"as_int": step} for step in steps],
        "storage_offset": {"as_int": 0},
        "layout": 7,
    }


def tensor(name: str) -> Json:
    """A tensor as an argument."""
    return {"as_tensor": {"name": name}}


def node(target: str, outputs: Sequence[str], **arguments: Json) -> Json:
    """A node of one operator.

    Args:
        target: after "torch.ops.".
        outputs: names of its tensors.
        arguments: in the form of the file, by name.
    """
    return {
        "target": f"torch.ops.{target}",
        "inputs": [
            {"name": name, "arg": value, "kind": 1} for name, value in arguments.items()
        ],
        "outputs": [tensor(name) for name in outputs],
        "metadata": {"stack_trace": 'File "net.py", line 1, in forward'},
        "is_hop_single_tensor_return": None,
        "name": outputs[0] if outputs else None,
    }


@dataclass
class Spec:
    """A program to write.

    Attributes:
        inputs: arrays of the types and shapes of the inputs.
        weights: by their names in the module.
        nodes: see `node`.
        outputs: names of the results.
        results: examples of what nodes compute, of which type and shape are written.
        keys: of the dictionary that the module returns.
        more: entries of the program that take the place of the usual ones.
    """

    inputs: Mapping[str, Array]
    nodes: Sequence[Json]
    outputs: Sequence[str]
    weights: Mapping[str, Array] = field(default_factory=dict)
    results: Mapping[str, Array] = field(default_factory=dict)
    keys: Sequence[str] = ()
    more: Mapping[str, Json] = field(default_factory=dict)


def program_json(spec: Spec) -> Json:
    """The program in the form of PyTorch 2.13."""
    inputs = [
        {"parameter": {"arg": {"name": weight_name(n)}, "parameter_name": n}}
        for n in spec.weights
    ]
    inputs += [{"user_input": {"arg": tensor(name)}} for name in spec.inputs]
    leaf: Json = {"type": None, "context": None, "children_spec": []}
    tree = {
        "type": "builtins.dict" if spec.keys else "builtins.tuple",
        "context": json.dumps(list(spec.keys) or None),
        "children_spec": [leaf] * len(spec.outputs),
    }
    known = {weight_name(n): a for n, a in spec.weights.items()}
    known |= {**spec.inputs, **spec.results}
    graph = {
        "inputs": [tensor(name) for name in known if name not in spec.results],
        "outputs": [tensor(name) for name in spec.outputs],
        "nodes": list(spec.nodes),
        "tensor_values": {name: meta(array) for name, array in known.items()},
        "sym_int_values": {},
        "sym_bool_values": {},
        "is_single_tensor_return": False,
        "custom_obj_values": {},
        "sym_float_values": {},
    }
    module = {
        "graph": graph,
        "signature": {
            "input_specs": inputs,
            "output_specs": [
                {"user_output": {"arg": tensor(name)}} for name in spec.outputs
            ],
        },
        "module_call_graph": [
            {
                "fqn": "",
                "signature": {
                    "inputs": [],
                    "outputs": [],
                    "in_spec": "",
                    "out_spec": json.dumps([1, tree]),
                },
            }
        ],
        "metadata": {},
        "treespec_namedtuple_fields": {},
    }
    return {
        "graph_module": module,
        "opset_version": {"aten": 10},
        "range_constraints": {},
        "schema_version": {"major": 8, "minor": 20},
        "verifiers": ["TRAINING"],
        "torch_version": "2.13.0",
        "guards_code": [],
        **spec.more,
    }


def weight_name(name: str) -> str:
    """The name that a parameter has in the graph."""
    return "p_" + name.replace(".", "_")


def write_archive(path: Path, entries: Mapping[str, bytes]) -> None:
    """A zip archive, without compression as PyTorch writes it."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


def new_entries(spec: Spec) -> dict[str, bytes]:
    """The archive of PyTorch 2.9 and newer."""
    config = {}
    entries = {}
    for index, (name, array) in enumerate(spec.weights.items()):
        config[name] = {
            "path_name": f"weight_{index}",
            "is_param": True,
            "use_pickle": False,
            "tensor_meta": meta(array),
        }
        entries[f"net/data/weights/weight_{index}"] = array.tobytes()
    return {
        **entries,
        "net/data/weights/model_weights_config.json": _text({"config": config}),
        "net/data/constants/model_constants_config.json": _text({"config": {}}),
        "net/models/model.json": _text(program_json(spec)),
        "net/archive_format": b"pt2",
        "net/archive_version": b"0",
        "net/byteorder": b"little",
    }


def old_entries(spec: Spec) -> dict[str, bytes]:
    """The archive of PyTorch up to 2.7."""
    return {
        "version": b"8.4",
        "serialized_exported_program.json": _text(program_json(spec)),
        "serialized_state_dict.pt": saved_tensors(spec.weights),
        "serialized_constants.pt": b"",
        "serialized_example_inputs.pt": b"",
    }


def _text(item: Json) -> bytes:
    return json.dumps(item).encode()


class _Global:
    """A name that a pickle refers to, without its module being there."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __reduce__(self) -> str:
        return self.name


class _Pickler(_PythonPickler):  # type: ignore[misc]
    """Writes the pickle of torch.save: names of PyTorch, storages by their numbers."""

    def persistent_id(self, obj: object) -> object:
        return obj.pid if isinstance(obj, _Storage) else None

    def save_global(self, obj: Any, name: str | None = None) -> None:
        if isinstance(obj, _Global):
            self.write(b"c" + f"{obj.module}\n{obj.name}\n".encode())
            self.memoize(obj)
        else:
            super().save_global(obj, name)


@dataclass
class _Storage:
    pid: tuple[object, ...]


@dataclass
class _Tensor:
    arguments: tuple[object, ...]

    def __reduce__(self) -> tuple[object, ...]:
        return _call, self.arguments


def _call(*_: object) -> None:
    """Stands for torch._utils._rebuild_tensor_v2 in a pickle."""


def saved_tensors(weights: Mapping[str, Array]) -> bytes:
    """What torch.save writes for a state_dict."""
    storages = {}
    state = {}
    for index, (name, array) in enumerate(weights.items()):
        kind = _Global("torch", _STORAGES[array.dtype.name])
        storage = _Storage(("storage", kind, str(index), "cpu", array.size))
        shape = array.shape
        state[name] = _Tensor((storage, 0, shape, contiguous(shape), False, {}))
        storages[f"archive/data/{index}"] = array.tobytes()
    stream = io.BytesIO()
    pickler = _Pickler(stream, 2)
    pickler.dump(state)
    call = f"c{__name__}\n_call\n".encode()
    rebuild = b"ctorch._utils\n_rebuild_tensor_v2\n"
    content = stream.getvalue().replace(call, rebuild)
    result = io.BytesIO()
    with zipfile.ZipFile(result, "w") as archive:
        archive.writestr("archive/data.pkl", content)
        archive.writestr("archive/byteorder", b"little")
        for name, data in storages.items():
            archive.writestr(name, data)
    return result.getvalue()


def import_spec(spec: Spec, folder: Path) -> Graph:
    """Imports a program through a file of the newer layout."""
    path = folder / "net.pt2"
    write_archive(path, new_entries(spec))
    return import_model(request_for(path, spec.inputs, spec.outputs))


def run_spec(spec: Spec, folder: Path) -> list[Array]:
    """The results of a program in the reference executor."""
    graph = import_spec(spec, folder)
    feeds = {name: narrow(array) for name, array in spec.inputs.items()}
    results = run_graph(graph, feeds)
    return [results[name] for name in spec.outputs]


def linear(rows: int = 2) -> Spec:
    """relu(x @ w.T + b), with the result under a key."""
    x, w, b = normal(rows, 3), normal(4, 3), normal(4)
    y = x @ w.T + b
    return Spec(
        inputs={"x": x},
        weights={"fc.weight": w, "fc.bias": b},
        nodes=[
            node(
                "aten.linear.default",
                ["linear"],
                input=tensor("x"),
                weight=tensor("p_fc_weight"),
                bias=tensor("p_fc_bias"),
            ),
            node("aten.relu.default", ["relu"], self=tensor("linear")),
        ],
        outputs=["relu"],
        results={"linear": y, "relu": np.maximum(y, 0)},
        keys=["scores"],
    )

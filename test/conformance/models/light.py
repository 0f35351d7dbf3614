# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The nine architectures of the `onnx` package, with weights that matter.

The files under ``onnx/backend/test/data/light`` hold real networks whose
every weight is one constant, made by a ConstantOfShape node: a network that
mixed up two channels would still give the right answer. `make_light_model`
replaces these constants with seeded random weights, so that activations keep
their scale through the network and every weight has its own influence.
"""

from __future__ import annotations

import logging
import zlib
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from mace.python.tools.atomic import atomic_write

_LOG = logging.getLogger(__name__)

# Part of the cached file's name: raise it when the recipe below changes.
_RECIPE = 1

_REPOSITORY = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class LightModel:
    """One architecture as the `onnx` package ships it."""

    name: str
    file: str
    input: str
    output: str
    input_shape: tuple[int, ...] = (1, 3, 224, 224)


_ALL = (
    LightModel("alexnet", "light_bvlc_alexnet", "data_0", "prob_1"),
    LightModel("densenet121", "light_densenet121", "data_0", "fc6_1"),
    LightModel("inception_v1", "light_inception_v1", "data_0", "prob_1"),
    LightModel("inception_v2", "light_inception_v2", "data_0", "prob_1"),
    LightModel("resnet50", "light_resnet50", "gpu_0/data_0", "gpu_0/softmax_1"),
    LightModel("shufflenet", "light_shufflenet", "gpu_0/data_0", "gpu_0/softmax_1"),
    LightModel("squeezenet", "light_squeezenet", "data_0", "softmaxout_1"),
    LightModel("vgg19", "light_vgg19", "data_0", "prob_1"),
    LightModel("zfnet512", "light_zfnet512", "gpu_0/data_0", "gpu_0/softmax_1"),
)

LIGHT_MODELS = MappingProxyType({model.name: model for model in _ALL})


def light_source(name: str) -> Path:
    """Path of the file as the `onnx` package ships it (constant weights)."""
    folder = Path(onnx.__file__).parent / "backend/test/data/light"
    return folder / f"{LIGHT_MODELS[name].file}.onnx"


def light_input(name: str, seed: int = 0) -> NDArray[np.float32]:
    """A seeded NCHW input, see `smooth_input`."""
    return smooth_input(LIGHT_MODELS[name].input_shape, seed)


def smooth_input(shape: tuple[int, ...], seed: int = 0) -> NDArray[np.float32]:
    """A seeded NCHW image: smooth shapes plus noise, about N(0, 1).

    Smooth, because the average of white noise is the same for every image,
    and a network that ends in a global average would hardly look at it.
    """
    rng = np.random.default_rng(seed)
    coarse = rng.standard_normal((*shape[:2], 7, 7), dtype=np.float32)
    rows, columns = -(-shape[2] // 7), -(-shape[3] // 7)
    image = coarse.repeat(rows, axis=2).repeat(columns, axis=3)
    image = image[:, :, : shape[2], : shape[3]]
    noise = rng.standard_normal(shape, dtype=np.float32)
    return np.ascontiguousarray(0.8 * image + 0.6 * noise)


def make_light_model(name: str, seed: int = 0, directory: Path | None = None) -> Path:
    """Writes an architecture with seeded weights and returns its path.

    The same name and seed always give the same bytes, and a file that is
    already there is used as it is. Weights are stored as initializers that
    are also graph inputs, as exporters of that time (IR version 3) did.

    Args:
        name: a key of `LIGHT_MODELS`.
        seed: of the weights.
        directory: where the file goes; ``build/conformance/models`` of this
            repository if not given.
    """
    if name not in LIGHT_MODELS:
        known = ", ".join(LIGHT_MODELS)
        raise KeyError(f"no light model is named {name!r}; there are: {known}")
    if directory is None:
        directory = _REPOSITORY / "build/conformance/models"
    path = directory / f"{name}_seed{seed}_v{_RECIPE}.onnx"
    if path.is_file():
        return path
    model = onnx.load(str(light_source(name)))
    _replace_weights(model, seed)
    # Renamed at the end: another process may be making the same file.
    with atomic_write(path) as stream:
        stream.write(model.SerializeToString(deterministic=True))
    _LOG.info("wrote %s (%d bytes)", path, path.stat().st_size)
    return path


@dataclass(frozen=True)
class _Role:
    kind: str
    gain: float = 1.0


def _replace_weights(model: onnx.ModelProto, seed: int) -> None:
    graph = model.graph
    initializers = {tensor.name: tensor for tensor in graph.initializer}
    roles = _weight_roles(graph)
    made: dict[str, onnx.TensorProto] = {}
    sizes: set[str] = set()
    nodes = []
    for node in graph.node:
        if node.op_type != "ConstantOfShape":
            nodes.append(node)
            continue
        size, weight = node.input[0], node.output[0]
        shape = onnx.numpy_helper.to_array(initializers[size]).tolist()
        made[weight] = _weight(weight, roles[weight], shape, seed)
        sizes.add(size)
    # Some small weights are trained values. They go too: beside random
    # neighbours they are as far off as any other number.
    for tensor in graph.initializer:
        if tensor.name in roles:
            role, shape = roles[tensor.name], list(tensor.dims)
            made[tensor.name] = _weight(tensor.name, role, shape, seed)
    del graph.node[:]
    graph.node.extend(nodes)
    _drop(graph, sizes)
    kept = [item for item in graph.initializer if item.name not in made]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    declared = {value.name for value in graph.input}
    for name, tensor in made.items():
        graph.initializer.append(tensor)
        if name not in declared:
            graph.input.append(
                onnx.helper.make_tensor_value_info(name, tensor.data_type, tensor.dims)
            )


def _weight(name: str, role: _Role, shape: list[int], seed: int) -> onnx.TensorProto:
    # The name is in the seed, so that a weight does not depend on how many
    # others were drawn before it.
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    return onnx.TensorProto(
        name=name,
        dims=shape,
        data_type=onnx.TensorProto.FLOAT,
        raw_data=_draw(rng, role, tuple(shape)).tobytes(),
    )


def _drop(graph: onnx.GraphProto, names: set[str]) -> None:
    readers = [node.name for node in graph.node if not names.isdisjoint(node.input)]
    if readers:
        raise ValueError(f"shapes are shared with other nodes: {readers}")
    for field in (graph.initializer, graph.input):
        kept = [item for item in field if item.name not in names]
        del field[:]
        field.extend(kept)


def _weight_roles(graph: onnx.GraphProto) -> dict[str, _Role]:
    """What each weight is for, told by the node that reads it."""
    by_port = {
        ("Conv", 1): "filter",
        ("Conv", 2): "offset",
        ("BatchNormalization", 1): "scale",
        ("BatchNormalization", 2): "offset",
        ("BatchNormalization", 3): "offset",
        ("BatchNormalization", 4): "variance",
        ("Gemm", 1): "filter",
        ("Gemm", 2): "offset",
        ("Mul", 1): "scale",
        ("Add", 1): "offset",
    }
    producers = {node.output[0]: node for node in graph.node}
    gains = _branch_gains(graph, producers)
    roles: dict[str, _Role] = {}
    # Backwards, so that the role of a reshaped weight is known when the node
    # that reshapes it is met.
    for node in reversed(graph.node):
        for port, name in enumerate(node.input):
            if node.op_type in ("Reshape", "Unsqueeze") and port == 0:
                if node.output[0] in roles:
                    roles[name] = roles[node.output[0]]
            elif (node.op_type, port) in by_port:
                kind = by_port[node.op_type, port]
                gain = 1.0
                if kind == "filter":
                    source = _value_source(producers, node.input[0])
                    kind = "rectified" if source == "Relu" else "linear"
                elif kind == "scale":
                    gain = gains.get(node.output[0], 1.0)
                roles[name] = _Role(kind, gain)
    return roles


def _value_source(producers: dict[str, onnx.NodeProto], value: str) -> str:
    """The nearest node above that changes the distribution of values."""
    passing = (
        "AveragePool",
        "Concat",
        "Dropout",
        "GlobalAveragePool",
        "LRN",
        "MaxPool",
        "Reshape",
        "Transpose",
    )
    while value in producers:
        node = producers[value]
        if node.op_type not in passing:
            return str(node.op_type)
        value = node.input[0]
    return ""


def _branch_gains(
    graph: onnx.GraphProto, producers: dict[str, onnx.NodeProto]
) -> dict[str, float]:
    """Scale of the normalisations whose outputs a residual sum adds.

    Were they 1, each block would double the variance and the classifier after
    16 of them would always answer with certainty. A projected shortcut and
    its branch share the variance; a branch beside an identity adds 10 % to it.
    """
    gains = {}
    for node in graph.node:
        if node.op_type != "Sum":
            continue
        branches = [
            name
            for name in node.input
            if name in producers and producers[name].op_type == "BatchNormalization"
        ]
        projected = len(branches) == len(node.input)
        for name in branches:
            gains[name] = len(branches) ** -0.5 if projected else 0.1**0.5
    return gains


def _draw(
    rng: np.random.Generator, role: _Role, shape: tuple[int, ...]
) -> NDArray[np.float32]:
    values: NDArray[Any]
    if role.kind in ("rectified", "linear"):
        values = rng.standard_normal(shape, dtype=np.float32)
        reduced = tuple(range(1, len(shape)))
        fan_in = int(np.prod(shape[1:]))
        variance = 1.0
        if role.kind == "rectified" and shape[1] > 1:
            # max(N(0, 1), 0) has mean 0.40 and variance 1/2 - 1/(2 pi). A
            # filter whose weights sum to 0 does not see that mean, which
            # would grow from layer to layer and drown the image.
            values -= values.mean(axis=reduced, keepdims=True)
            variance = 0.5 - 0.5 / np.pi
        values *= np.float32((variance * fan_in) ** -0.5)
    elif role.kind == "offset":
        values = 0.1 * rng.standard_normal(shape)
    elif role.kind == "scale":
        values = role.gain * rng.uniform(0.8, 1.2, shape)
    elif role.kind == "variance":
        values = rng.uniform(0.5, 1.5, shape)
    else:
        raise ValueError(f"no recipe for a weight of role {role!r}")
    return values.astype(np.float32, copy=False)

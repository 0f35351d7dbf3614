# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares MACE's outputs and layers with those of the original framework."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mace.python.tools.config.deployment import ModelConfig
from mace.python.tools.config.subgraph import BorderTensor
from mace.python.tools.config.values import FileRef
from mace.python.tools.config.vocabulary import DataFormat, Platform, Runtime
from mace.python.tools.convert.constants import fitted_constants
from mace.python.tools.convert.scaled_inputs import scaled
from mace.python.tools.convert.source import fetch_sources
from mace.python.tools.errors import UnsupportedError, UsageError
from mace.python.tools.export.model_file import ModelFile, OperatorInfo, TensorInfo
from mace.python.tools.fetch import fetch_file
from mace.python.tools.report.results import LayerComparison
from mace.python.tools.run.inputs import load_tensor
from mace.python.tools.run.invocation import Port
from mace.python.tools.run.options import LayerRange
from mace.python.tools.validate import (
    Comparison,
    Metrics,
    compare_tensor,
    similarity_threshold,
)
from mace.python.tools.validate.comparison import (
    candidates,
    class_axis,
    convert,
    framework_format,
)
from mace.python.tools.validate.frameworks import ReferenceRequest, run_reference
from mace.python.tools.wording import nearest_names

_LOG = logging.getLogger(__name__)

Array = npt.NDArray[Any]

_FRAMEWORKS = {
    Platform.CAFFE: "cv2",
    Platform.KERAS: "keras",
    Platform.ONNX: "onnxruntime",
    Platform.PYTORCH: "torch",
    Platform.TENSORFLOW: "tensorflow",
    Platform.TFLITE: "tflite",
}

_RANDOM = "Random"

# Layers are fetched in groups; the tensors of a group have at most this size.
_LAYER_GROUP_BYTES = 256 << 20


@dataclass(frozen=True)
class Expected:
    """The expected outputs, in the framework's layout.

    Attributes:
        outputs: by name in the deployment file.
        layers: further tensors, by the framework's names.
        source: framework and version, or where the files came from.
        variations: how the framework's tensors change with inputs moved by rounding.
        nodes: what computes a tensor in the model file, where its name does not say.
    """

    outputs: Mapping[str, Array]
    layers: Mapping[str, Array] = field(default_factory=dict)
    source: str = ""
    variations: Mapping[str, Metrics] = field(default_factory=dict)
    nodes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Layer:
    """An inner tensor that can be compared."""

    index: int  # of its operator, in run order
    operator: OperatorInfo
    tensor: TensorInfo

    @property
    def port(self) -> Port:
        """The tensor in MACE's own order of dimensions."""
        return Port(
            self.tensor.name,
            self.tensor.shape,
            self.tensor.data_type,
            DataFormat.NONE,
        )


def expected_outputs(
    model: ModelConfig,
    model_file: ModelFile,
    inputs: Mapping[str, Array],
    layers: Sequence[Layer],
) -> Expected:
    """Runs the original model, unless files contain all expected tensors.

    Args:
        inputs: in the user's layout.
        layers: whose tensors are wanted, too.
    """
    native = framework_format(model.platform)
    outputs = {}
    for info in model.whole.outputs:
        if info.validation_data is not None:
            array = _given(model_file, info, info.validation_data)
            outputs[info.name] = convert(
                array, _format(model_file, info.name, info.data_format), native
            )
    missing = [o.name for o in model.whole.outputs if o.name not in outputs]
    if not missing and not layers:
        return Expected(outputs, source="validation_outputs_data")
    weights = None
    if model.weight_file_path is not None:
        weights = fetch_file(model.weight_file_path)
    reference = run_reference(
        ReferenceRequest(
            framework=_framework(model),
            model_file=fetch_file(model.model_file_path),
            inputs={
                **{
                    info.name: convert(
                        _original(model, info.name, inputs[info.name]),
                        info.data_format,
                        native,
                    )
                    for info in (
                        *model_file.inputs,
                        *(state.tensor for state in model_file.states),
                    )
                },
                **_constants(model),
            },
            outputs=tuple(missing),
            optional_outputs=tuple(layer.tensor.source for layer in layers),
            weight_file=weights,
        )
    )
    outputs.update({name: reference.tensors[name] for name in missing})
    # What files give is not what the framework computes.
    variations = {
        name: found
        for name, found in reference.variations.items()
        if outputs.get(name) is None or name in missing
    }
    return Expected(
        outputs, reference.tensors, reference.version, variations, reference.nodes
    )


def _constants(model: ModelConfig) -> dict[str, Array]:
    """Inputs that the converted model has constants for."""
    if not model.whole.constants:
        return {}
    (source,) = fetch_sources([model])
    return fitted_constants(model, source.opened)


def _given(file: ModelFile, info: BorderTensor, ref: FileRef) -> Array:
    """What a file gives for an output."""
    own = file.output(info.name)
    if own is None or info.shape:
        return load_tensor(ref, info.shape, info.data_type)
    return load_tensor(ref, own.shape, own.data_type)


def least_similarity(
    model: ModelConfig, model_file: ModelFile, runtime: Runtime
) -> float:
    """The least cosine similarity with which a tensor of the model passes."""
    subgraph = model.whole
    # `converter.py quantize` does not need the key.
    quantized = model.quantize or model.quantize_dynamic or model_file.is_quantized
    return similarity_threshold(
        runtime,
        subgraph.validation_threshold or {},
        quantized,
        subgraph.data_type.computes_in_half or model.quantize_large_weights,
    )


def drawn_tensors(operators: Iterable[OperatorInfo]) -> dict[str, str]:
    """The tensors that depend on random numbers, by name, and the operator that draws
    them.
    """
    drawn: dict[str, str] = {}
    for operator in operators:
        found = operator.name if operator.type == _RANDOM else ""
        for name in operator.inputs:
            found = found or drawn.get(name, "")
        if found:
            drawn.update((tensor.name, found) for tensor in operator.outputs)
    return drawn


def compare_outputs(
    model: ModelConfig,
    model_file: ModelFile,
    runtime: Runtime,
    expected: Expected,
    actual: Mapping[str, Array],
) -> tuple[Comparison, ...]:
    """One verdict per output of the deployment."""
    native = framework_format(model.platform)
    threshold = least_similarity(model, model_file, runtime)
    drawn = drawn_tensors(model_file.operators)
    comparisons = []
    for info in model.whole.outputs:
        data_format = _format(model_file, info.name, info.data_format)
        want = expected.outputs[info.name]
        have = convert(actual[info.name], data_format, native)
        if have.shape != want.shape and _squeezed(have) == _squeezed(want):
            have = have.reshape(want.shape)
        axis = class_axis(
            want.ndim, DataFormat.NONE if data_format is DataFormat.NONE else native
        )
        varies = expected.variations.get(info.name)
        comparisons.append(
            compare_tensor(
                info.name,
                want,
                have,
                threshold,
                axis,
                varies,
                drawn.get(info.name, ""),
            )
        )
    return tuple(comparisons)


def comparable_layers(model_file: ModelFile) -> list[Layer]:
    """All layers that may have a counterpart in the framework."""
    return [
        layer
        for index, operator in enumerate(model_file.operators)
        for layer in _layers_of(index, operator)
    ]


def _layers_of(index: int, operator: OperatorInfo) -> list[Layer]:
    return [
        Layer(index, operator, tensor)
        for tensor in operator.outputs
        if tensor.source and tensor.is_static and tensor.type_recorded
    ]


def choose_layers(model_file: ModelFile, chosen: LayerRange) -> list[Layer]:
    """The layers of a range that have a counterpart in the framework.

    Raises:
        UsageError: the range holds no operator, or none can be compared.
    """
    operators = model_file.operators
    indices = chosen.indices(len(operators))
    if len(indices) == 0:
        raise UsageError(
            f"--layers: the range contains none of the {len(operators)} layers of "
            f"{model_file.graph_path}"
        )
    layers = []
    skipped = []
    for index in indices:
        found = _layers_of(index, operators[index])
        layers += found
        if not found:
            skipped.append(operators[index].name)
    if not layers:
        raise UsageError(
            f"--layers: none of the {len(indices)} chosen layers of "
            f"{model_file.graph_path} has a counterpart in the framework "
            "(an obfuscated model has none at all)"
        )
    if skipped:
        _LOG.info(
            "layers without counterpart in the framework: %d (%s)",
            len(skipped),
            ", ".join(skipped[:5]) + (", ..." if len(skipped) > 5 else ""),
        )
    return layers


def named_layers(model: ModelConfig, model_file: ModelFile) -> list[Layer]:
    """The layers that `check_tensors` names, by the framework's names.

    Raises:
        UsageError: names every tensor that the model does not hold, or not in
            that shape.
    """
    by_source = {layer.tensor.source: layer for layer in comparable_layers(model_file)}
    layers, problems = [], []
    for check in model.whole.checks:
        # The name of a TensorFlow node also names its first output.
        layer = by_source.get(check.name) or by_source.get(f"{check.name}:0")
        if layer is None:
            near = nearest_names(check.name, by_source)
            hint = f"; near names: {', '.join(near)}" if near else ""
            problems.append(
                f"{check.name}: not in the converted model (the tensors between "
                f"operators that were fused no longer exist){hint}"
            )
        elif not _same_size(check.shape, layer.tensor.shape):
            problems.append(
                f"{check.name}: check_shapes says {list(check.shape)}, the model "
                f"makes {list(layer.tensor.shape)}"
            )
        else:
            layers.append(layer)
    if problems:
        raise UsageError(
            f"models.{model.name}: check_tensors cannot be compared:\n  "
            + "\n  ".join(problems)
        )
    return layers


def _same_size(declared: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether two shapes have equally many elements, in any order."""
    if any(dim < 0 for dim in declared):
        return True
    return int(np.prod(declared)) == int(np.prod(shape))


def layer_groups(layers: Sequence[Layer]) -> Iterator[list[Layer]]:
    """Divides layers into groups, so that one run need not hold all their tensors."""
    group: list[Layer] = []
    size = 0
    for layer in layers:
        # All element types are at most 4 bytes.
        layer_bytes = 4 * int(np.prod(layer.tensor.shape, dtype=np.int64))
        if group and size + layer_bytes > _LAYER_GROUP_BYTES:
            yield group
            group, size = [], 0
        group.append(layer)
        size += layer_bytes
    if group:
        yield group


def compare_layer(
    layer: Layer,
    expected: Expected,
    actual: Array | None,
    threshold: float,
    drawn_by: str = "",
) -> list[LayerComparison]:
    """The verdict; none when the framework does not know the tensor.

    Args:
        actual: None if the run for it failed: a failed comparison.
        drawn_by: the operator whose random numbers the layer depends on, if any.
    """
    source = layer.tensor.source
    want = expected.layers.get(source)
    if want is None:
        return []
    if actual is None:
        tried = [Comparison.of_nothing(source, threshold)]
    else:
        actual = _in_floats(layer.tensor, actual, want)
        varies = expected.variations.get(source)
        tried = [
            compare_tensor(
                source, want, array, threshold, variation=varies, drawn_by=drawn_by
            )
            for array in candidates(actual, layer.tensor.source_axes, want.shape)
        ] or [compare_tensor(source, want, actual, threshold)]
    best = max(tried, key=lambda c: np.nan_to_num(c.metrics.similarity, nan=-2.0))
    return [
        LayerComparison(layer.index, layer.operator.name, layer.operator.type, best)
    ]


def _in_floats(tensor: TensorInfo, actual: Array, want: Array) -> Array:
    """What integers stand for, where the framework has floats."""
    known = tensor.quantization
    if known is None or not known.per_tensor or want.dtype.kind != "f":
        return actual
    steps = actual.astype(np.float64) - known.zero_point
    return np.asarray(steps * known.scales[0], np.float32)


def _framework(model: ModelConfig) -> str:
    framework = _FRAMEWORKS.get(model.platform)
    if framework is None:
        raise UnsupportedError(
            f"models.{model.name}.platform: models of {model.platform.value} cannot be "
            "compared with their framework yet; give validation_outputs_data, or leave "
            "--validate out"
        )
    return framework


def _format(model_file: ModelFile, name: str, declared: DataFormat) -> DataFormat:
    """The data format; the converter writes NONE if a tensor is not an image."""
    tensor = model_file.output(name)
    return declared if tensor is None else tensor.data_format


def _original(model: ModelConfig, name: str, array: Array) -> Array:
    """What the original model takes for an input."""
    plain = _plain(array)
    given = [info for info in model.whole.inputs if info.name == name]
    return scaled(given[0], plain) if given else plain


def _plain(array: Array) -> Array:
    """Converts types that NumPy files and frameworks do not support."""
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def _squeezed(array: Array) -> tuple[int, ...]:
    return tuple(dim for dim in array.shape if dim != 1)


# Finds the first operator whose result is wrong: ``--bisect``.
#
# Between an operator that is right and a later one that is wrong, a few are compared,
# which gives a narrower pair; the framework and MACE run once each time. Neither needs
# the memory for all layers at once.


# Layers that are compared in one step: 2 steps find one of 250, 3 one of 4000.
_AT_ONCE = 16

# Compares layers; leaves out those that the framework does not give.
Compare = Callable[[Sequence[Layer]], Sequence[LayerComparison]]


@dataclass(frozen=True)
class FirstWrong:
    """The end of a search.

    Attributes:
        wrong: the first wrong layer; None if all that can be compared are right.
        right: the last right one before it; None if there is none.
    """

    wrong: LayerComparison | None
    right: LayerComparison | None

    def text(self, source: str, nodes: Mapping[str, str], files: bool = False) -> str:
        """What is printed.

        Args:
            source: the framework, with its version.
            nodes: what computes a tensor in the model file, where that is known.
            files: whether expected outputs come from files, and not from the framework.
        """
        after = "it is the first that can be compared"
        if self.right is not None:
            name = self.right.comparison.name
            after = (
                f"the last right one before it is {_operator(self.right)}, tensor "
                f"{name}, similarity {self.right.comparison.metrics.similarity:.7f}"
            )
        if self.wrong is not None:
            index = self.wrong.index
            node = nodes.get(self.wrong.comparison.name)
            of = f"node {node} in {source}" if node else f"tensor of {source}"
            around = f"--layers={max(index - 3, 0)}:{index + 2}"
            return (
                f"first wrong operator: {_operator(self.wrong)}; {of}, "
                f"{self.wrong.comparison.line()}\n  {after}\n"
                f"  next: add {around} to this command; it compares the operators "
                "around it"
            )
        if self.right is None:
            return (
                "first wrong operator: not known, as no operator has a counterpart in "
                "the framework"
            )
        after = after.replace(" before it", "")
        if files:
            return (
                f"no operator is wrong that can be compared with {source}; {after}\n"
                "  next: are the files of validation_outputs_data for these inputs? "
                "Without them, outputs are compared with the framework's"
            )
        return f"first wrong operator: one after the last that can be compared; {after}"


def find_first_wrong(layers: Sequence[Layer], compare: Compare) -> FirstWrong:
    """Searches for the first wrong layer, given that the model's output is wrong.

    Args:
        layers: that may be compared, in run order.
    """
    left = list(layers)
    right: LayerComparison | None = None
    wrong: LayerComparison | None = None
    while left:
        count = min(_AT_ONCE, len(left))
        # Evenly spaced; the last one always, as what follows it is beyond comparison.
        chosen = [(i + 1) * len(left) // count - 1 for i in range(count)]
        found = {
            (item.index, item.comparison.name): item
            for item in compare([left[i] for i in chosen])
        }
        begin, end = 0, len(left)
        unknown = set()
        for i in chosen:
            item = found.get((left[i].index, left[i].tensor.source))
            if item is None:
                unknown.add(i)
            elif item.comparison.passed:
                right, begin = item, i + 1
            else:
                wrong, end = item, i
                break
        left = [left[i] for i in range(begin, end) if i not in unknown]
    return FirstWrong(wrong, right)


def _operator(layer: LayerComparison) -> str:
    return f"{layer.index} {layer.type} {layer.operator}"

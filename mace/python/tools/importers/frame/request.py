# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What importers are asked for, in the words of the deployment file, and the shapes of
inputs there beside the model's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.journal import Journal
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import DataFormat, Value
from mace.python.tools.ir.shapes import (
    NCHW_TO_NHWC,
    NHWC_TO_NCHW,
    Shape,
    compatible,
    format_shape,
    from_ints,
    permute,
)

_Dims = tuple[int, ...]


@dataclass(frozen=True)
class InputSpec:
    """A model input as the deployment file describes it.

    Attributes:
        name: framework tensor name.
        shape: in the order of `data_format`; -1 marks a dimension known only
            at run time. Empty: take the model's own.
        dtype: element type the application passes.
        data_format: the *user's* order of dimensions. NHWC for a model whose
            framework puts channels first means that the user feeds the
            transposed array; `user_to_framework` gives the order of the model.
    """

    name: str
    shape: tuple[int, ...] = ()
    dtype: DataType = DataType.FLOAT32
    data_format: DataFormat = DataFormat.NHWC


@dataclass(frozen=True)
class OutputSpec:
    """A model output as the deployment file describes it.

    Attributes:
        dtype: element type the application gets.
    """

    name: str
    data_format: DataFormat = DataFormat.NHWC
    dtype: DataType = DataType.FLOAT32


@dataclass(frozen=True)
class InputConstant:
    """What an input of the model holds in every run.

    Attributes:
        key: of the deployment file, or the option, that gives it, for messages.
    """

    array: Array
    key: str = "constants"


@dataclass(frozen=True)
class ImportRequest:
    """A model to import.

    Attributes:
        name: of the model, for messages and the graph.
        model_path: the framework's file.
        weight_path: for frameworks that keep weights apart (Caffe).
        inputs, outputs: where the graph is cut; a model input may be an inner
            tensor of the framework's graph.
        journal: is told what became of each node.
        check_all: import what follows refused nodes too, where the framework tells the
            types and shapes of their outputs. The import fails all the same.
        constants: further inputs, by the names that the model has for them, which
            become constants of the graph; in the framework's order of dimensions.
    """

    name: str
    model_path: Path
    inputs: tuple[InputSpec, ...]
    outputs: tuple[OutputSpec, ...]
    weight_path: Path | None = None
    journal: Journal = field(default_factory=Journal)
    check_all: bool = False
    constants: Mapping[str, InputConstant] = field(default_factory=dict)

    def builder(self, framework: str) -> GraphBuilder:
        """What the importer of a framework adds the model's nodes to."""
        arrays = {name: found.array for name, found in self.constants.items()}
        return GraphBuilder(self.name, framework, arrays)

    def add_input(
        self,
        builder: GraphBuilder,
        spec: InputSpec,
        own: _Dims | None,
        order: DataFormat,
        *,
        dtype: DataType | None = None,
        source: str = "",
        widen: bool = True,
        check: Callable[[InputSpec, _Dims, _Dims | None], None] | None = None,
    ) -> Value:
        """Adds an input to a graph, in the shape that the deployment file gives, or
        else in the model's.

        Args:
            own: the model's shape, with -1 for unknown dimensions; None: not known.
            order: the framework's.
            dtype: the model's; None: not known.
            source, widen: see `GraphBuilder.input`.
            check: refuses a shape beside the model's; None: `check_declared_shape`.

        Raises:
            ImportModelError: no shape is known, or both contradict each other.
        """
        if spec.shape:
            shape = user_to_framework(spec.shape, spec.data_format, order)
            (check or check_declared_shape)(spec, shape, own)
        elif own is not None:
            shape = own
        else:
            raise ImportModelError(
                f"input_shapes: {self.model_path} does not say the shape of "
                f"{spec.name}; give it in the deployment file"
            )
        return builder.input(
            spec.name,
            border_type(spec.dtype if dtype is None else dtype, spec),
            from_ints(shape),
            framework_format(spec.data_format, order),
            widen,
            source,
        )

    def name_problems(self) -> list[str]:
        """Tensors that are listed twice, or as an input and as an output."""
        inputs = [spec.name for spec in self.inputs]
        outputs = [spec.name for spec in self.outputs]
        problems = [
            f"{key}: {name!r} is listed twice"
            for key, names in (("input_tensors", inputs), ("output_tensors", outputs))
            for name in sorted({name for name in names if names.count(name) > 1})
        ]
        problems += [
            f"output_tensors: {name!r} is an input too; the app has it already"
            for name in outputs
            if name in inputs
        ]
        return problems


def user_to_framework(
    shape: tuple[int, ...], user: DataFormat, framework: DataFormat
) -> tuple[int, ...]:
    """Converts a rank-4 shape from the user's order to the framework's. Other ranks and
    NONE are not changed.
    """
    formats = (user, framework)
    if len(shape) != 4 or DataFormat.NONE in formats or user is framework:
        return shape
    perm = NHWC_TO_NCHW if framework is DataFormat.NCHW else NCHW_TO_NHWC
    return tuple(shape[axis] for axis in perm)


def framework_format(user: DataFormat, framework: DataFormat) -> DataFormat:
    """The data format for `GraphBuilder.input` and `.output`."""
    return DataFormat.NONE if user is DataFormat.NONE else framework


def border_type(own: DataType, spec: InputSpec | OutputSpec) -> DataType:
    """The element type of an input or output for `GraphBuilder.input` and `.output`,
    from that of the framework: who asks for int32 does not get int16.
    """
    wide = own is DataType.INT16 and spec.dtype is DataType.INT32
    return DataType.INT32 if wide else own


def add_output(
    builder: GraphBuilder,
    value: Value,
    spec: OutputSpec,
    order: DataFormat,
    own: DataType | None = None,
) -> None:
    """Makes a value an output of the model as the deployment file describes it.

    Args:
        order: the framework's.
        own: the type that the framework has for it; None: that of the value.
    """
    dtype = None if own is None else border_type(own, spec)
    builder.output(value, spec.name, framework_format(spec.data_format, order), dtype)


def check_declared_shape(
    spec: InputSpec, shape: tuple[int, ...], own: tuple[int, ...] | None
) -> None:
    """Checks the shape of an input, of a framework that puts channels last.

    Args:
        spec: as the deployment file describes it.
        shape: its shape in the framework's order.
        own: the model's shape, with -1 for unknown dimensions; None: not known.

    Raises:
        ImportModelError: they contradict each other.
    """
    if own is None:
        return
    fits = len(own) == len(shape) and all(
        a == b or a < 0 or b < 0 for a, b in zip(own, shape)
    )
    if fits:
        return
    hint = ""
    if len(own) == len(shape) == 4:
        turned = tuple(shape[axis] for axis in NCHW_TO_NHWC)
        if all(a == b or a < 0 or b < 0 for a, b in zip(own, turned)):
            hint = "; is it NCHW? then say input_data_formats: NCHW"
    raise contradiction(spec, own, hint)


def contradiction(spec: InputSpec, own: tuple[int, ...], hint: str) -> ImportModelError:
    """The error for a shape that is not the model's: each as its file has it."""
    return ImportModelError(
        f"input_shapes: {spec.name} is {list(own)} in the model, which "
        f"{list(spec.shape)}{_in_format(spec)} of the deployment file "
        f"contradicts{hint}"
    )


def shape_conflict(
    path: Path, spec: InputSpec, shape: Shape, own: Shape | None
) -> ImportModelError:
    """The error for an input of a framework that puts channels first.

    Args:
        path: of the model.
        spec: as the deployment file describes it.
        shape: its shape in the framework's order.
        own: the model's shape; None: not known.
    """
    said = format_shape(tuple(spec.shape))
    message = (
        f"input_shapes: {spec.name!r} is given as {said}"
        f"{_in_format(spec)}, but {path} has {format_shape(own)}"
    )
    if own is None or len(own) != 4 or len(spec.shape) != 4:
        return ImportModelError(message)
    verbatim = tuple(spec.shape)
    turned = permute(verbatim, NHWC_TO_NCHW)
    if spec.data_format is DataFormat.NHWC and compatible(verbatim, own):
        n, c, h, w = spec.shape
        message += (
            f"; give {format_shape((n, h, w, c))}, or say input_data_formats: NCHW "
            "(NONE if it is no image)"
        )
    elif spec.data_format is not DataFormat.NHWC and compatible(turned, own):
        message += f"; give {format_shape(turned)}, or say input_data_formats: NHWC"
    return ImportModelError(message)


def _in_format(spec: InputSpec) -> str:
    if len(spec.shape) != 4 or spec.data_format is DataFormat.NONE:
        return ""
    return f" in the order {spec.data_format.value}"

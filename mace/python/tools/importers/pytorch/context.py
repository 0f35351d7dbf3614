# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of a handler, and the table in which handlers register.

Most operators of PyTorch consist of a few of ONNX, which mean the same and have the
same order of dimensions: `Context.op` calls the ONNX importer's handlers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from mace.python.tools.importers.base import HandlerTable, UnsupportedNodeError
from mace.python.tools.importers.onnx.apply import apply_operator
from mace.python.tools.importers.onnx.node import STATIC_HINT as ONNX_HINT
from mace.python.tools.importers.pytorch.functional import base_name, is_in_place
from mace.python.tools.importers.pytorch.program import (
    NodeSpec,
    Placement,
    ScalarType,
    Unknown,
)
from mace.python.tools.importers.pytorch.tensors import ELEMENT_TYPES, type_name
from mace.python.tools.ir.builder import GraphBuilder, narrow
from mace.python.tools.ir.dims import Dim
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import Shape, static

STATIC_HINT = "give fixed input_shapes"

# A number or a tensor as an input of an operator; None for one left out.
Operand = Union[Value, Array, Sequence[int], float, bool, None]
# A length: an integer, or a value of rank 0 where it depends on the run.
Size = Union[int, Value]

# Arguments without a meaning for results of inference.
_WITHOUT_MEANING = frozenset(
    {
        *("cudnn_enable", "cudnn_enabled", "device", "generator", "layout"),
        *("memory_format", "non_blocking", "pin_memory", "requires_grad", "stable"),
        *("copy", "implicit", "sparse", "scale_grad_by_freq", "padding_idx"),
        *("inplace", "momentum", "allow_tf32", "benchmark", "deterministic"),
    }
)

# Other names of operators, with the same arguments.
ALIASES = {
    **{f"arc{name}": f"a{name}" for name in ("cos", "cosh", "sin", "sinh", "tan")},
    "_prelu_kernel": "prelu",
    "_stack": "stack",
    "absolute": "abs",
    "adjoint": "mT",
    "arctanh": "atanh",
    "fix": "trunc",
    "ger": "outer",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "lift": "alias",
    "linalg_matmul": "matmul",
    "mH": "mT",
    "native_channel_shuffle": "channel_shuffle",
    "negative": "neg",
    "positive": "alias",
    "row_stack": "vstack",
    "sgn": "sign",
    "special_erf": "erf",
    "special_erfc": "erfc",
    "special_exp2": "exp2",
    "special_expit": "sigmoid",
    "special_expm1": "expm1",
    "special_log1p": "log1p",
    "special_log_softmax": "log_softmax",
    "special_logsumexp": "logsumexp",
    "special_round": "round",
    "special_softmax": "softmax",
    "unsafe_chunk": "chunk",
    "unsafe_split": "split",
    "unsafe_split_with_sizes": "split_with_sizes",
}

# Element types of complex numbers in programs.
COMPLEX_TYPES = frozenset({9, 10, 11})

_ONNX_TYPES = {
    DataType.BOOL: 9,
    DataType.FLOAT32: 1,
    DataType.INT32: 6,
    DataType.INT8: 3,
    DataType.UINT8: 2,
}


@dataclass(frozen=True)
class Complex:
    """A tensor of complex numbers, as two tensors of real ones."""

    real: Value
    imag: Value


class Context:
    """One node under conversion.

    Attributes:
        node: the node.
        builder: where its operators go.
        label: the node's name, unique in the model.
        results: its outputs, filled by handlers: values, or plain numbers.
        types: of its outputs by the program, None where it says nothing.
        outputs: number of outputs that the program names.
        contiguous: names of arguments whose elements have no gaps in memory.
        read: the tensors of the program that somebody reads.
    """

    def __init__(
        self,
        node: NodeSpec,
        builder: GraphBuilder,
        arguments: Mapping[str, Any],
        types: Sequence[DataType | None],
        label: str,
        contiguous: Set[str] = frozenset(),
        read: Set[str] = frozenset(),
    ) -> None:
        self.node = node
        self.builder = builder
        self.label = label
        self.types = tuple(types)
        self.outputs = len(node.outputs)
        self.contiguous = contiguous
        self.read = read
        self.results: list[Any] = []
        self._arguments = dict(arguments)
        self._read: set[str] = set()

    @property
    def operator(self) -> str:
        """The operator without "aten.", its overload, and "_" of changes in place."""
        name = base_name(self.node.target).partition(".")[2]
        name = name[:-1] if is_in_place(self.node.target) else name
        return ALIASES.get(name, name)

    # Arguments ------------------------------------------------------------

    def raw(self, name: str, default: Any = None) -> Any:
        """An argument of any kind."""
        self._read.add(name)
        value = self._arguments.get(name)
        if isinstance(value, Unknown):
            raise UnsupportedNodeError(f"{name} is of the kind {value.kind}")
        return default if value is None else value

    def has(self, name: str) -> bool:
        """Whether an argument is given and not None."""
        self._read.add(name)
        return self._arguments.get(name) is not None

    def is_tensor(self, name: str) -> bool:
        """Whether an argument is a tensor (or a length that depends on the run)."""
        return isinstance(self.raw(name), Value)

    def value(self, name: str) -> Value:
        """A tensor; a number becomes one of rank 0."""
        value = self.raw(name)
        if value is None:
            raise UnsupportedNodeError(f"argument {name} is missing")
        if isinstance(value, Value):
            return value
        if isinstance(value, (bool, int, float)):
            return self.constant(value)
        if isinstance(value, (complex, Complex)):
            raise UnsupportedNodeError(
                f"{name} has complex numbers",
                "compute with their real and imaginary parts (torch.view_as_real)",
            )
        raise UnsupportedNodeError(f"argument {name} is no tensor")

    def arguments(self) -> dict[str, Any]:
        """All arguments by their names, for a handler that passes them on."""
        self._read.update(self._arguments)
        return dict(self._arguments)

    def with_arguments(
        self, arguments: Mapping[str, Any], types: Sequence[DataType | None]
    ) -> Context:
        """The same node with other arguments, and with results of other types."""
        return Context(
            self.node,
            self.builder,
            arguments,
            types,
            self.label,
            self.contiguous,
            self.read,
        )

    def is_read(self, index: int) -> bool:
        """Whether somebody reads an output."""
        return index < self.outputs and self.node.outputs[index] in self.read

    def optional(self, name: str) -> Value | None:
        """A tensor that may be left out."""
        return self.value(name) if self.has(name) else None

    def values(self, name: str) -> list[Value]:
        """A list of tensors."""
        found = self.raw(name, [])
        if not isinstance(found, list) or not all(
            isinstance(value, Value) for value in found
        ):
            raise UnsupportedNodeError(f"argument {name} is no list of tensors")
        return found

    def known(self, name: str) -> Array:
        """The elements of a tensor that must be known now."""
        value = self.value(name)
        if not value.is_constant:
            raise UnsupportedNodeError(
                f"{name} ({value.name}) is computed at run time",
                "make it a constant of the module",
            )
        return value.numpy()

    def integer(self, name: str, default: int | None = None) -> int:
        """An integer that is known now."""
        value = self.raw(name, default)
        if isinstance(value, Value):
            return int(self.known(name).reshape(()))
        if isinstance(value, bool) or not isinstance(value, int):
            raise UnsupportedNodeError(f"argument {name} is {value!r:.40}, no integer")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """A number that is known now."""
        value = self.raw(name, default)
        if isinstance(value, Value):
            return float(self.known(name).reshape(()))
        if not isinstance(value, (int, float)):
            raise UnsupportedNodeError(f"argument {name} is {value!r:.40}, no number")
        return float(value)

    def flag(self, name: str, default: bool = False) -> bool:
        """Yes or no."""
        value = self.raw(name, default)
        if not isinstance(value, (bool, int)):
            raise UnsupportedNodeError(f"argument {name} is {value!r:.40}")
        return bool(value)

    def text(self, name: str, default: str) -> str:
        """A word."""
        value = self.raw(name, default)
        if not isinstance(value, str):
            raise UnsupportedNodeError(f"argument {name} is {value!r:.40}, no word")
        return value

    def integers(self, name: str, default: Sequence[int] | None = None) -> list[int]:
        """Integers that are known now; one stands for a list of one."""
        sizes = self.sizes(name, default)
        for size in sizes:
            if isinstance(size, Value):
                raise UnsupportedNodeError(
                    f"{name} depends on a shape that is open", STATIC_HINT
                )
        return [size for size in sizes if isinstance(size, int)]

    def sizes(self, name: str, default: Sequence[int] | None = None) -> list[Size]:
        """Lengths, some of which may depend on the run."""
        value = self.raw(name, default)
        items = value if isinstance(value, (list, tuple)) else [value]
        if not all(isinstance(item, (int, Value)) for item in items):
            raise UnsupportedNodeError(f"argument {name} is {value!r:.40}")
        return list(items)

    def numbers(self, name: str) -> list[float]:
        """Numbers that are known now."""
        value = self.raw(name, [])
        if not isinstance(value, list):
            raise UnsupportedNodeError(f"argument {name} is {value!r:.40}")
        return [float(item) for item in value]

    def dtype(self, name: str = "dtype") -> DataType | None:
        """An element type, as MACE computes in it."""
        value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, ScalarType):
            raise UnsupportedNodeError(f"argument {name} is no element type")
        known = ELEMENT_TYPES.get(value.number)
        if known is None:
            raise UnsupportedNodeError(f"{name} is {type_name(value.number)}")
        return known.narrowed

    def type_of_result(self, index: int = 0) -> DataType:
        """The type that the program gives an output."""
        dtype = self.types[index] if index < len(self.types) else None
        if dtype is None:
            raise UnsupportedNodeError(f"the type of output {index} is not stated")
        return dtype

    def unread(self) -> list[str]:
        """Arguments that the handler did not look at, but that have a meaning."""
        return [
            name
            for name, value in self._arguments.items()
            if name not in self._read
            and name not in _WITHOUT_MEANING
            and value is not None
            and value is not False
            and not isinstance(value, Placement)
        ]

    # Shapes ---------------------------------------------------------------

    def shape(self, value: Value) -> Shape:
        """A shape whose rank must be known."""
        if value.shape is None:
            raise UnsupportedNodeError(
                f"the rank of {value.name} is not known before the run", STATIC_HINT
            )
        return value.shape

    def rank(self, value: Value) -> int:
        """A rank that must be known."""
        return len(self.shape(value))

    def static_shape(self, value: Value) -> tuple[int, ...]:
        """A shape whose dimensions must all be known."""
        shape = static(self.shape(value))
        if shape is None or self.builder.counted.get(value) is not None:
            raise UnsupportedNodeError(
                f"the shape of {value.name} is not known before the run", STATIC_HINT
            )
        return shape

    def length(self, value: Value, axis: int) -> int:
        """A dimension that must be known."""
        dim = self.dim(value, axis)
        if not isinstance(dim, int):
            raise UnsupportedNodeError(
                f"dimension {axis % self.rank(value)} of {value.name} is not known "
                "before the run",
                STATIC_HINT,
            )
        return dim

    def dim(self, value: Value, axis: int) -> Dim:
        """A dimension; None if the data of a run determine it."""
        shape = self.shape(value)
        counted = self.builder.counted.get(value)
        if counted is not None and counted.axis == axis % len(shape):
            return None
        return shape[axis]

    def sizes_of(self, value: Value) -> list[Size]:
        """All dimensions, as values where they are not known before the run."""
        found: list[Size] = []
        for axis in range(self.rank(value)):
            dim = self.dim(value, axis)
            if isinstance(dim, int):
                found.append(dim)
            else:
                shape = self.op("Shape", value)
                found.append(self.op("Gather", shape, self.constant(axis)))
        return found

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from the front; a scalar has one, too."""
        bound = max(rank, 1)
        if not -bound <= axis < bound:
            raise UnsupportedNodeError(f"axis {axis} is outside a rank of {rank}")
        return axis % bound

    def axes(self, name: str, rank: int) -> list[int]:
        """Axes counted from the front; all if the argument is left out or empty."""
        given = self.integers(name, []) if self.has(name) else []
        return [self.axis(axis, rank) for axis in given] or list(range(rank))

    # Operators ------------------------------------------------------------

    def constant(
        self, data: Operand | Sequence[float], dtype: DataType | None = None
    ) -> Value:
        """A helper constant; integers and floats have PyTorch's default types."""
        array = np.asarray(data, None if dtype is None else dtype.numpy)
        name = self.builder.graph.unique_name(f"{self.label}/constant")
        return self.builder.graph.add_constant(name, narrow(array))

    def op(self, op_type: str, *inputs: Operand, **attributes: Any) -> Value:
        """The result of an operator of ONNX."""
        return self.op_all(op_type, inputs, 1, **attributes)[0]

    def op_all(
        self, op_type: str, inputs: Sequence[Operand], count: int, **attributes: Any
    ) -> list[Value]:
        """The results of an operator of ONNX."""
        values = [
            value if value is None or isinstance(value, Value) else self._index(value)
            for value in inputs
        ]
        try:
            return apply_operator(
                self.builder, op_type, values, self.label, count, **attributes
            )
        except UnsupportedNodeError as error:
            if error.hint != ONNX_HINT:
                raise
            raise UnsupportedNodeError(error.reason, STATIC_HINT) from error

    def _index(self, value: Any) -> Value:
        is_list = isinstance(value, (list, tuple)) and not len(value)
        return self.constant(np.zeros(0, np.int64) if is_list else value)

    def dims(self, sizes: Sequence[Size]) -> Value:
        """Lengths as a tensor of rank 1."""
        if all(isinstance(size, int) for size in sizes):
            return self.constant(np.array(sizes, np.int64).reshape(-1))
        parts = [
            self.op("Reshape", size, [1])
            if isinstance(size, Value)
            else self.constant(np.array([size]))
            for size in sizes
        ]
        return self.op("Concat", *parts, axis=0)

    def cast(self, value: Value, dtype: DataType) -> Value:
        """A value in another type."""
        if value.dtype is dtype:
            return value
        return self.op("Cast", value, to=_ONNX_TYPES[dtype])

    def reshape(self, value: Value, sizes: Sequence[Size]) -> Value:
        """A value in another shape; -1 is what is left."""
        zero = 1 if 0 in [size for size in sizes if isinstance(size, int)] else None
        return self.op("Reshape", value, self.dims(sizes), allowzero=zero)

    def transpose(self, value: Value, permutation: Sequence[int]) -> Value:
        """A value with its dimensions in another order."""
        if list(permutation) == list(range(len(permutation))):
            return value
        return self.op("Transpose", value, perm=list(permutation))

    def unsqueeze(self, value: Value, *axes: int) -> Value:
        """A value with further dimensions of length 1."""
        return self.op("Unsqueeze", value, list(axes))

    def squeeze(self, value: Value, *axes: int) -> Value:
        """A value without these dimensions of length 1."""
        return self.op("Squeeze", value, list(axes)) if axes else value

    def slice(self, value: Value, axis: int, begin: int, end: int) -> Value:
        """A part of a value along an axis."""
        return self.op("Slice", value, [begin], [end], [axis], [1])

    def concat(self, parts: Sequence[Value], axis: int) -> Value:
        """Values one after the other along an axis."""
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=axis)

    # Results --------------------------------------------------------------

    def give(self, *results: Any) -> None:
        """Sets the outputs, in the order of the operator's schema."""
        self.results = list(results)


Handler = Callable[[Context], None]
# Handlers of operators that are others if an argument or a result is complex.
COMPLEX_HANDLERS: dict[str, Handler] = {}
HANDLERS: HandlerTable[Handler] = HandlerTable(
    "mace.python.tools.importers.pytorch.handlers"
)

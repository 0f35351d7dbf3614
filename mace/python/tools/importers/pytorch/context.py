# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of a handler, and the table in which handlers register.

Most operators of PyTorch consist of a few of ONNX, which mean the same and have the
same order of dimensions: `Context.op` calls the ONNX importer's handlers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from mace.python.tools.importers.frame.errors import (
    UnsupportedNodeError,
)
from mace.python.tools.importers.frame.handlers import HandlerTable
from mace.python.tools.importers.frame.known import STATIC_HINT, known_elements
from mace.python.tools.importers.pytorch.functional import base_name, is_in_place
from mace.python.tools.importers.pytorch.program import (
    NodeSpec,
    Placement,
    ScalarType,
    TensorMeta,
    Unknown,
)
from mace.python.tools.importers.pytorch.tensors import (
    ELEMENT_TYPES,
    element_type,
    type_name,
)
from mace.python.tools.importers.standard.operators import Operators, Size
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value

# Arguments without a meaning for results of inference.
_WITHOUT_MEANING = frozenset(
    {
        *("cudnn_enable", "cudnn_enabled", "device", "generator", "layout"),
        *("memory_format", "non_blocking", "pin_memory", "requires_grad", "stable"),
        *("copy", "implicit", "sparse", "scale_grad_by_freq", "padding_idx"),
        *("inplace", "momentum", "allow_tf32", "benchmark", "deterministic"),
        *("names", "physical_layout", "check_errors", "half_to_float", "noise"),
        *("N", "C", "HxW", "return_debug_mask", "compute_log_sumexp", "out_int32"),
        *("assume_unique", "compute_mode", "unroll_dim"),
        "path",  # the order of Einsum's products, which gives the same sums
    }
)

# Other names of operators, with the same arguments.
ALIASES = {
    **{f"arc{n}": f"a{n}" for n in ("cos", "cosh", "sin", "sinh", "tan", "tanh")},
    **{f"special_{n}": n for n in ("erf", "erfc", "exp2", "expm1", "log1p", "round")},
    **{f"special_{n}": n for n in ("log_softmax", "logsumexp", "softmax")},
    **{f"unsafe_{n}": n for n in ("chunk", "split", "split_with_sizes")},
    "_prelu_kernel": "prelu",
    "_stack": "stack",
    "absolute": "abs",
    "arctan2": "atan2",
    "broadcast_to": "expand",
    "concat": "cat",
    "concatenate": "cat",
    "divide": "div",
    "multiply": "mul",
    "not_equal": "ne",
    "subtract": "sub",
    "true_divide": "div",
    "adjoint": "mT",
    "fix": "trunc",
    "ger": "outer",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "lift": "alias",
    "linalg_matmul": "matmul",
    "mH": "mT",
    "moveaxis": "movedim",
    "reshape_as": "view_as",
    "matrix_H": "mT",
    "native_channel_shuffle": "channel_shuffle",
    "negative": "neg",
    "positive": "alias",
    "row_stack": "vstack",
    "sgn": "sign",
    "special_expit": "sigmoid",
}

# Kinds of numbers, each of which has room for those before.
_KINDS = (DataType.BOOL, DataType.INT32, DataType.FLOAT32)

# Element types of complex numbers in programs.
COMPLEX_TYPES = frozenset({9, 10, 11})


@dataclass(frozen=True)
class Complex:
    """A tensor of complex numbers, as two tensors of real ones."""

    real: Value
    imag: Value


# Texts of the operator SizeExpression with their inputs, by what they compute.
Expressions = dict[Value, tuple[str, tuple[Value, ...]]]


def _kind(dtype: DataType) -> int:
    return 2 if dtype.is_float else int(dtype is not DataType.BOOL)


def _of_number(number: object) -> DataType:
    if isinstance(number, bool):
        return DataType.BOOL
    return DataType.INT32 if isinstance(number, int) else DataType.FLOAT32


def common_type(operands: Sequence[object]) -> DataType:
    """The type in which an operator computes with values and numbers, by PyTorch's
    rules: a tensor of rank 0 or a number changes the type of a tensor only if it is of
    another kind. An integer tensor plus 0.5 is of floats; plus 2**40, it remains what
    it is.
    """
    values = [o for o in operands if isinstance(o, Value)]
    levels = (
        {v.dtype for v in values if v.shape != ()},
        {v.dtype for v in values if v.shape == ()},
        {_of_number(o) for o in operands if not isinstance(o, Value)},
    )
    kind, result = -1, DataType.FLOAT32
    for types in levels:
        widest = max(map(_kind, types), default=-1)
        if widest > kind:
            kind = widest
            own = [dtype for dtype in types if _kind(dtype) == kind]
            result = own[0] if len(own) == 1 else _KINDS[kind]
    return result


class Context(Operators):
    """One node under conversion.

    Attributes:
        node: the node.
        results: its outputs, filled by handlers: values, or plain numbers.
        types: of its outputs by the program, None where it says nothing.
        stated: likewise, their lengths.
        outputs: number of outputs that the program names.
        contiguous: names of arguments whose elements have no gaps in memory.
        read: the tensors of the program that somebody reads.
        expressions: how numbers are computed that are no integers or come from such.
    """

    def __init__(
        self,
        node: NodeSpec,
        builder: GraphBuilder,
        arguments: Mapping[str, Any],
        metas: Sequence[TensorMeta | None],
        contiguous: Set[str],
        read: Set[str],
        expressions: Expressions,
    ) -> None:
        super().__init__(builder, node.name, STATIC_HINT)
        self.node = node
        types = [element_type(meta) for meta in metas]
        self.types = [dtype and dtype.narrowed for dtype in types]
        self.stated = [None if meta is None else meta.sizes for meta in metas]
        self.outputs = len(node.outputs)
        self.contiguous = contiguous
        self.read = read
        self.expressions = expressions
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

    def floats(self, name: str = "self") -> Value:
        """A tensor in floats, in which PyTorch computes functions of integers."""
        return self.cast(self.value(name), DataType.FLOAT32)

    def promoted(self, *names: str, least: DataType = DataType.BOOL) -> list[Value]:
        """Tensors and numbers in their common type.

        Args:
            names: of the arguments.
            least: the type if the common one is of a lesser kind.
        """
        dtype = common_type([self.raw(name) for name in names])
        dtype = least if _kind(least) > _kind(dtype) else dtype
        return [self.cast(self.value(name), dtype) for name in names]

    def along(self, name: str = "dim", default: int | None = None) -> tuple[Value, int]:
        """The tensor self, and the axis of it that an argument names."""
        x = self.value("self")
        return x, self.axis(self.integer(name, default), self.rank(x))

    def arguments(self) -> dict[str, Any]:
        """All arguments by their names, for a handler that passes them on."""
        self._read.update(self._arguments)
        return dict(self._arguments)

    def with_arguments(
        self, arguments: Mapping[str, Any], types: Sequence[DataType | None]
    ) -> Context:
        """The same node with other arguments, and with results of other types."""
        other = copy.copy(self)
        other.types = list(types)
        other.stated = [None] * len(other.types)
        other.results = []
        other._arguments = dict(arguments)
        other._read = set()
        return other

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
        hint = "make it a constant of the module"
        return known_elements(self.value(name), name, hint).numpy()

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
        """The type that the program gives an output, whatever is asked for."""
        self.dtype()
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

    def axes(self, name: str, rank: int) -> list[int]:
        """Axes counted from the front; all if the argument is left out or empty."""
        given = self.integers(name, []) if self.has(name) else []
        return [self.axis(axis, rank) for axis in given] or list(range(rank))

    # Results --------------------------------------------------------------

    def expanded(self, x: Value, sizes: Sequence[Size]) -> Value:
        """A value whose dimensions of length 1 have other lengths."""
        shape = self.shape(x)
        if len(sizes) == len(shape) and all(
            isinstance(size, int) and size in (1, dim)
            for size, dim in zip(sizes, shape)
        ):
            return x
        return self.op("Expand", x, self.lengths.listed(sizes))

    def untransposed(self, x: Value, order: Sequence[int]) -> Value:
        """A value whose dimensions are in this order, as they were before."""
        return self.transpose(x, [order.index(axis) for axis in range(len(order))])

    def give(self, *results: Any) -> None:
        """Sets the outputs, in the order of the operator's schema."""
        self.results = list(results)


Handler = Callable[[Context], None]
# What a table has for operators of one tensor and numbers.
Function = Callable[[Context, Value], Value]
HANDLERS: HandlerTable[Handler] = HandlerTable(
    "mace.python.tools.importers.pytorch.handlers"
)

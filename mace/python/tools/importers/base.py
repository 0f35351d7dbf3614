# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments, results and errors that all importers share."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import numpy as np

from mace.python.tools.custom_ops import (
    PACKAGE,
    CustomOpsError,
    call_on_change,
    fault_of,
    handler_modules,
    import_custom,
)
from mace.python.tools.errors import MaceError, UnsupportedError
from mace.python.tools.importers.journal import Journal
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.fold import computes_with_integers, saturated_operands
from mace.python.tools.ir.graph import DataFormat, Graph, GraphError, Op
from mace.python.tools.ir.infer import ShapeError
from mace.python.tools.ir.layout import NCHW_TO_NHWC, NHWC_TO_NCHW
from mace.python.tools.ir.verify import op_problems
from mace.python.tools.wording import nearest_names, on_one_line

_PACKAGE = "mace.python.tools.importers"

# Casts to other types would round or wrap around differently in MACE's types.
CAST_TARGETS = frozenset(
    {
        DataType.BOOL,
        DataType.FLOAT32,
        DataType.FLOAT64,
        DataType.INT32,
        DataType.INT64,
        DataType.INT8,
        DataType.UINT8,
    }
)


class ImportModelError(MaceError):
    """The model file cannot be read, or contradicts the deployment file."""


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
            transposed array; `framework_shape` gives the model's order.
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
        cpu_floats: whether the model computes in float32 on the CPU alone (`Graph`).
    """

    name: str
    model_path: Path
    inputs: tuple[InputSpec, ...]
    outputs: tuple[OutputSpec, ...]
    weight_path: Path | None = None
    journal: Journal = field(default_factory=Journal)
    check_all: bool = False
    cpu_floats: bool = False


class Importer(Protocol):
    """`import_model` of `mace.python.tools.importers.<framework>`."""

    def __call__(self, request: ImportRequest) -> Graph:
        """Reads a model.

        Raises:
            ImportModelError: unreadable file, wrong tensor name or shape.
            UnsupportedNodesError: lists every node that cannot be converted.
        """


def load_importer(framework: str) -> Importer:
    """The importer of a framework ('onnx', 'tensorflow', ...)."""
    name = f"{_PACKAGE}.{framework}"
    if importlib.util.find_spec(name) is None:
        raise UnsupportedError(
            f"platform {framework!r} cannot be imported yet; "
            f"available: {', '.join(available_importers())}"
        )
    module = importlib.import_module(name)
    importer: Importer = module.import_model
    return importer


def available_importers() -> list[str]:
    """The frameworks that have an importer."""
    here = Path(__file__).parent
    return sorted(p.parent.name for p in here.glob("*/__init__.py"))


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


@dataclass(frozen=True)
class UnsupportedNode:
    """Why one node cannot be converted.

    Attributes:
        node: its name in the framework.
        op: its type in the framework.
        reason: what is not supported ('attribute mode is cubic').
        hint: what the user can do; '' if nothing is known to help.
    """

    node: str
    op: str
    reason: str
    hint: str = ""


class UnsupportedNodesError(UnsupportedError):
    """All nodes of a model that cannot be converted, as one table."""

    def __init__(self, model: str, nodes: Iterable[UnsupportedNode]) -> None:
        self.model = model
        self.nodes = tuple(nodes)
        count = len(self.nodes)
        what = "node" if count == 1 else "nodes"
        rows = [("node", "operator", "reason", "hint")]
        rows += [(n.node, n.op, n.reason, n.hint or "-") for n in self.nodes]
        super().__init__(
            f"{model}: {count} {what} cannot be converted\n" + _table(rows)
        )


class UnsupportedNodes:
    """Collects nodes that cannot be converted, to report all in one message."""

    def __init__(self, model: str, journal: Journal | None = None) -> None:
        self._model = model
        self._journal = journal or Journal()
        self._nodes: list[UnsupportedNode] = []

    def add(self, node: str, op: str, reason: str, hint: str = "") -> None:
        """Notes one node."""
        self._nodes.append(UnsupportedNode(node, op, reason, hint))
        self._journal.refuse(node, op, reason, hint)

    def add_unfit(self, graph: Graph) -> None:
        """Checks the element types of the imported graph. This is done at the end,
        because types of values that only lead to constants do not matter.
        """
        for op in graph.ops:
            problems = op_problems(op) + _lost_integers(op)
            if problems:
                self.add(op.name, op.type, "; ".join(problems))

    def __bool__(self) -> bool:
        return bool(self._nodes)

    def raise_if_any(self) -> None:
        """Raises UnsupportedNodesError if a node was noted."""
        if self._nodes:
            raise UnsupportedNodesError(self._model, self._nodes)


def _lost_integers(op: Op) -> list[str]:
    """Constants that the operator computes with, and that became other numbers."""
    if not computes_with_integers(op):
        return []
    return [
        f"{value.name} has integers beyond the 32 bits in which MACE computes"
        for value in saturated_operands(op)
    ]


# The beginning of the reason for a node that violates its operator's specification.
MALFORMED = "malformed node: "


class UnsupportedNodeError(Exception):
    """Raised by a handler for a node it cannot convert.

    The importer's loop turns it into a row of `UnsupportedNodes` and goes on,
    treating the node's outputs as unknown.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


# Python and NumPy exceptions of handlers at nodes whose inputs or numbers contradict
# each other (for example a shape of 2**40).
MALFORMED_NODE_ERRORS = (
    ArithmeticError,
    AttributeError,
    GraphError,
    IndexError,
    KeyError,
    MemoryError,
    TypeError,
    ValueError,
)


def malformed_node(error: Exception) -> UnsupportedNodeError:
    """The row of a node that failed with one of `MALFORMED_NODE_ERRORS`."""
    fault = fault_of(error)
    if fault:
        # A mistake in a handler or rule of the user's own is as likely.
        return UnsupportedNodeError(f"{type(error).__name__}: {error}", f"see {fault}")
    return UnsupportedNodeError(
        f"{MALFORMED}{type(error).__name__}: {error}", "export the model again"
    )


def refusal_of(convert: Callable[[], None]) -> UnsupportedNodeError | None:
    """Converts a node; why it cannot be converted, None if it is.

    Raises:
        MaceError: what is wrong with the model as a whole.
    """
    try:
        # Infinities and NaN are allowed in a model.
        with np.errstate(all="ignore"):
            convert()
    except UnsupportedNodeError as error:
        return error
    except ShapeError as error:
        return UnsupportedNodeError(str(error))
    except MaceError:
        raise
    except MALFORMED_NODE_ERRORS as error:
        return malformed_node(error)
    return None


H = TypeVar("H", bound=Callable[..., None])


class HandlerTable(Generic[H]):
    """Handlers by framework operator type, registered with a decorator. The modules of
    `package` are imported when the first handler is needed, so that a new file is
    enough to add handlers; so are those of users' own folders for a `framework`, by
    default the one in whose folder the package is.
    """

    def __init__(self, package: str, framework: str = "") -> None:
        self._package = package
        self._framework = framework or package.split(".")[-2]
        self._handlers: dict[str, H] = {}
        self._loaded = False
        self._custom: dict[str, H] = {}
        self._custom_loaded = False
        call_on_change(self._forget_custom)

    def register(self, *op_types: str) -> Callable[[H], H]:
        """Decorator: this function converts nodes of these types."""

        def add(handler: H) -> H:
            is_custom = _module(handler).split(".")[0] == PACKAGE
            handlers = self._custom if is_custom else self._handlers
            if is_custom:
                self._load_own()
            for op_type in op_types:
                if is_custom and op_type in self._handlers:
                    raise CustomOpsError(
                        f"MACE itself converts {op_type} of {self._framework}"
                    )
                if op_type in handlers:
                    raise ValueError(f"{op_type} has two handlers")
                handlers[op_type] = handler
            return handler

        return add

    def find(self, op_type: str) -> H | None:
        """The handler for a type, None if there is none."""
        self._load()
        return self._handlers.get(op_type) or self._custom.get(op_type)

    def types(self) -> list[str]:
        """The types that have a handler, sorted: for docs and hints."""
        self._load()
        return sorted([*self._handlers, *self._custom])

    def _load(self) -> None:
        self._load_own()
        if not self._custom_loaded:
            self._custom_loaded = True
            self._load_custom()

    def _load_custom(self) -> None:
        for name, path in handler_modules(self._framework):
            module = import_custom(name, path).__name__
            if all(_module(item) != module for item in self._custom.values()):
                raise CustomOpsError(
                    f"custom_ops: {path} registers no handler for {self._framework}: "
                    '@HANDLERS.register("<type in the framework>") is missing'
                )

    def _forget_custom(self) -> None:
        self._custom = {}
        self._custom_loaded = False

    def _load_own(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        folder = importlib.import_module(self._package).__path__
        for module in pkgutil.iter_modules(folder):
            if not module.name.endswith("_test"):
                importlib.import_module(f"{self._package}.{module.name}")


def _module(handler: object) -> str:
    return str(getattr(handler, "__module__", ""))


class UnknownTensorError(ImportModelError):
    """A name of the deployment that the model does not have."""


def unknown_tensor(
    key: str, name: str, model: Path, known: Iterable[str]
) -> UnknownTensorError:
    """The error for a tensor name of the deployment that is not in the model.

    Args:
        key: of the deployment file ('input_tensors').
        name: what it says.
        model: the file.
        known: names that would be accepted.
    """
    names = list(known)
    near = nearest_names(name, names)
    if near:
        hint = "near names: " + ", ".join(near)
    else:
        shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
        hint = f"the model has: {shown}"
    return UnknownTensorError(f"{key}: {model} has no tensor {name!r}; {hint}")


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    rows = [tuple(map(on_one_line, row)) for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
        for row in rows
    ]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([lines[0], rule, *lines[1:]])

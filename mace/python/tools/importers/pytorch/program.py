# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""An exported program: the nodes of its graph with their arguments.

`torch.export.save` writes JSON whose unions are objects of one key (`{"as_int": 2}`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

# The major version of the newest format that can be read.
NEWEST_VERSION = 8

# Arguments that say where and how a tensor is stored.
_STORAGE = frozenset({"as_device", "as_layout", "as_memory_format"})
_FLOATS = frozenset({"as_float", "as_float_lists", "as_floats"})
_PLAIN = frozenset(
    {
        *("as_bool", "as_bools", "as_int", "as_int_lists", "as_ints", "as_string"),
        "as_strings",
    }
)
# Inputs that the file holds.
_KEPT = ("parameter", "buffer", "tensor_constant")
_SYMBOLS = ("as_sym_int", "as_sym_float", "as_sym_bool")


class BadProgramError(Exception):
    """The program cannot be understood; the message says why."""


@dataclass(frozen=True)
class Ref:
    """What a node computes, or an input of the program."""

    name: str


@dataclass(frozen=True)
class ScalarType:
    """An element type as an argument.

    Attributes:
        number: see tensors.ELEMENT_TYPES.
    """

    number: int


@dataclass(frozen=True)
class Placement:
    """A device, layout or memory format: of no meaning for results."""


@dataclass(frozen=True)
class Unknown:
    """An argument of another kind.

    Attributes:
        kind: what the file calls it.
    """

    kind: str


# A plain value, Ref, ScalarType, Placement, Unknown, GraphSpec, or a list of these.
Argument = Any


@dataclass(frozen=True)
class TensorMeta:
    """What the program says of a tensor.

    Attributes:
        number: of its element type.
        sizes: a text is the name of a length that the export left open, None is one
            that is computed from others.
        strides: in elements; None as for sizes.
        offset: of the first element in its memory.
    """

    number: int
    sizes: tuple[int | str | None, ...]
    strides: tuple[int | str | None, ...] = ()
    offset: int | str | None = 0


@dataclass(frozen=True)
class NodeSpec:
    """A node.

    Attributes:
        target: the operator, without "torch.ops.".
        arguments: by name in the operator's schema; those that are left out have
            their defaults.
        outputs: names of what it computes, None for what is not there.
        name: unique in the graph.
    """

    target: str
    arguments: Mapping[str, Argument]
    outputs: tuple[str | None, ...]
    name: str


@dataclass(frozen=True)
class GraphSpec:
    """A graph of nodes in the order in which they run.

    Attributes:
        inputs, outputs: names, or plain values.
        tensors: by name.
    """

    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    nodes: tuple[NodeSpec, ...]
    tensors: Mapping[str, TensorMeta]


@dataclass(frozen=True)
class Program:
    """An exported program.

    Attributes:
        weights: names in the state of the module, by names in the graph.
        constants: names among the constants, by names in the graph.
        inputs: names of what the user passes.
        fixed: inputs that were fixed by the export, by name.
        outputs: names of the results.
        states: names of weights and inputs that a run changes.
        keys: names of results by their keys, if the module returns a dictionary.
        version: of PyTorch, '' if it is not stated.
    """

    graph: GraphSpec
    weights: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict)
    version: str = ""


def parse_program(text: bytes) -> Program:
    """Reads the JSON of a program.

    Raises:
        BadProgramError: it is damaged or of an unknown version.
    """
    try:
        root = json.loads(text)
        _check_version(root)
        version = str(root.get("torch_version", ""))
        return replace(_program(root["graph_module"]), version=version)
    except BadProgramError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise BadProgramError(f"its graph cannot be read ({reason})") from error
    except (AttributeError, RecursionError, MemoryError) as error:
        raise BadProgramError("its graph cannot be read") from error


def _check_version(root: Any) -> None:
    version = root["schema_version"]
    major = version["major"] if isinstance(version, dict) else version
    if not isinstance(major, int):
        raise BadProgramError(f"its version is {major!r}")
    if major > NEWEST_VERSION:
        raise BadProgramError(
            f"version {major} of its format is newer than {NEWEST_VERSION}, the newest "
            "one that can be read"
        )


def _program(module: Any) -> Program:
    graph = _graph(module["graph"])
    signature = module["signature"]
    weights: dict[str, str] = {}
    constants: dict[str, str] = {}
    inputs: list[str] = []
    fixed: dict[str, Any] = {}
    for entry in signature["input_specs"]:
        (kind, spec), *_ = entry.items()
        if kind == "user_input":
            argument = _argument(spec["arg"])
            if isinstance(argument, Ref):
                inputs.append(argument.name)
        elif kind in _KEPT:
            temporary = kind == "buffer" and not spec.get("persistent", True)
            is_constant = kind == "tensor_constant" or temporary
            place = constants if is_constant else weights
            place[_text(spec["arg"]["name"])] = _text(spec[f"{kind}_name"])
        elif kind == "constant_input":
            ((kind, value),) = spec["value"].items()
            if kind != "as_none":
                read = _float if kind == "as_float" else _plain
                fixed[_text(spec["name"])] = read(value)
    outputs: list[str | None] = []
    states: list[str] = []
    for entry in signature["output_specs"]:
        (kind, spec), *_ = entry.items()
        if kind in ("user_output", "loss_output"):
            argument = _argument(spec["arg"]) if kind == "user_output" else None
            outputs.append(argument.name if isinstance(argument, Ref) else None)
        else:
            states += [_text(value) for key, value in spec.items() if "_name" in key]
    return Program(
        graph,
        weights,
        constants,
        tuple(inputs),
        fixed,
        tuple(name for name in outputs if name is not None),
        tuple(states),
        _keys(module, outputs),
    )


def _keys(module: Any, outputs: Sequence[str | None]) -> dict[str, str]:
    """The names of results by the keys of the dictionary that holds them."""
    calls = module.get("module_call_graph") or [{}]
    signature = calls[0].get("signature") or {}
    try:
        tree = json.loads(signature.get("out_spec") or "null")[1]
        keys = json.loads(tree["context"])
        parts = [_leaves(child) for child in tree["children_spec"]]
    except (LookupError, TypeError, ValueError):
        return {}
    if not isinstance(keys, list) or len(keys) != len(parts):
        return {}
    found: dict[str, str] = {}
    at = 0
    for key, count in zip(keys, parts):
        name = outputs[at] if at < len(outputs) else None
        if count == 1 and isinstance(key, str) and name is not None:
            found[key] = name
        at += count
    return found if at == len(outputs) else {}


def _leaves(tree: Any) -> int:
    if tree["type"] is None:
        return 1
    return sum(_leaves(child) for child in tree["children_spec"])


def _graph(graph: Any) -> GraphSpec:
    nodes: list[NodeSpec] = []
    for number, node in enumerate(graph["nodes"]):
        outputs = tuple(_names(node["outputs"]))
        name = node.get("name") or next(filter(None, outputs), f"node_{number}")
        arguments = {
            # Arguments of operators that run graphs have no names.
            _text(given["name"]) or f"#{index}": _argument(given["arg"])
            for index, given in enumerate(node["inputs"])
        }
        target = _text(node["target"]).removeprefix("torch.ops.")
        nodes.append(NodeSpec(target, arguments, outputs, _text(name)))
    tensors = {
        _text(name): TensorMeta(
            int(meta["dtype"]),
            tuple(_size(size) for size in meta["sizes"]),
            tuple(_size(size) for size in meta.get("strides", ())),
            _size(meta.get("storage_offset", {"as_int": 0})),
        )
        for name, meta in graph["tensor_values"].items()
    }
    return GraphSpec(
        tuple(_argument(entry) for entry in graph["inputs"]),
        tuple(_argument(entry) for entry in graph["outputs"]),
        tuple(nodes),
        tensors,
    )


def _names(outputs: Any) -> Iterator[str | None]:
    """The names of what a node computes, flat: lists are their elements."""
    for entry in outputs:
        argument = _argument(entry)
        for item in argument if isinstance(argument, list) else [argument]:
            yield item.name if isinstance(item, Ref) else None


def _size(size: Any) -> int | str | None:
    ((kind, value),) = size.items()
    if kind == "as_int":
        return int(value)
    text = _text(value["expr_str"])
    symbol = re.fullmatch(r"Symbol\('(\w+)'[^()]*\)|([A-Za-z]\w*)", text)
    return None if symbol is None else symbol[1] or symbol[2]


def _argument(entry: Any) -> Argument:
    ((kind, value),) = entry.items()
    if kind in _FLOATS:
        return _float(value)
    if kind in _PLAIN:
        return _plain(value)
    if kind in ("as_none", "as_optional_none"):
        return None
    if kind == "as_tensor":
        return Ref(_text(value["name"]))
    if kind == "as_tensors":
        return [Ref(_text(item["name"])) for item in value]
    if kind == "as_optional_tensor":
        return _argument(value)
    if kind == "as_optional_tensors":
        return [_argument(item) for item in value]
    if kind in _SYMBOLS:
        return _symbol(value)
    if kind in tuple(f"{symbol}s" for symbol in _SYMBOLS):
        return [_symbol(item) for item in value]
    if kind == "as_complex":
        return complex(_float(value["real"]), _float(value["imag"]))
    if kind == "as_scalar_type":
        return ScalarType(int(value))
    if kind == "as_graph":
        return _graph(value["graph"])
    return Placement() if kind in _STORAGE else Unknown(_text(kind))


def _symbol(entry: Any) -> Argument:
    ((kind, value),) = entry.items()
    if kind == "as_float":
        return _float(value)
    return Ref(_text(value)) if kind == "as_name" else _plain(value)


def _float(value: Any) -> Any:
    """Floats that JSON lacks are written as words."""
    if isinstance(value, list):
        return [_float(item) for item in value]
    return float(value)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise BadProgramError(f"an argument is {value!r:.40}")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise BadProgramError(f"a name is {value!r:.40}")
    return value

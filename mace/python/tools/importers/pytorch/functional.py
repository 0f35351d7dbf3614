# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A program as a list of nodes that only compute: without graphs inside of others, and
without operators that change a tensor in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.pytorch.program import (
    Argument,
    GraphSpec,
    NodeSpec,
    Program,
    Ref,
    TensorMeta,
)

DECOMPOSE_HINT = "save exported.run_decompositions() instead"

# Operators that run a graph with other settings, which mean nothing for inference.
_WRAPPERS = frozenset(
    {"higher_order.wrap_with_autocast", "higher_order.wrap_with_set_grad_enabled"}
)
# Operators whose results share memory with their first argument, or may.
_VIEWS = frozenset(
    {
        *("alias", "alpha_dropout", "as_strided", "broadcast_to"),
        *("chunk", "contiguous", "detach", "diagonal", "dropout", "expand"),
        *("expand_as", "feature_dropout", "flatten", "hsplit", "lift_fresh", "mH"),
        *("mT", "movedim", "moveaxis", "narrow", "numpy_T", "permute", "ravel"),
        *("reshape", "reshape_as", "select", "slice", "split", "split_with_sizes"),
        *("squeeze", "swapaxes", "swapdims", "t", "tensor_split", "to", "transpose"),
        *("type_as", "unbind", "unflatten", "unfold", "unsqueeze", "view", "view_as"),
        *("vsplit", "dsplit", "adjoint", "matrix_H", "squeeze", "positive"),
    }
)


@dataclass(frozen=True)
class Flat:
    """The nodes of a program.

    Attributes:
        nodes: in the order in which they run; each tensor is computed once.
        outputs: by the name of an output of the program, what holds it at the end.
        tensors: what the program says of tensors, by name.
        refused: why nodes cannot be converted, by their names.
    """

    nodes: tuple[NodeSpec, ...]
    outputs: Mapping[str, str]
    tensors: Mapping[str, TensorMeta]
    refused: Mapping[str, UnsupportedNodeError]


def base_name(target: str) -> str:
    """The operator without its overload: aten.add of aten.add.Tensor."""
    return ".".join(target.split(".")[:2])


def is_in_place(target: str) -> bool:
    """Whether the operator changes its first argument."""
    name = base_name(target)
    return name.startswith("aten.") and name.endswith("_") and name[-2:] != "__"


def flatten_program(program: Program) -> Flat:
    """The nodes of a program, with graphs inside of others in their places."""
    tensors: dict[str, TensorMeta] = {}
    renames: dict[str, Argument] = {}
    nodes = list(_inline(program.graph, "", {}, tensors, renames))
    outputs = {name: renames.get(name, Ref(name)) for name in program.outputs}
    return _without_changes(
        nodes,
        {name: ref.name for name, ref in outputs.items() if isinstance(ref, Ref)},
        tensors,
        {*program.weights, *program.constants},
    )


def substitute(argument: Argument, names: Mapping[str, Argument]) -> Argument:
    """An argument with other references."""
    if isinstance(argument, Ref):
        return names.get(argument.name, argument)
    if isinstance(argument, list):
        return [substitute(item, names) for item in argument]
    return argument


def references(arguments: Iterable[Argument]) -> Iterator[str]:
    """The names that arguments refer to."""
    for argument in arguments:
        if isinstance(argument, Ref):
            yield argument.name
        elif isinstance(argument, list):
            yield from references(argument)


def _inline(
    graph: GraphSpec,
    prefix: str,
    given: Mapping[str, Argument],
    tensors: dict[str, TensorMeta],
    renames: dict[str, Argument],
) -> Iterator[NodeSpec]:
    """The nodes of a graph.

    Args:
        prefix: of its names.
        given: what takes the place of its inputs, by their names.
        tensors: receives what is known of its tensors.
        renames: receives what stands for names of the graph outside.
    """
    names: dict[str, Argument] = dict(given)
    for name, meta in graph.tensors.items():
        tensors[f"{prefix}{name}"] = meta
    for node in graph.nodes:
        arguments = {k: substitute(v, names) for k, v in node.arguments.items()}
        label = f"{prefix}{node.name}"
        body = next((a for a in arguments.values() if isinstance(a, GraphSpec)), None)
        if node.target in _WRAPPERS and body is not None:
            values = list(arguments.values())
            operands = values[values.index(body) + 1 :]
            inputs = [a.name for a in body.inputs if isinstance(a, Ref)]
            inner: dict[str, Argument] = {}
            yield from _inline(
                body, f"{label}/", dict(zip(inputs, _flat(operands))), tensors, inner
            )
            for outer, result in zip(node.outputs, body.outputs):
                if outer is not None and isinstance(result, Ref):
                    names[outer] = inner.get(result.name, result)
            continue
        outputs = tuple(name and f"{prefix}{name}" for name in node.outputs)
        if prefix:
            names.update(
                {name: Ref(f"{prefix}{name}") for name in node.outputs if name}
            )
        yield replace(node, arguments=arguments, outputs=outputs, name=label)
    renames.update(names)


def _flat(arguments: Iterable[Argument]) -> Iterator[Argument]:
    for argument in arguments:
        if isinstance(argument, list) and any(isinstance(a, Ref) for a in argument):
            yield from argument
        else:
            yield argument


def _without_changes(
    nodes: list[NodeSpec],
    outputs: Mapping[str, str],
    tensors: Mapping[str, TensorMeta],
    fixed: set[str],
) -> Flat:
    last: dict[str, int] = {}
    for index, node in enumerate(nodes):
        last.update(dict.fromkeys(references(node.arguments.values()), index))
    last.update(dict.fromkeys(outputs.values(), len(nodes)))
    # By name, the tensor whose memory it shares, and whose elements it is.
    storage: dict[str, str] = {}
    members: dict[str, list[str]] = {}
    same: dict[str, str] = {}
    # What holds the elements of a tensor now.
    current: dict[str, str] = {}
    refused: dict[str, UnsupportedNodeError] = {}
    result = []
    for index, node in enumerate(nodes):
        first = next(references([next(iter(node.arguments.values()), None)]), None)
        names = {
            name: Ref(current[same.get(name, name)])
            for name in references(node.arguments.values())
            if same.get(name, name) in current
        }
        arguments = {k: substitute(v, names) for k, v in node.arguments.items()}
        result.append(replace(node, arguments=arguments))
        operator = base_name(node.target).removeprefix("aten.")
        changes = is_in_place(node.target)
        if first is None or not (changes or operator in _VIEWS):
            continue
        root = storage.get(first, first)
        group = members.setdefault(root, [root])
        for output in filter(None, node.outputs):
            storage[output] = root
            group.append(output)
        if not changes:
            continue
        one = same.get(first, first)
        others = [n for n in group if same.get(n, n) != one and n not in node.outputs]
        if root in fixed:
            refused[node.name] = UnsupportedNodeError(
                f"it changes {root}, which the module keeps from run to run",
                "make it an input and an output of the model",
            )
        elif any(last.get(name, -1) > index for name in others):
            refused[node.name] = UnsupportedNodeError(
                f"it changes a part of {root} in place", DECOMPOSE_HINT
            )
        for output in filter(None, node.outputs):
            same[output] = one
            current[one] = output
    final = {
        name: current.get(same.get(inner, inner), inner)
        for name, inner in outputs.items()
    }
    return Flat(tuple(result), final, tensors, refused)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A program as a list of nodes that only compute: without graphs inside of others, and
without operators that change a tensor in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
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
# Operators that take a part of a tensor; with "_scatter", they write it.
_PARTS = frozenset({"aten.select", "aten.slice"})
# Operators that give a tensor another name.
_NAMES = frozenset({"alias", "detach"})
# Operators whose results share memory with their first argument, or may.
_VIEWS = frozenset(
    {
        *("T", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors", "imag"),
        *("meshgrid", "real", "resolve_conj", "resolve_neg"),
        *("alias", "alpha_dropout", "as_strided", "broadcast_to"),
        *("chunk", "contiguous", "detach", "diagonal", "dropout", "expand"),
        *("expand_as", "feature_dropout", "flatten", "hsplit", "lift_fresh", "mH"),
        *("conj", "_conj", "view_as_complex", "view_as_real"),
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


def flatten_branch(
    graph: GraphSpec, prefix: str, operands: Iterable[Argument]
) -> tuple[Flat, list[Argument]]:
    """The nodes of a graph that takes the place of one node, and its results.

    Args:
        prefix: of the names of its tensors; unique.
        operands: what its inputs stand for.
    """
    tensors: dict[str, TensorMeta] = {}
    names: dict[str, Argument] = {}
    inputs = [item.name for item in graph.inputs if isinstance(item, Ref)]
    given = dict(zip(inputs, _flat(operands)))
    nodes = list(_inline(graph, prefix, given, tensors, names))
    results = [substitute(item, names) for item in graph.outputs]
    outputs = {item.name: item.name for item in results if isinstance(item, Ref)}
    flat = _without_changes(nodes, outputs, tensors, set())
    final = {name: Ref(inner) for name, inner in flat.outputs.items()}
    return flat, [substitute(item, final) for item in results]


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


class _Changes:
    """Replaces changes in place: the changed tensor is a new one, which those read that
    come later.
    """

    def __init__(self, last: Mapping[str, int], fixed: set[str]) -> None:
        # By name, the index of the last node that reads it.
        self._last = last
        self._fixed = fixed
        # The tensor whose memory a view shares, and all tensors that share it.
        self._storage: dict[str, str] = {}
        self._members: dict[str, list[str]] = {}
        # The node that makes a view.
        self._views: dict[str, NodeSpec] = {}
        # The tensor that a change in place returns.
        self._same: dict[str, str] = {}
        # What holds the elements of a tensor now.
        self._current: dict[str, str] = {}
        self.refused: dict[str, UnsupportedNodeError] = {}
        # The tensors of which further nodes make a changed copy.
        self.copies: dict[str, str] = {}

    def _one(self, name: str) -> str:
        return self._same.get(name, name)

    def now(self, name: str) -> str:
        """What holds the elements of a tensor now."""
        return self._current.get(self._one(name), name)

    def follow(self, index: int, node: NodeSpec) -> list[NodeSpec]:
        """The nodes that take the place of a node."""
        given = list(node.arguments.values())
        names = {name: Ref(self.now(name)) for name in references(given)}
        arguments = {k: substitute(v, names) for k, v in node.arguments.items()}
        result = [replace(node, arguments=arguments)]
        first = next(references(given[:1]), None)
        if "out" in node.arguments:
            self._refuse(node, "it writes into an argument")
            first = next(references([node.arguments["out"]]), None)
        changes = is_in_place(node.target) or "out" in node.arguments
        operator = base_name(node.target).removeprefix("aten.")
        if first is None or not (changes or operator in _VIEWS):
            return result
        root = self._storage.get(first, first)
        group = self._members.setdefault(root, [root])
        if changes:
            if not any(node.outputs):
                result[0] = replace(result[0], outputs=(node.name,))
            result += self._change(index, node, first, root, group)
        for output in filter(None, node.outputs):
            self._storage[output] = root
            group.append(output)
            if operator in _NAMES:
                self._same[output] = self._one(first)
            elif not changes:
                self._views[output] = node
        return result

    def _change(
        self, index: int, node: NodeSpec, first: str, root: str, group: list[str]
    ) -> list[NodeSpec]:
        """The nodes that write a change of a part into the whole."""
        changed = next(filter(None, node.outputs), node.name)
        one = self._one(first)
        path = self._path(one, root)
        whole = {one, *(self._one(name) for name in path or {})}
        others = {self._one(n) for n in group if self._last.get(n, -1) > index} - whole
        if root in self._fixed:
            self._refuse(
                node,
                f"it changes {root}, which the module keeps from run to run",
                "make it an input and an output of the model",
            )
        elif others:
            self._refuse(node, f"it changes a part of {root} in place")
        if node.name in self.refused:
            # Whoever reads the memory later depends on what is refused.
            for name in (*group, one):
                self._current[self._one(name)] = changed
            return []
        for output in filter(None, node.outputs):
            self._same[output] = one
        self._current[one] = changed
        return list(self._written_back(node, changed, path or {}))

    def _path(self, name: str, root: str) -> dict[str, NodeSpec] | None:
        """The parts that a part is of, each with the node that takes the inner one;
        None if it is not made by such nodes.
        """
        path: dict[str, NodeSpec] = {}
        while name != self._one(root):
            view = self._views.get(name)
            if view is None or base_name(view.target) not in _PARTS:
                return None
            parent = next(references(list(view.arguments.values())[:1]))
            name = self._one(parent)
            path[name] = view
        return path

    def _written_back(
        self, node: NodeSpec, changed: str, path: Mapping[str, NodeSpec]
    ) -> Iterator[NodeSpec]:
        for number, (parent, view) in enumerate(path.items()):
            name = f"{node.name}/{number}"
            _, *more = view.arguments.items()
            arguments = {
                "self": Ref(self._current.get(parent, parent)),
                "src": Ref(changed),
                **dict(more),
            }
            target = f"{base_name(view.target)}_scatter.default"
            yield NodeSpec(target, arguments, (name,), name)
            self._current[parent] = name
            self.copies[name] = parent
            changed = name

    def _refuse(self, node: NodeSpec, why: str, hint: str = DECOMPOSE_HINT) -> None:
        self.refused[node.name] = UnsupportedNodeError(why, hint)


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
    changes = _Changes(last, fixed)
    result: list[NodeSpec] = []
    for index, node in enumerate(nodes):
        result += changes.follow(index, node)
    known = dict(tensors)
    for name, parent in changes.copies.items():
        if parent in known:
            known[name] = known[parent]
    final = {name: changes.now(inner) for name, inner in outputs.items()}
    return Flat(tuple(result), final, known, changes.refused)

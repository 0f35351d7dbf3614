# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Imports an exported program: chooses its nodes, and reports problems."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mace.python.tools.importers.emit.control_flow import Choice, while_loop
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodeError,
    UnsupportedNodes,
    missing_inputs,
    refusal_of,
    static_hint,
    unknown_tensor,
)
from mace.python.tools.importers.frame.journal import NodeEntry, Outcome
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
    add_output,
    border_type,
    framework_format,
    shape_conflict,
    user_to_framework,
)
from mace.python.tools.importers.pytorch.context import (
    COMPLEX_TYPES,
    HANDLERS,
    Complex,
    Context,
    Expressions,
    Handler,
)
from mace.python.tools.importers.pytorch.functional import (
    DECOMPOSE_HINT,
    Flat,
    base_name,
    flatten_branch,
    is_in_place,
    references,
)
from mace.python.tools.importers.pytorch.model import Model, ScriptFile
from mace.python.tools.importers.pytorch.program import (
    GraphSpec,
    NodeSpec,
    Ref,
    TensorMeta,
)
from mace.python.tools.importers.pytorch.refused import refused
from mace.python.tools.importers.pytorch.script import read_script
from mace.python.tools.importers.pytorch.tensors import (
    BadTensorError,
    contiguous,
    element_type,
    type_name,
)
from mace.python.tools.ir.graph import DataFormat, Graph, Value
from mace.python.tools.ir.shapes import Shape, compatible, format_shape

_LOG = logging.getLogger(__name__)

_COND, _WHILE = "higher_order.cond", "higher_order.while_loop"
_TAKEN_HINT = "export the model with the branch that is taken"


def build(request: ImportRequest, model: Model | ScriptFile) -> Graph:
    """See `importers.frame.opened.Framework`."""
    if isinstance(model, ScriptFile):
        model = read_script(request)
    return _Import(request, model).run()


class _Import:
    """One import: the program and what is known of its names so far."""

    def __init__(self, request: ImportRequest, model: Model) -> None:
        self._request = request
        self._model = model
        self._flat: Flat = model.flat
        self._builder = request.builder("pytorch")
        # Values, or plain numbers that depend on shapes alone.
        self._known: dict[str, Any] = dict(model.program.fixed)
        self._unknown: set[str] = set()
        self._read: set[str] = set()
        self._expressions: Expressions = {}
        self._unsupported = UnsupportedNodes(str(request.model_path), request.journal)

    def run(self) -> Graph:
        self._check_states()
        if problems := self._request.name_problems():
            raise ImportModelError("\n".join(problems))
        outputs = [self._find_output(spec.name) for spec in self._request.outputs]
        for spec in self._request.inputs:
            self._add_input(spec)
        nodes = self._needed(outputs)
        arguments = (argument for node in nodes for argument in node.arguments.values())
        self._read = {*outputs, *references(arguments)}
        for node in nodes:
            journal, graph = self._request.journal, self._builder.graph
            with journal.node(node.name, node.target, graph) as entry:
                self._convert(node, entry)
        self._unsupported.raise_if_any()
        for name, output in zip(outputs, self._request.outputs):
            self._add_output(name, output)
        graph = self._unsupported.finish(self._builder.graph)
        _LOG.info(
            "%s: %d of %d nodes became %d operators",
            self._request.model_path,
            len(nodes),
            len(self._flat.nodes),
            len(graph.ops),
        )
        return graph

    def _check_states(self) -> None:
        if self._model.program.states:
            raise ImportModelError(
                f"{self._request.model_path}: each run changes "
                + ", ".join(self._model.program.states[:5])
                + "; export the model after model.eval(), with states as inputs and "
                "outputs"
            )

    # Inputs and outputs of the model ----------------------------------------

    def _find_output(self, name: str) -> str:
        computed = {n for node in self._flat.nodes for n in node.outputs if n}
        for known in (name, self._model.names.get(name, name)):
            if known in self._flat.outputs:
                return self._flat.outputs[known]
            if known in computed:
                return known
        raise self._no_tensor("output_tensors", name, computed)

    def _no_tensor(self, key: str, name: str, more: Iterable[str]) -> ImportModelError:
        program = self._model.program
        known = [*self._model.names, *program.inputs, *program.outputs]
        known += [n for n in sorted(more) if n not in known]
        error = unknown_tensor(key, name, self._request.model_path, known)
        return ImportModelError(
            f"{error}\ninputs of the model: {', '.join(program.inputs) or 'none'}; "
            f"outputs: {', '.join(self._shown_outputs()) or 'none'}"
        )

    def _shown_outputs(self) -> list[str]:
        keys = {name: key for key, name in self._model.names.items()}
        return [
            f"{name} (or {keys[name]})" if name in keys else name
            for name in self._model.program.outputs
        ]

    def _add_input(self, spec: InputSpec) -> None:
        name = self._model.names.get(spec.name, spec.name)
        meta = self._meta(name)
        if meta is None or name in self._model.tensors:
            raise self._no_tensor("input_tensors", spec.name, self._flat.tensors)
        dtype = element_type(meta)
        if dtype is None:
            raise ImportModelError(
                f"input_tensors: {spec.name!r} has elements of type "
                f"{type_name(meta.number)}, which MACE does not compute with"
            )
        shape = self._input_shape(spec, meta)
        order = framework_format(spec.data_format, DataFormat.NCHW)
        self._known[name] = self._builder.input(
            spec.name, border_type(dtype, spec), shape, order
        )

    def _input_shape(self, spec: InputSpec, meta: TensorMeta) -> Shape:
        own: Shape = meta.sizes
        if not spec.shape:
            return own
        asked = user_to_framework(spec.shape, spec.data_format, DataFormat.NCHW)
        shape: Shape = tuple(None if dim < 0 else dim for dim in asked)
        if not compatible(shape, own):
            raise shape_conflict(self._request.model_path, spec, shape, own)
        return tuple(theirs if dim is None else dim for dim, theirs in zip(shape, own))

    def _add_output(self, name: str, output: OutputSpec) -> None:
        begin = f"output_tensors: {output.name!r}"
        try:
            value = self._value_of(name)
        except UnsupportedNodeError as error:
            raise ImportModelError(f"{begin}: {error.reason}") from error
        if isinstance(value, Complex):
            raise ImportModelError(
                f"{begin} has complex numbers; let the module return "
                "torch.view_as_real of it"
            )
        if not isinstance(value, Value):
            raise ImportModelError(f"{begin} is {value!r:.40}, not a tensor")
        dtype = element_type(self._meta(name)) or value.dtype
        add_output(self._builder, value, output, DataFormat.NCHW, dtype)

    # Nodes ------------------------------------------------------------------

    def _needed(self, outputs: Iterable[str]) -> list[NodeSpec]:
        """The nodes that the outputs need, in the order in which they run."""
        made = {
            name: number
            for number, node in enumerate(self._flat.nodes)
            for name in filter(None, node.outputs)
        }
        needed: set[int] = set()
        missing: dict[str, None] = {}
        waiting = [name for name in outputs if name not in self._known]
        while waiting:
            name = waiting.pop()
            if name not in made:
                if name not in self._model.tensors:
                    missing[name] = None
                continue
            if made[name] in needed:
                continue
            needed.add(made[name])
            arguments = self._flat.nodes[made[name]].arguments.values()
            waiting += [n for n in references(arguments) if n not in self._known]
        if missing:
            self._refuse_missing(list(missing))
        return [self._flat.nodes[number] for number in sorted(needed)]

    def _refuse_missing(self, names: list[str]) -> None:
        inputs = [name for name in names if name in self._model.program.inputs]
        if inputs:
            raise missing_inputs(inputs)
        raise ImportModelError(
            f"{self._request.model_path}: nothing computes {', '.join(names[:5])}; "
            "export the model again"
        )

    def _convert(self, node: NodeSpec, entry: NodeEntry) -> None:
        outputs = [name for name in node.outputs if name]
        if self._unknown.intersection(references(node.arguments.values())):
            self._unknown.update(outputs)
            entry.outcome = Outcome.NOT_REACHED
            return  # caused by a node that is already in the table
        refusal = self._flat.refused.get(node.name) or refusal_of(
            lambda: self._call(node)
        )
        if refusal is None:
            return
        self._unsupported.add(node.name, node.target, refusal.reason, refusal.hint)
        self._unknown.update(outputs)
        if self._request.check_all:
            self._stand_in(outputs)

    def _stand_in(self, outputs: Iterable[str]) -> None:
        """Gives the outputs of a refused node the types and shapes that the program
        states, so that the nodes that read them can be checked.
        """
        graph = self._builder.graph
        for name in outputs:
            meta = self._meta(name)
            dtype = element_type(meta)
            if meta is None or dtype is None:
                continue
            shape = tuple(
                dim if isinstance(dim, int) else f"{name}:{axis}"
                for axis, dim in enumerate(meta.sizes)
            )
            free = graph.unique_name(name)
            self._known[name] = graph.add_value(free, dtype.narrowed, shape)
            self._unknown.discard(name)

    def _call(self, node: NodeSpec) -> None:
        operator = base_name(node.target)
        branches = [a for a in node.arguments.values() if isinstance(a, GraphSpec)]
        if operator == _COND and len(branches) == 2:
            self._branch(node, branches)
            return
        if operator == _WHILE and len(branches) == 2:
            self._while(node, branches)
            return
        known = HANDLERS.find(operator)
        if known is None and is_in_place(node.target):
            operator = operator[:-1]
            known = HANDLERS.find(operator)
        if known is None:
            raise _no_handler(operator)
        arguments = {k: self._resolved(v) for k, v in node.arguments.items()}
        metas = [self._meta(name) for name in node.outputs]
        handler: Handler = known
        if _has_complex(arguments.values(), metas):
            # Imported when a model has such numbers.
            from mace.python.tools.importers.pytorch.handlers import complex_numbers

            handler = complex_numbers.COMPLEX_HANDLERS.get(operator, known)
        contiguous = frozenset(
            key
            for key, argument in node.arguments.items()
            if isinstance(argument, Ref) and self._is_contiguous(argument.name)
        )
        context = Context(
            node,
            self._builder,
            arguments,
            metas,
            contiguous,
            self._read,
            self._expressions,
        )
        with self._builder.results_of(lambda: [element_type(meta) for meta in metas]):
            handler(context)
        unread = [f"{k} is {_shown(node.arguments[k])}" for k in context.unread()]
        if unread:
            raise UnsupportedNodeError("; ".join(unread), DECOMPOSE_HINT)
        for index, name in enumerate(node.outputs):
            if name is None:
                continue
            if index >= len(context.results):
                raise UnsupportedNodeError(f"output {index} ({name}) is not computed")
            self._set(name, context.results[index])

    def _branch(self, node: NodeSpec, branches: Sequence[GraphSpec]) -> None:
        """The nodes of the branch that is taken; of both, if each run decides."""
        arguments = list(node.arguments.values())
        condition = self._resolved(arguments[0])
        operands = arguments[1 + arguments.index(branches[1]) :]
        if isinstance(condition, Value):
            if not condition.is_constant:
                self._both(node, branches, condition, operands)
                return
            condition = condition.numpy().all()
        taken = branches[0 if condition else 1]
        self._give(node, self._inside(taken, node.name, operands))

    def _both(
        self,
        node: NodeSpec,
        branches: Sequence[GraphSpec],
        condition: Value,
        operands: Sequence[Any],
    ) -> None:
        choice = Choice(self._builder, condition, node.name)
        yes, no = choice.both(
            *(
                partial(self._inside, branch, f"{node.name}/{side}", operands)
                for branch, side in zip(branches, ("true", "false"))
            )
        )
        hint = static_hint(condition, _TAKEN_HINT)
        self._give(node, choice.results(yes, no, hint))

    def _while(self, node: NodeSpec, graphs: Sequence[GraphSpec]) -> None:
        """A loop, whose steps the engine counts."""
        arguments = list(node.arguments.values())
        first = 1 + arguments.index(graphs[1])
        carried, *others = arguments[first:]
        initial = self._resolved(carried if isinstance(carried, list) else [carried])
        if not all(isinstance(value, Value) for value in initial):
            raise UnsupportedNodeError("it hands on what is no tensor of real numbers")

        def inside(graph: GraphSpec, values: Sequence[Value], place: str) -> list[Any]:
            prefix = f"{node.name}/{place}"
            names = [f"{prefix}/{index}" for index in range(len(values))]
            self._known.update(zip(names, values))
            return self._inside(graph, prefix, [*map(Ref, names), *others])

        results = while_loop(
            self._builder,
            node.name,
            initial,
            lambda values, place: inside(graphs[0], values, f"{place}_condition")[0],
            lambda values, place: inside(graphs[1], values, place),
        )
        self._give(node, results)

    def _inside(
        self, graph: GraphSpec, prefix: str, operands: Sequence[Any]
    ) -> list[Any]:
        """What the nodes of a graph make of some operands."""
        flat, results = flatten_branch(graph, f"{prefix}/", operands)
        self._flat = replace(self._flat, tensors={**self._flat.tensors, **flat.tensors})
        self._read.update(references(results))
        for inner in flat.nodes:
            self._read.update(references(inner.arguments.values()))
        for inner in flat.nodes:
            self._call_inside(inner, flat)
        return [self._resolved(result) for result in results]

    def _give(self, node: NodeSpec, results: Sequence[Any]) -> None:
        if len(results) != len(node.outputs):
            raise UnsupportedNodeError(
                f"{len(results)} results of a branch for {len(node.outputs)} outputs",
                "export the model again",
            )
        for name, result in zip(node.outputs, results):
            if name is not None:
                self._set(name, result)

    def _call_inside(self, node: NodeSpec, flat: Flat) -> None:
        try:
            if node.name in flat.refused:
                raise flat.refused[node.name]
            self._call(node)
        except UnsupportedNodeError as error:
            reason = f"it computes {base_name(node.target)}: {error.reason}"
            raise UnsupportedNodeError(reason, error.hint) from error

    def _is_contiguous(self, name: str) -> bool:
        meta = self._meta(name)
        sizes = [] if meta is None else [n for n in meta.sizes if isinstance(n, int)]
        if meta is None or len(sizes) != len(meta.sizes) or meta.offset != 0:
            return False
        return meta.strides == contiguous(sizes)

    def _meta(self, name: str | None) -> TensorMeta | None:
        """What the program says of a tensor."""
        return None if name is None else self._flat.tensors.get(name)

    def _resolved(self, argument: Any) -> Any:
        """An argument with values for what it refers to."""
        if isinstance(argument, Ref):
            return self._value_of(argument.name)
        if isinstance(argument, list):
            return [self._resolved(item) for item in argument]
        return argument

    def _value_of(self, name: str) -> Any:
        """What a name stands for.

        Raises:
            UnsupportedNodeError: it is not computed, or cannot be read.
        """
        if name not in self._known:
            self._known[name] = self._weight(name)
        if self._known[name] is None:
            raise UnsupportedNodeError(f"it reads {name}, which MACE does not compute")
        return self._known[name]

    def _weight(self, name: str) -> Value | Complex:
        program, graph = self._model.program, self._builder.graph
        shown = program.weights.get(name) or program.constants.get(name) or name
        tensor = self._model.tensors.get(name)
        if tensor is None:
            raise UnsupportedNodeError(f"{shown} is not in the file")
        try:
            if tensor.is_complex:
                parts = zip(tensor.parts(), ("real", "imag"))
                return Complex(
                    *(
                        graph.add_constant(graph.unique_name(f"{shown}.{part}"), one)
                        for one, part in parts
                    )
                )
            constant = tensor.constant(shown)
        except BadTensorError as error:
            raise ImportModelError(
                f"model_file_path: {self._request.model_path} is damaged: {shown}: "
                f"{error}; export the model again"
            ) from error
        meta = self._meta(name)
        if meta is not None and not compatible(constant.shape, meta.sizes):
            raise ImportModelError(
                f"model_file_path: {self._request.model_path} is damaged: {shown} is "
                f"{format_shape(constant.shape)}, not {format_shape(meta.sizes)}"
            )
        return graph.add_constant(graph.unique_name(shown), constant)

    def _set(self, name: str, result: Any) -> None:
        """Gives a result the name of the program."""
        meta = self._meta(name)
        if isinstance(result, Complex) and (
            meta is None
            or meta.number not in COMPLEX_TYPES
            or not compatible(result.real.shape, meta.sizes)
        ):
            raise UnsupportedNodeError(f"{name} is computed as complex numbers")
        if not isinstance(result, Value):
            self._known[name] = result
            return
        if meta is not None:
            dtype = element_type(meta)
            if dtype is None or dtype.narrowed is not result.dtype:
                raise UnsupportedNodeError(
                    f"{name} is of type {type_name(meta.number)}, but is computed in "
                    f"{result.dtype.value}"
                )
            if not compatible(result.shape, meta.sizes):
                raise UnsupportedNodeError(
                    f"{name} is {format_shape(meta.sizes)}, but "
                    f"{format_shape(result.shape)} is computed",
                    "export the model with dynamic_shapes, or give the input_shapes "
                    "that it was exported for",
                )
        self._known[name] = self._named(name, result)

    def _named(self, name: str, value: Value) -> Value:
        graph = self._builder.graph
        taken = graph.values.get(name)
        if taken is not None and taken is not value:
            graph.rename_value(taken, graph.unique_name(f"{name}/inner"))
        is_fresh = (
            value.producer is not None and not value.uses and value.source is None
        )
        if not is_fresh:
            return value if value.is_constant else self._builder.alias(value, name)
        graph.rename_value(value, name)
        value.source = name
        return value


def _has_complex(
    arguments: Iterable[Any], results: Iterable[TensorMeta | None]
) -> bool:
    """Whether an argument or a result has complex numbers."""
    for argument in arguments:
        items = argument if isinstance(argument, list) else [argument]
        if any(isinstance(item, (complex, Complex)) for item in items):
            return True
    return any(meta and meta.number in COMPLEX_TYPES for meta in results)


def _shown(argument: Any) -> str:
    return argument.name if isinstance(argument, Ref) else f"{argument!r:.40}"


def _no_handler(operator: str) -> UnsupportedNodeError:
    if operator.startswith("higher_order."):
        return UnsupportedNodeError("control flow", _TAKEN_HINT)
    if "grouped_mm" in operator:
        return UnsupportedNodeError(
            "experts of transformers, each with a number of words that a run decides",
            'call model.set_experts_implementation("batched_mm") before the export',
        )
    if not operator.startswith("aten."):
        return UnsupportedNodeError(
            "an operator of a library, not of PyTorch",
            "name the tensors in front of it in output_tensors, and compute it in the "
            "application",
        )
    reason = refused(operator)
    if reason is not None:
        return UnsupportedNodeError(*reason)
    hint = HANDLERS.similar(operator) or DECOMPOSE_HINT
    return UnsupportedNodeError("operator not supported", hint)

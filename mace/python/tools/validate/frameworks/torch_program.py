# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs exported programs and TorchScript in PyTorch. Used only in the child process."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.pytorch.model import ScriptFileError, read_model
from mace.python.tools.importers.pytorch.script_worker import (
    ScriptError,
    argument_names,
    export_script,
    load_script,
)
from mace.python.tools.validate.frameworks.reference import (
    Array,
    FrameworkError,
    ReferenceRequest,
    ReferenceResult,
)
from mace.python.tools.wording import near_names


def run(request: ReferenceRequest) -> ReferenceResult:
    """Runs a file of PyTorch; inputs and outputs may be inner tensors."""
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    try:
        with torch.no_grad():
            tensors = _run(request)
    except FrameworkError:
        raise
    except (ImportModelError, ScriptError) as error:
        raise FrameworkError(str(error)) from error
    except Exception as error:  # PyTorch has no common base class
        line = str(error).strip().splitlines() or [type(error).__name__]
        raise FrameworkError(
            f"torch cannot run {request.model_file}: {line[0]}"
        ) from error
    return ReferenceResult(tensors, f"torch {torch.__version__}")


def _run(request: ReferenceRequest) -> dict[str, Array]:
    try:
        model = read_model(request.model_file)
    except ScriptFileError:
        return _run_script(request)
    program = torch.export.load(str(request.model_file))
    given = {model.names.get(n, n): array for n, array in request.inputs.items()}
    return _interpreted(request, program, model.names, given)


def _run_script(request: ReferenceRequest) -> dict[str, Array]:
    module = load_script(request.model_file)
    inputs = {n: torch.from_numpy(a.copy()) for n, a in request.inputs.items()}
    program = export_script(module, inputs)
    signature = program.graph_signature
    given = dict(
        zip(signature.user_inputs, (request.inputs[n] for n in argument_names(module)))
    )
    tensors = _interpreted(request, program, {}, given)
    # The results are those of TorchScript itself; inner tensors have names in the
    # exported program alone.
    results = module(*(inputs[name] for name in argument_names(module)))
    flat = torch.utils._pytree.tree_flatten(results)[0]
    for name, result in zip(signature.user_outputs, flat):
        if name in tensors and isinstance(result, torch.Tensor):
            tensors[name] = _array(result)
    return tensors


def _interpreted(
    request: ReferenceRequest,
    program: Any,
    names: Mapping[str, str],
    given: Mapping[str, Array],
) -> dict[str, Array]:
    """The tensors of a run of the program, by the names that were asked for."""
    known = {node.name for node in program.graph.nodes}
    wanted = {
        name: names[name] if name not in known and name in names else name
        for name in (*request.outputs, *request.optional_outputs)
    }
    missing = [name for name in request.outputs if wanted[name] not in known]
    missing += [name for name in given if name not in known]
    if missing:
        raise FrameworkError(
            f"{request.model_file} has no tensor "
            + "; ".join(near_names(name, [*known, *names]) for name in missing)
        )
    watcher = _Watcher(program, given, set(wanted.values()))
    watcher.run(*watcher.arguments(request))
    # Operators in place change a tensor after it is computed.
    last = dict(zip(program.graph_signature.user_outputs, watcher.results))
    found = {**watcher.seen, **{n: _array(v) for n, v in last.items() if _is(v)}}
    return {name: found[own] for name, own in wanted.items() if own in found}


def _is(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def _array(value: torch.Tensor) -> Array:
    value = value.detach().cpu()
    if value.dtype in (torch.bfloat16, torch.float16):
        value = value.float()
    array: Array = value.contiguous().numpy().copy()
    return array


class _Watcher(torch.fx.Interpreter):  # type: ignore[misc]
    """Runs the nodes of a program that some tensors need, and keeps these tensors."""

    def __init__(
        self, program: Any, given: Mapping[str, Array], wanted: set[str]
    ) -> None:
        super().__init__(program.graph_module)
        self._program = program
        self._given = {n: torch.from_numpy(a.copy()) for n, a in given.items()}
        self._wanted = wanted
        self._needed = self._find_needed()
        self.seen: dict[str, Array] = {}
        self.results: list[Any] = []

    def _find_needed(self) -> set[Any]:
        nodes = list(self._program.graph.nodes)
        changes = _changes_by_tensor(nodes)
        outputs = self._wanted & {node.name for node in nodes}
        waiting = [node for node in nodes if node.name in outputs]
        needed: set[Any] = set()
        while waiting:
            node = waiting.pop()
            if node in needed:
                continue
            needed.add(node)
            if node.name not in self._given:
                waiting += node.all_input_nodes
            waiting += changes.get(node, ())
        return needed

    def arguments(self, request: ReferenceRequest) -> list[Any]:
        """The values of all placeholders.

        Raises:
            FrameworkError: one that is needed is not given.
        """
        signature = self._program.graph_signature
        state, constants = self._program.state_dict, self._program.constants
        nodes = {node.name: node for node in self._program.graph.nodes}
        found: list[Any] = []
        for spec in signature.input_specs:
            name = spec.arg.name
            if spec.kind.name != "USER_INPUT":
                known = state if spec.target in state else constants
                found.append(known.get(spec.target))
                continue
            value: Any = self._given.get(name, getattr(spec.arg, "value", None))
            meta = nodes[name].meta.get("val")
            if value is None and nodes[name] in self._needed and _is(meta):
                raise FrameworkError(
                    f"{request.model_file}: the outputs also depend on the input "
                    f"{name}: name it in input_tensors"
                )
            found.append(value.to(meta.dtype) if _is(value) and _is(meta) else value)
        return found

    def run_node(self, n: Any) -> Any:
        """Keeps the value of a node, or replaces it by one that is given."""
        if n.op == "output":
            result = super().run_node(n)
            self.results = list(result)
            return result
        if n.op != "placeholder":
            if n.name in self._given:
                return self._given[n.name]
            if n not in self._needed:
                return None
        result = super().run_node(n)
        if n.name in self._wanted and _is(result):
            self.seen[n.name] = _array(result)
        return result


def _changes_by_tensor(nodes: Sequence[Any]) -> dict[Any, list[Any]]:
    """For each node, the nodes that change its tensor in place: directly, through a
    view of it, or through the tensor that it is a view of.
    """
    memory: dict[Any, set[Any]] = {}  # the nodes whose tensors share memory
    changing: list[tuple[Any, Any]] = []
    for node in nodes:
        own = memory.setdefault(node, {node})
        for other, written in _shared(node):
            if written:
                changing.append((node, other))
            own |= memory[other]
        for each in own:
            memory[each] = own
    changes: dict[Any, list[Any]] = {}
    for node, tensor in changing:
        for each in memory[tensor]:
            changes.setdefault(each, []).append(node)
    return changes


def _shared(node: Any) -> Iterator[tuple[Any, bool]]:
    """The arguments whose memory the results of a node may share, and whether the node
    writes to it.
    """
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        if node.target is operator.getitem:
            yield node.args[0], False
        return
    for place, declared in enumerate(schema.arguments):
        if declared.alias_info is None:
            continue
        given = node.kwargs.get(declared.name)
        if place < len(node.args):
            given = node.args[place]
        for tensor in given if isinstance(given, (list, tuple)) else [given]:
            if isinstance(tensor, torch.fx.Node):
                yield tensor, bool(declared.alias_info.is_write)

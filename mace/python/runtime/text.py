# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models of ONNX with operators on strings, which run in Python, before the engine.

The engine has no strings. Models of text have them in front: words are normalised,
split, and counted or looked up, and numbers go on from there. `load_text` divides such
a model behind the last operator that strings lead to. What is in front is computed by
the reference evaluator of the package onnx, with NumPy and in one thread.
"""

from __future__ import annotations

import hashlib
import locale
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from mace.python.installation import cache_dir
from mace.python.runtime.load import FilePath, load
from mace.python.runtime.model import Model
from mace.python.runtime.options import RunOptions
from mace.python.tools.atomic import atomic_write
from mace.python.tools.errors import MaceError, UsageError
from mace.python.tools.wording import near_file

if TYPE_CHECKING:
    import onnx

# Operators that compute on strings or files of images, besides those that only move
# strings.
STRING_OPERATORS = frozenset(
    (
        *("ImageDecoder", "RegexFullMatch", "StringConcat", "StringNormalizer"),
        *("StringSplit", "TfIdfVectorizer"),
    )
)
_FOLDER = "text"


class TextModel:
    """A loaded model, whose first operators run in Python; `mace.load_text` makes it.

    Attributes:
        inputs, outputs: names, in the order of the model.
        in_python: the types of the operators that run in Python.
        engine: the rest of the model; None if nothing is left for it.
    """

    def __init__(
        self,
        front: onnx.ModelProto,
        engine: Optional[Model],
        inputs: Sequence[str],
        outputs: Sequence[str],
    ) -> None:
        """Prefer `mace.load_text`."""
        from onnx.reference import ReferenceEvaluator

        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.engine = engine
        self.in_python = tuple(dict.fromkeys(node.op_type for node in front.graph.node))
        self._front_inputs = [info.name for info in front.graph.input]
        self._made = [info.name for info in front.graph.output]
        self._evaluator = ReferenceEvaluator(front)

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Runs the model, as `Model` does: arrays in the order of `inputs`, or by name.

        Strings are arrays of `str`, or lists of them.

        Returns:
            the output; a dictionary by name if the model has several.

        Raises:
            MaceError: wrong names, or an operator that failed; the message says which.
        """
        if len(arrays) > len(self.inputs):
            raise UsageError(
                f"{len(arrays)} inputs for a model that takes {len(self.inputs)}: "
                + ", ".join(self.inputs)
            )
        given = {**dict(zip(self.inputs, arrays)), **named}
        results = self.run(given)
        return results[self.outputs[0]] if len(self.outputs) == 1 else results

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs by name."""
        self._check(inputs)
        feeds = {name: _array(inputs[name]) for name in self._front_inputs}
        # StringNormalizer of onnx sets the locale of the whole process.
        before = locale.setlocale(locale.LC_ALL)
        try:
            values = dict(zip(self._made, self._evaluator.run(None, feeds)))
        except Exception as error:  # whatever an operator's Python raises
            raise MaceError(
                f"the operators on strings ({', '.join(self.in_python)}) failed: "
                f"{type(error).__name__}: {error}"
            ) from error
        finally:
            locale.setlocale(locale.LC_ALL, before)
        if self.engine is not None:
            own = [info.name for info in self.engine.inputs]
            fed = {
                name: values[name] if name in values else inputs[name] for name in own
            }
            values.update(self.engine.run(fed))
        return {name: values[name] for name in self.outputs}

    def _check(self, inputs: Mapping[str, Any]) -> None:
        for name in inputs:
            if name not in self.inputs:
                raise UsageError(
                    f"{name!r} is not an input; the model takes "
                    + ", ".join(self.inputs)
                )
        missing = [name for name in self.inputs if name not in inputs]
        if missing:
            raise UsageError(f"inputs are missing: {', '.join(missing)}")


def load_text(
    path: FilePath,
    *,
    dims: Optional[Mapping[str, int]] = None,
    options: Optional[RunOptions] = None,
    cache: bool = True,
) -> TextModel:
    """Loads a model of ONNX with operators on strings.

    Args:
        path: the file.
        dims: as for `mace.load`; dimensions that the model leaves open are decided by
            each run unless they are given here.
        options, cache: as for `mace.load`, of the part that the engine runs.

    Raises:
        MaceError: the file cannot be read, has no strings, or its rest cannot be
            converted.
    """
    import onnx

    source = Path(path)
    if not source.is_file():
        raise UsageError(f"{source}: no such file{near_file(source)}")
    try:
        whole = onnx.shape_inference.infer_shapes(onnx.load(source))
    except Exception as error:  # of protobuf and of onnx, which share no base
        raise UsageError(f"{source} is no model of ONNX: {error}") from error
    parts = _divide(whole)
    if not parts.front:
        raise UsageError(
            f"{source} has no operators on strings; mace.load runs all of it"
        )
    front = _model(whole, parts.front, parts.front_inputs, parts.made)
    engine = None
    if parts.rest:
        rest = _model(whole, parts.rest, parts.rest_inputs, parts.rest_outputs)
        engine = _load_rest(rest, dict(dims or {}), options, cache)
    names = [info.name for info in whole.graph.output]
    return TextModel(front, engine, _fed(whole.graph), names)


@dataclass(frozen=True)
class _Parts:
    """The nodes that strings lead to and what they need, and all others; the names of
    what goes in and out.
    """

    front: list[onnx.NodeProto]
    rest: list[onnx.NodeProto]
    front_inputs: list[str]
    made: list[str]
    rest_inputs: list[str]
    rest_outputs: list[str]


def _fed(graph: onnx.GraphProto) -> list[str]:
    """Inputs that have no default."""
    stored = {tensor.name for tensor in graph.initializer}
    return [info.name for info in graph.input if info.name not in stored]


def _divide(whole: onnx.ModelProto) -> _Parts:
    graph = whole.graph
    strings = {name for name, info in _types(graph).items() if _is_string(info)}
    maker = {name: node for node in graph.node for name in node.output if name}
    needed: set[int] = set()
    todo = [
        node
        for node in graph.node
        if node.op_type in STRING_OPERATORS
        or strings.intersection((*node.input, *node.output))
    ]
    while todo:
        node = todo.pop()
        if id(node) not in needed:
            needed.add(id(node))
            todo += [maker[name] for name in node.input if name in maker]
    front = [node for node in graph.node if id(node) in needed]
    rest = [node for node in graph.node if id(node) not in needed]
    read = _read(rest)
    outputs = [info.name for info in graph.output]
    made = [
        name
        for name in dict.fromkeys(name for node in front for name in node.output)
        if name and (name in read or name in outputs)
    ]
    fed = _fed(graph)
    return _Parts(
        front,
        rest,
        front_inputs=[name for name in fed if name in _read(front)],
        made=made,
        rest_inputs=[name for name in (*fed, *made) if name in read],
        rest_outputs=[name for name in outputs if name not in made],
    )


def _read(nodes: Iterable[onnx.NodeProto]) -> set[str]:
    return {name for node in nodes for name in node.input if name}


def _types(graph: onnx.GraphProto) -> dict[str, onnx.ValueInfoProto]:
    """What is known of values; constants have no entry unless they are inputs too."""
    return {
        info.name: info for info in (*graph.value_info, *graph.input, *graph.output)
    }


def _is_string(info: onnx.ValueInfoProto) -> bool:
    import onnx

    return bool(info.type.tensor_type.elem_type == onnx.TensorProto.STRING)


def _model(
    whole: onnx.ModelProto,
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> onnx.ModelProto:
    """A part of a model, with the constants that it reads."""
    import onnx

    types = _types(whole.graph)
    unknown = [name for name in inputs if name not in types]
    if unknown:
        raise MaceError(
            f"the type of {', '.join(unknown)}, between strings and numbers, is not "
            "known; add a value_info for it to the model"
        )
    read = _read(nodes)
    graph = onnx.helper.make_graph(
        nodes,
        whole.graph.name or "model",
        [_open(types[name]) for name in inputs],
        [types.get(name) or onnx.ValueInfoProto(name=name) for name in outputs],
        [tensor for tensor in whole.graph.initializer if tensor.name in read],
    )
    return onnx.helper.make_model(
        graph,
        opset_imports=whole.opset_import,
        ir_version=whole.ir_version,
        functions=whole.functions,
    )


def _open(info: onnx.ValueInfoProto) -> onnx.ValueInfoProto:
    """The same with a name for each dimension that has neither a name nor a length."""
    import onnx

    named = onnx.ValueInfoProto()
    named.CopyFrom(info)
    for axis, dim in enumerate(named.type.tensor_type.shape.dim):
        if not dim.WhichOneof("value"):
            dim.dim_param = f"{info.name}_{axis}"
    return named


def _load_rest(
    rest: onnx.ModelProto,
    dims: dict[str, int],
    options: Optional[RunOptions],
    cache: bool,
) -> Model:
    for info in rest.graph.input:
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_param:
                dims.setdefault(dim.dim_param, -1)
    content = rest.SerializeToString()
    # Under one name for the same contents: conversions are kept by the path.
    folder = cache_dir() / _FOLDER
    file = folder / f"{hashlib.sha256(content).hexdigest()[:32]}.onnx"
    if not file.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(file) as stream:
            stream.write(content)
    return load(file, dims=dims, options=options, cache=cache)


def _array(value: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind == "U" else array

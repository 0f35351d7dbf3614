# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A loaded model, and its runs."""

from __future__ import annotations

import ctypes
import html
import os
import shutil
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, NoReturn, Optional, Union

import numpy as np

from mace.python.runtime.library import (
    FORMATS,
    MAX_RANK,
    CModel,
    CTensor,
    check,
    fail,
    library,
)
from mace.python.runtime.options import RunOptions, devices_of_hint, native_config
from mace.python.runtime.profile import (
    OperatorInfo,
    Profile,
    explanation_of,
    measured,
    memory_of,
    operators_of,
)
from mace.python.runtime.tensors import (
    Array,
    GraphFile,
    TensorInfo,
    elements,
    read_graph,
)
from mace.python.tools.atomic import atomic_write
from mace.python.tools.errors import MaceError, UsageError
from mace.python.tools.wording import nearest

Shape = tuple[int, ...]

# Sets of input shapes of which a model knows the shapes of its outputs.
_KNOWN_SHAPES = 64


class Model:
    """A model that is loaded; `mace.load` makes it.

    Any thread may run it. Runs of one model take turns; those of different models
    happen at the same time, because Python goes on while the library computes.

    Attributes:
        name: of the model.
        inputs, outputs: in the order of the model.
        options: that it was loaded with.
        path: of its graph file.
        weights: of the file of its weights.
    """

    def __init__(
        self,
        graph: GraphFile,
        path: Path,
        weights: Path,
        options: Optional[RunOptions] = None,
        folder: object = None,
    ) -> None:
        """Prefer `mace.load`.

        Args:
            folder: lasts as long as the model.

        Raises:
            EngineError: the library cannot load the model.
        """
        self.name = graph.name
        self.inputs = graph.inputs
        self.outputs = graph.outputs
        self.options = options or RunOptions()
        self.path = path
        self.weights = weights
        self._folder = folder
        self._c = library()
        self._lock = threading.Lock()
        devices = self.options.devices or devices_of_hint(graph.runtime)
        self._engine: Optional[ctypes.c_void_p] = self._create(graph, weights, devices)
        self._finalizer = weakref.finalize(
            self, self._c.mace_engine_destroy, self._engine
        )
        # When Python ends, threads may still be running it.
        self._finalizer.atexit = False
        self._places = {info.name: place for place, info in enumerate(self.inputs)}
        for place, info in enumerate(self.inputs):
            self._places.setdefault(info.alias or info.name, place)
        for name, place in list(self._places.items()):
            self._places.setdefault(_other_spelling(name), place)
        self._runner = Runner(self, self.inputs, self.outputs)
        # Of runs that want some of the outputs, by these.
        self._runners: dict[tuple[int, ...], Runner] = {}

    def _create(
        self, graph: GraphFile, weights: Path, devices: Sequence[str]
    ) -> ctypes.c_void_p:
        # The outputs of the model alone, in its order.
        names = [info.name.encode() for info in self.outputs]
        outputs = (ctypes.c_char_p * len(names))(*names)
        native = CModel(graph.content, len(graph.content))
        native.weights_path = os.fsencode(weights)
        native.outputs = ctypes.cast(outputs, ctypes.c_void_p)
        native.output_count = len(names)
        engine = ctypes.c_void_p()
        with native_config(self.options, devices) as config:
            check(
                self._c.mace_engine_create(
                    ctypes.byref(native), config, ctypes.byref(engine)
                )
            )
        return engine

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Runs the model.

        Args:
            arrays: the inputs in their order, or one mapping of names to arrays.
            named: inputs by name.

        Returns:
            the output; a dictionary of outputs by name if the model has several, or if
            the inputs were a dictionary.

        Raises:
            UsageError: wrong names or types.
            EngineError: shapes that do not fit, or a run that failed.
        """
        if len(arrays) == 1 and isinstance(arrays[0], Mapping):
            return self.run({**arrays[0], **named})
        results = self._run(self._ordered(arrays, named))
        if len(results) == 1:
            return results[0]
        return {info.name: array for info, array in zip(self.outputs, results)}

    def run(
        self, inputs: Mapping[str, Any], outputs: Optional[Iterable[str]] = None
    ) -> dict[str, Array]:
        """As calling the model, with names for all inputs and outputs.

        Args:
            outputs: the names of those that are wanted; None: all. What the others
                would hold is not copied.

        Raises:
            UsageError: wrong names or types.
            EngineError: shapes that do not fit, or a run that failed.
        """
        given = self._ordered((), inputs)
        if outputs is None:
            results = self._run(given)
            return {info.name: array for info, array in zip(self.outputs, results)}
        names = (outputs,) if isinstance(outputs, str) else tuple(outputs)
        runner = self._runner_of(names)
        arrays = [info.accept(item) for info, item in zip(self.inputs, given)]
        return dict(zip(names, runner.run(arrays)))

    async def run_async(
        self, inputs: Mapping[str, Any], outputs: Optional[Iterable[str]] = None
    ) -> dict[str, Array]:
        """As `run`, while an event loop goes on with other things."""
        # Late: most programs have no event loop.
        import asyncio

        return await asyncio.get_running_loop().run_in_executor(
            None, self.run, inputs, outputs
        )

    def _runner_of(self, names: tuple[str, ...]) -> Runner:
        """What runs the model for some of its outputs."""
        known: dict[str, int] = {}
        for place, info in enumerate(self.outputs):
            for name in (info.name, _other_spelling(info.name), info.alias):
                known.setdefault(name, place)
        unknown = [name for name in names if known.get(name) is None or not name]
        if unknown or len({known.get(name) for name in names}) != len(names):
            there = ", ".join(f"'{info.name}'" for info in self.outputs)
            near = nearest(unknown[0], list(known)) if unknown else None
            hint = f"; did you mean '{near}'?" if near else ""
            what = (
                f"no output {', '.join(map(repr, unknown))}{hint}"
                if unknown
                else f"each output once, not {', '.join(map(repr, names))}"
            )
            raise UsageError(f"model '{self.name}' has {what}; it has {there}")
        if not names:
            raise UsageError("outputs: found none; leave it out for all")
        places = tuple(known[name] for name in names)
        runner = self._runners.get(places)
        if runner is None:
            wanted = [self.outputs[place] for place in places]
            runner = self._runners[places] = Runner(self, self.inputs, wanted)
        return runner

    def bind(
        self,
        inputs: Optional[Mapping[str, Array]] = None,
        outputs: Optional[Mapping[str, Array]] = None,
    ) -> BoundModel:
        """Fixes the arrays that runs read and write, so that a run allocates nothing.

        Args:
            inputs: by name, of the model's type and dense; those that are left out are
                made, if the model says their shape.
            outputs: likewise.

        Raises:
            UsageError: an array that the library cannot use in place, or whose shape is
                not known.
        """
        return BoundModel(self, dict(inputs or {}), dict(outputs or {}))

    def explain(self) -> str:
        """Which device runs each operator, by which kernel, and why no other does."""
        with self._lock:
            return explanation_of(self._handle())

    def operators(self) -> tuple[OperatorInfo, ...]:
        """The operators, in the order of execution."""
        with self._lock:
            return tuple(info for info, _ in operators_of(self._handle()))

    def memory(self) -> dict[str, int]:
        """The bytes that the library holds for the model now, by what they are for."""
        with self._lock:
            return memory_of(self._handle())

    def profile(
        self, inputs: Mapping[str, Any], runs: int = 10, warm_up: int = 2
    ) -> Profile:
        """Runs the model some times, and measures each operator.

        States go on as in other runs. Measuring an operator takes less than a
        microsecond, which is part of its time.

        Args:
            inputs: by name.
            runs: how many are measured, 1 or more.
            warm_up: how many are run before.

        Raises:
            UsageError, EngineError: as `run` does.
        """
        if not isinstance(runs, int) or runs < 1:
            raise UsageError(f"runs: found {runs!r}, accepted: 1, 2, ...")
        given = self._ordered((), inputs)
        arrays = [info.accept(item) for info, item in zip(self.inputs, given)]
        for _ in range(warm_up):
            self._runner.run(arrays)
        timed = Runner(self, self.inputs, self.outputs, timed=True)

        def run() -> float:
            before = time.perf_counter()
            timed.run(arrays)
            return time.perf_counter() - before

        def read() -> list[tuple[OperatorInfo, float]]:
            with self._lock:
                return operators_of(self._handle())

        timed.run(arrays)  # makes what later runs use again
        return measured(run, read, runs)

    def reset_states(self) -> None:
        """Sets the states of the model, which it keeps from run to run, to zero."""
        with self._lock:
            check(self._c.mace_engine_reset_states(self._handle()))

    def release_memory(self) -> None:
        """Frees the memory of intermediate tensors until the next run."""
        with self._lock:
            check(self._c.mace_engine_release_intermediate_buffer(self._handle()))

    def close(self) -> None:
        """Frees all memory; the model cannot run any more. Also happens when nothing
        refers to it.
        """
        with self._lock:
            self._engine = None
            self._finalizer()

    def save(self, path: Union[str, os.PathLike[str]]) -> Path:
        """Writes the converted model to two files, which `mace.load` takes.

        Args:
            path: of the graph, `.pb`; the weights are written beside it, `.data`.

        Returns:
            the path of the graph.

        Raises:
            MaceError: they cannot be written, or the model's own files are gone.
        """
        if not self.path.exists():
            raise MaceError(f"{self.path} is gone, from which the model was loaded")
        return copy_model(self.path, self.weights, path)

    def __enter__(self) -> Model:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        ports = [
            ", ".join(f"{i.name} {i.dtype.name}{list(i.shape)}" for i in infos)
            for infos in (self.inputs, self.outputs)
        ]
        return f"<mace.Model {self.name}: {ports[0]} -> {ports[1]}>"

    def _repr_html_(self) -> str:
        """A table of inputs and outputs, for notebooks."""
        rows = "".join(
            f"<tr><td>{side}</td><td>{html.escape(info.name)}</td>"
            f"<td>{info.dtype.name}</td><td>{info.shape_text}</td>"
            f"<td>{info.format}</td></tr>"
            for side, infos in (("input", self.inputs), ("output", self.outputs))
            for info in infos
        )
        return (
            f"<table><caption>{html.escape(self.name)}</caption><thead><tr><th></th>"
            "<th>name</th><th>type</th><th>shape</th><th>order</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )

    def _handle(self) -> ctypes.c_void_p:
        if self._engine is None:
            raise MaceError(f"model '{self.name}' was closed")
        return self._engine

    def _ordered(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """The inputs in the model's order."""
        count = len(self.inputs)
        if not named and len(arrays) == count:
            return list(arrays)
        found: list[Any] = [None] * count
        seen = [False] * count
        problems = []
        if len(arrays) > count:
            problems.append(f"{len(arrays)} arrays were given")
        for place in range(min(len(arrays), count)):
            found[place], seen[place] = arrays[place], True
        for name, array in named.items():
            at = self._places.get(name)
            if at is None:
                near = nearest(str(name), [info.name for info in self.inputs])
                hint = f"; did you mean '{near}'?" if near else ""
                problems.append(f"'{name}' is not an input{hint}")
            elif seen[at]:
                problems.append(f"'{name}' is given twice")
            else:
                found[at], seen[at] = array, True
        problems += [
            f"'{info.name}' is missing"
            for info, there in zip(self.inputs, seen)
            if not there
        ]
        if problems:
            names = ", ".join(f"'{info.name}'" for info in self.inputs)
            raise UsageError(
                f"wrong inputs for model '{self.name}', which takes {names}: "
                + "; ".join(problems)
            )
        return found

    def _run(self, given: Sequence[Any]) -> list[Array]:
        arrays = [info.accept(item) for info, item in zip(self.inputs, given)]
        return self._runner.run(arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._folder is not None or not self.path.exists():
            raise UsageError(
                f"model '{self.name}' cannot be pickled or copied: its files do not "
                "last; load it with the cache, or from a file of save()"
            )
        return reloaded, (os.fspath(self.path), os.fspath(self.weights), self.options)


def reloaded(path: str, weights: str, options: RunOptions) -> Model:
    """A model that was pickled, loaded again from its files.

    Raises:
        MaceError: they are not here, or cannot be loaded.
    """
    if not (os.path.exists(path) and os.path.exists(weights)):
        raise MaceError(
            f"{path} is not here: a pickled model is the place of its files, which "
            "has to be the same where it is used; save() them to a shared folder"
        )
    return Model(read_graph(Path(path)), Path(path), Path(weights), options)


def graph_path(path: Union[str, os.PathLike[str]]) -> Path:
    """Where the graph of a converted model is written.

    Raises:
        UsageError: the name is none of a converted model.
    """
    if Path(path).suffix != ".pb":
        raise UsageError(f"{path}: the name of a converted model ends in .pb")
    return Path(path)


def copy_model(graph: Path, weights: Path, path: Union[str, os.PathLike[str]]) -> Path:
    """Copies a converted model to `path`, and its weights beside it; the graph last.

    Raises:
        UsageError: the name is none of a converted model.
        OutputError: it cannot be written.
    """
    target = graph_path(path)
    for source, copy in ((weights, target.with_suffix(".data")), (graph, target)):
        with open(source, "rb") as read, atomic_write(copy) as write:
            shutil.copyfileobj(read, write, 1 << 20)
    return target


def refuse_copy(what: object) -> NoReturn:
    """What `pickle` and `copy` are answered.

    Raises:
        UsageError: always.
    """
    raise UsageError(
        f"a {type(what).__name__} cannot be pickled or copied: it holds memory of this "
        "process; pass the path of its file, and load it there with mace.load, which "
        "converts a model once"
    )


class Runner:
    """Runs a model with the application's order of dimensions, or with another one.

    Args:
        inputs, outputs: those of the model, with shapes and formats of the arrays.
        kept: the outputs whose arrays are used again by the next run.
        timed: measure each operator.
    """

    def __init__(
        self,
        model: Model,
        inputs: Sequence[TensorInfo],
        outputs: Sequence[TensorInfo],
        kept: frozenset[int] = frozenset(),
        timed: bool = False,
    ) -> None:
        self._model = model
        c = model._c
        self._run = c.mace_engine_run_timed if timed else c.mace_engine_run
        self._inputs = inputs
        self._outputs = outputs
        self._kept = kept
        self._arrays: dict[int, Array] = {}
        # The tensors of runs, which take turns.
        self._call = _Tensors(inputs, outputs)
        # Shapes of outputs by those of inputs.
        self._shapes: dict[tuple[Shape, ...], list[Shape]] = {}
        if all(info.is_static for info in (*inputs, *outputs)):
            declared = tuple(info.shape for info in inputs)
            self._shapes[declared] = [info.shape for info in outputs]

    def run(self, arrays: list[Array]) -> list[Array]:
        """The outputs for dense arrays of the right types."""
        shapes = tuple([array.shape for array in arrays])
        call, model = self._call, self._model
        with model._lock:
            engine = model._handle()
            call.set_inputs(arrays)
            known = self._shapes.get(shapes)
            wanted = known or [(0,)] * len(self._outputs)
            if self._kept:
                results = [self._array(at, shape) for at, shape in enumerate(wanted)]
            else:
                results = [np.empty(s, i.dtype) for s, i in zip(wanted, self._outputs)]
            call.set_outputs(results)
            code = self._run(engine, *call.arguments)
            # The library tells one output after the other whose shape was not known.
            for _ in self._outputs:
                if code == 0:
                    break
                place, shape = call.too_small() or (0, None)
                if shape is None:
                    break
                results[place] = self._array(place, shape)
                call.set_outputs(results)
                code = self._run(engine, *call.arguments)
                known = None
            if code != 0:
                fail(code)
            if known is None:
                self._remember(shapes, [array.shape for array in results])
            return call.shaped(results)

    def _array(self, place: int, shape: Shape) -> Array:
        array = self._arrays.get(place)
        if array is None or array.shape != shape:
            array = np.empty(shape, self._outputs[place].dtype)
            if place in self._kept:
                self._arrays[place] = array
        return array

    def _remember(self, inputs: tuple[Shape, ...], outputs: list[Shape]) -> None:
        if len(self._shapes) >= _KNOWN_SHAPES:
            self._shapes.clear()
        self._shapes[inputs] = outputs


class BoundModel:
    """A model with fixed arrays: calling it runs the model and allocates nothing.

        bound = model.bind()
        bound.inputs["image"][...] = picture
        probability = bound()

    Write to `inputs` before a run (`bound.inputs["image"] = picture` copies, too);
    `outputs` have the results after it, until the next run. Any thread may run it, but
    the arrays are the same for all.

    Attributes:
        inputs, outputs: the arrays, by name.
    """

    def __init__(
        self, model: Model, inputs: dict[str, Array], outputs: dict[str, Array]
    ) -> None:
        self._model = model
        self.inputs = BoundInputs(model.inputs, _bound("input", model.inputs, inputs))
        self.outputs: Mapping[str, Array] = MappingProxyType(
            _bound("output", model.outputs, outputs)
        )
        self._results = list(self.outputs.values())
        self._tensors = _Tensors(model.inputs, model.outputs)
        self._tensors.set_inputs(list(self.inputs.values()))
        self._tensors.set_outputs(self._results)
        self._arguments = self._tensors.arguments
        self._run = library().mace_engine_run
        self._lock = model._lock
        self._single = len(self._results) == 1

    def __call__(self) -> Any:
        """Runs the model; returns the output, or several by name.

        An output of which the data decides the size is the part of the array that was
        written.
        """
        tensors = self._tensors
        with self._lock:
            code = self._run(self._model._handle(), *self._arguments)
            check(code)
            results = tensors.shaped(self._results)
        if self._single:
            return results[0]
        return dict(zip(self.outputs, results))

    def __reduce__(self) -> NoReturn:
        refuse_copy(self)


class BoundInputs(Mapping[str, Array]):
    """The arrays that a bound model reads, by name.

    They stay the same: setting one copies the numbers into it.
    """

    def __init__(self, infos: Sequence[TensorInfo], arrays: dict[str, Array]) -> None:
        self._infos = {info.name: info for info in infos}
        self._arrays = arrays

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        return f"<mace.BoundInputs {self._arrays!r}>"

    def __setitem__(self, name: str, given: Any) -> None:
        """Copies an array, of which `Model.run` would take the elements.

        Raises:
            UsageError: the model has no such input, or its array cannot hold this one.
        """
        info = self._infos.get(name)
        if info is None:
            near = nearest(name, list(self._infos))
            hint = f"; did you mean '{near}'?" if near else ""
            raise UsageError(f"the model has no input '{name}'{hint}")
        array, bound = info.accept(given), self._arrays[name]
        if array.shape != bound.shape:
            raise UsageError(
                f"input '{name}' is bound to an array of the shape "
                f"{list(bound.shape)}, and was given one of {list(array.shape)}; bind "
                "the model to arrays of that shape"
            )
        if not bound.flags.writeable:
            raise UsageError(
                f"input '{name}' is bound to an array that cannot be written"
            )
        bound[...] = array


def _other_spelling(name: str) -> str:
    """With `:0`, the first result of a node, or without; both mean one tensor."""
    return name[:-2] if name.endswith(":0") else f"{name}:0"


def _bound(
    kind: str, infos: Sequence[TensorInfo], given: dict[str, Array]
) -> dict[str, Array]:
    found = {}
    for info in infos:
        name = info.name if info.name in given else _other_spelling(info.name)
        array = given.pop(name, None)
        if array is None:
            if not info.is_static:
                raise UsageError(
                    f"{kind} '{info.name}' has the shape {list(info.shape)}; give an "
                    "array of the shape that the runs have"
                )
            array = np.zeros(info.shape, info.dtype)
        elif (
            not isinstance(array, np.ndarray)
            or array.dtype != info.dtype
            or not array.flags.c_contiguous
            or (kind == "output" and not array.flags.writeable)
        ):
            raise UsageError(
                f"{kind} '{info.name}': an array to bind must be a dense "
                f"numpy.ndarray of {info.dtype.name} (that can be written, if it is an "
                "output); numpy.ascontiguousarray makes one"
            )
        found[info.name] = array
    if given:
        names = ", ".join(f"'{info.name}'" for info in infos)
        raise UsageError(
            f"the model has no {kind} {', '.join(map(repr, given))}; it has {names}"
        )
    return found


class _Tensors:
    """The library's view of arrays; keeps the arrays alive."""

    def __init__(
        self, inputs: Sequence[TensorInfo], outputs: Sequence[TensorInfo]
    ) -> None:
        self._inputs = _native(inputs)
        self._outputs = _native(outputs)
        self._in_place = [self._inputs[i] for i in range(len(inputs))]
        self._out_place = [self._outputs[i] for i in range(len(outputs))]
        self._in_infos = tuple(inputs)
        self._shapes: list[Optional[Shape]] = [None] * len(inputs)
        self._types: list[Any] = [info.dtype for info in inputs]
        self._arrays: list[Array] = []
        self._results: list[Array] = []
        # Of mace_engine_run, after the engine.
        self.arguments = (
            ctypes.cast(self._inputs, ctypes.c_void_p),
            ctypes.c_size_t(len(inputs)),
            ctypes.cast(self._outputs, ctypes.c_void_p),
            ctypes.c_size_t(len(outputs)),
        )

    def set_inputs(self, arrays: list[Array]) -> None:
        self._arrays = arrays
        for place, array in enumerate(arrays):
            tensor = self._in_place[place]
            tensor.data = array.ctypes.data
            shape = array.shape
            if shape != self._shapes[place]:
                self._set_shape(tensor, place, shape)
                tensor.bytes = array.nbytes
            if array.dtype is not self._types[place]:
                tensor.type = self._in_infos[place].native_type(array.dtype)
                tensor.bytes = array.nbytes
                self._types[place] = array.dtype

    def _set_shape(self, tensor: CTensor, place: int, shape: Shape) -> None:
        if len(shape) > MAX_RANK:
            raise UsageError(
                f"input '{self._in_infos[place].name}': the array has {len(shape)} "
                f"dimensions; at most {MAX_RANK} are possible"
            )
        tensor.rank = len(shape)
        tensor.dims[: len(shape)] = shape
        self._shapes[place] = shape

    def set_outputs(self, results: list[Array]) -> None:
        self._results = results
        for tensor, array in zip(self._out_place, results):
            tensor.data = array.ctypes.data
            tensor.bytes = array.nbytes

    def shaped(self, results: list[Array]) -> list[Array]:
        """The results in the shapes that the run gave them."""
        found = []
        for tensor, array in zip(self._out_place, results):
            shape = tuple(tensor.dims[: tensor.rank])
            if shape != array.shape:
                array = array.reshape(-1)[: elements(shape)].reshape(shape)
            found.append(array)
        return found

    def too_small(self) -> Optional[tuple[int, Shape]]:
        """The output that a run had no room for, and its shape."""
        for place, (tensor, array) in enumerate(zip(self._out_place, self._results)):
            shape = tuple(tensor.dims[: tensor.rank])
            if elements(shape) > array.size:
                return place, shape
        return None


def _native(infos: Sequence[TensorInfo]) -> Any:
    tensors = (CTensor * len(infos))()
    for tensor, info in zip(tensors, infos):
        tensor.name = info.name.encode()
        tensor.type = info.native_type(info.dtype)
        tensor.format = FORMATS[info.format]
    return tensors

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models that run one after the other, joined without copies where possible."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn, Optional

from mace.python.runtime.load import FilePath, load
from mace.python.runtime.model import Model, Runner, refuse_copy
from mace.python.runtime.options import RunOptions
from mace.python.runtime.tensors import Array, TensorInfo
from mace.python.tools.errors import UsageError
from mace.python.tools.wording import nearest

_FLOATS = ("float32", "float16", "bfloat16")
# As CopyReasonText of mace_buffers.h.
_FORMAT = "the buffer is NCHW, and engines compute in NHWC"
_TYPE = "the buffer has another element type than the model"


def load_pipeline(
    path: FilePath, *, options: Optional[RunOptions] = None, cache: bool = True
) -> Pipeline:
    """Loads the chain of models that a deployment file describes.

    The stages are the models, in the order of the file; its key `links` joins them.

    Args:
        path: the deployment file.
        options, cache: as for `mace.load`, of each model.

    Raises:
        MaceError: the file has no `links`, a model cannot be converted, or an output
            does not fit the input that it is linked to.
    """
    # Late: reading deployments takes half a second of imports.
    from mace.python.tools.load.complete import Completion
    from mace.python.tools.load.deployments import of_config

    deployment = of_config(Path(path), Completion({}, in_python=True)).deployment
    if not deployment.chain:
        raise UsageError(
            f"{path} has no links; add, for instance, links: "
            "{first/output: second/input}, or load its models by mace.load"
        )
    pipeline = Pipeline()
    for name in deployment.models:
        pipeline.add(name, load(path, model=name, options=options, cache=cache))
    for writer, reader in deployment.chain:
        pipeline.connect(writer.model, writer.tensor, reader.model, reader.tensor)
    return pipeline


@dataclass(frozen=True)
class Copy:
    """A link that a stage copies while it reads or writes it.

    Attributes:
        stage, tensor: whose input or output it is.
        reason: the end of a sentence: "it is copied because ...".
        is_output: the stage writes it.
    """

    stage: str
    tensor: str
    reason: str
    is_output: bool


@dataclass
class _Stage:
    name: str
    model: Model
    # By input: the stage and the output that feed it.
    links: dict[str, tuple[int, str]] = field(default_factory=dict)


class Pipeline:
    """Models that run one after the other.

        pipeline = mace.Pipeline()
        pipeline.add("halve", mace.load("halve.onnx"))
        pipeline.add("digits", mace.load("digits.onnx"))
        pipeline.connect("halve", "small", "digits", "image")
        probability = pipeline(photo)

    What one model writes and another one reads is in the order of dimensions in which
    the library computes, so that nothing is copied; `copies` lists the exceptions.
    Inputs and outputs of the pipeline are those that no link joins, named ``tensor``
    where this is unique, and always ``stage/tensor``. Any thread may run it; runs of
    one pipeline take turns.
    """

    def __init__(self) -> None:
        self._stages: list[_Stage] = []
        self._runners: Optional[list[Runner]] = None
        self._copies: tuple[Copy, ...] = ()
        self._lock = threading.Lock()

    def __reduce__(self) -> NoReturn:
        refuse_copy(self)

    def add(self, stage: str, model: Model) -> None:
        """Adds the next stage; stages run in the order in which they are added.

        Raises:
            UsageError: the name is taken, or has a ``/``.
        """
        if not stage or "/" in stage:
            raise UsageError(f"{stage!r} is no name of a stage: it is empty or has '/'")
        if stage in self._names():
            raise UsageError(f"there is a stage '{stage}' already")
        with self._lock:
            self._stages.append(_Stage(stage, model))
            self._runners = None

    def connect(self, stage: str, output: str, to: str, input: str) -> None:  # noqa: A002
        """Links an output of a stage to an input of a later one. An output may feed
        several inputs.

        Raises:
            UsageError: there is no such stage or tensor, or types do not fit.
        """
        writer, reader = self._find(stage), self._find(to)
        if writer >= reader:
            raise UsageError(
                f"stage '{to}' runs before '{stage}' has its outputs; add it after "
                f"'{stage}'"
            )
        from_info = _info(stage, "output", self._stages[writer].model.outputs, output)
        to_info = _info(to, "input", self._stages[reader].model.inputs, input)
        links = self._stages[reader].links
        if to_info.name in links:
            raise UsageError(f"input '{input}' of stage '{to}' has a link already")
        types = (from_info.dtype.name, to_info.dtype.name)
        if types[0] != types[1] and not all(name in _FLOATS for name in types):
            raise UsageError(
                f"output '{stage}/{output}' is {types[0]}, input '{to}/{input}' is "
                f"{types[1]}: these types cannot be linked"
            )
        with self._lock:
            links[to_info.name] = (writer, from_info.name)
            self._runners = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of what a run takes, in their order."""
        return self._short(self._open_inputs())

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of what a run returns."""
        return self._short(self._open_outputs())

    @property
    def copies(self) -> tuple[Copy, ...]:
        """The links that a run copies, and why; empty: all are used in place."""
        with self._lock:
            self._plan()
            return self._copies

    def explain(self) -> str:
        """The stages, and each link with the copy that it needs."""
        because = {(c.stage, c.tensor, c.is_output): c.reason for c in self.copies}
        links = [(s, i, *source) for s in self._stages for i, source in s.links.items()]
        lines = [f"pipeline of {len(self._stages)} stages, {len(links)} links"]
        lines += [f"stage '{stage.name}': {stage.model}" for stage in self._stages]
        for reader, tensor, at, output in links:
            writer = self._stages[at].name
            reasons = [
                f"copied by '{stage}' because {because[key]}"
                for stage, key in (
                    (writer, (writer, output, True)),
                    (reader.name, (reader.name, tensor, False)),
                )
                if key in because
            ]
            how = ", ".join(reasons) or "in place"
            lines.append(f"link '{writer}/{output}' to '{reader.name}/{tensor}': {how}")
        return "\n".join(lines)

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Runs all stages.

        Args:
            arrays: the inputs in the order of `inputs`, or one mapping by name.
            named: inputs by name.

        Returns:
            the output; a dictionary of outputs by name if there are several.

        Raises:
            UsageError: wrong names or types.
            EngineError: shapes that do not fit, or a run that failed.
        """
        if len(arrays) == 1 and isinstance(arrays[0], Mapping):
            return self.run({**arrays[0], **named})
        names = self.inputs
        if len(arrays) > len(names):
            raise UsageError(f"{len(arrays)} arrays were given for {len(names)} inputs")
        given = dict(zip(names, arrays))
        for name in named.keys() & given.keys():
            raise UsageError(f"input '{name}' is given twice")
        results = self.run({**given, **named})
        return next(iter(results.values())) if len(results) == 1 else results

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Array]:
        """As calling it, with names for all inputs and outputs."""
        given = self._given(inputs)
        with self._lock:
            runners = self._plan()
            made: dict[tuple[int, str], Array] = {}
            for at, (stage, runner) in enumerate(zip(self._stages, runners)):
                arrays = [
                    made[stage.links[info.name]]
                    if info.name in stage.links
                    else info.accept(given[at, info.name])
                    for info in stage.model.inputs
                ]
                found = runner.run(arrays)
                for info, array in zip(stage.model.outputs, found):
                    made[at, info.name] = array
            ends = self._open_outputs()
            return {name: made[end] for name, end in zip(self._short(ends), ends)}

    def _names(self) -> list[str]:
        return [stage.name for stage in self._stages]

    def _find(self, name: str) -> int:
        names = self._names()
        if name not in names:
            raise UsageError(
                f"there is no stage '{name}'; there are: {', '.join(names) or 'none'}"
            )
        return names.index(name)

    def _open_inputs(self) -> list[tuple[int, str]]:
        return [
            (at, info.name)
            for at, stage in enumerate(self._stages)
            for info in stage.model.inputs
            if info.name not in stage.links
        ]

    def _linked(self) -> set[tuple[int, str]]:
        return {source for stage in self._stages for source in stage.links.values()}

    def _open_outputs(self) -> list[tuple[int, str]]:
        linked = self._linked()
        return [
            (at, info.name)
            for at, stage in enumerate(self._stages)
            for info in stage.model.outputs
            if (at, info.name) not in linked
        ]

    def _short(self, ends: Iterable[tuple[int, str]]) -> tuple[str, ...]:
        ends = list(ends)
        tensors = [tensor for _, tensor in ends]
        return tuple(
            tensor if tensors.count(tensor) == 1 else self._long((at, tensor))
            for at, tensor in ends
        )

    def _long(self, end: tuple[int, str]) -> str:
        return f"{self._stages[end[0]].name}/{end[1]}"

    def _given(self, inputs: Mapping[str, Any]) -> dict[tuple[int, str], Any]:
        ends = self._open_inputs()
        names = dict(zip(self._short(ends), ends))
        known = {**{self._long(end): end for end in ends}, **names}
        found: dict[tuple[int, str], Any] = {}
        for name, array in inputs.items():
            if name not in known:
                near = nearest(name, list(names))
                hint = f"; did you mean '{near}'?" if near else ""
                raise UsageError(
                    f"'{name}' is not an input of the pipeline{hint}; it takes: "
                    f"{', '.join(names) or 'nothing'}"
                )
            if known[name] in found:
                raise UsageError(f"input '{self._long(known[name])}' is given twice")
            found[known[name]] = array
        missing = [name for name, end in names.items() if end not in found]
        if missing:
            raise UsageError(
                f"inputs of the pipeline are missing: {', '.join(missing)}"
            )
        return found

    def _plan(self) -> list[Runner]:
        """What runs the stages; chooses the order and the type of each link."""
        if self._runners is not None:
            return self._runners
        readers: dict[tuple[int, str], list[tuple[_Stage, TensorInfo]]] = {}
        for stage in self._stages:
            for info in stage.model.inputs:
                if info.name in stage.links:
                    readers.setdefault(stage.links[info.name], []).append((stage, info))
        copies: list[Copy] = []
        linked: dict[tuple[int, str], TensorInfo] = {}
        for (at, output), ends in readers.items():
            stage = self._stages[at]
            own = _info(stage.name, "output", stage.model.outputs, output)
            linked[at, output] = link = _link(own, [info for _, info in ends])
            if link.format == "NCHW":
                copies.append(Copy(stage.name, output, _FORMAT, True))
            for reader, info in ends:
                if _read_as(link, info).format == "NCHW" and len(link.shape) == 4:
                    copies.append(Copy(reader.name, info.name, _FORMAT, False))
                elif link.dtype != info.dtype:
                    copies.append(Copy(reader.name, info.name, _TYPE, False))
        runners = []
        for at, stage in enumerate(self._stages):
            inputs = [
                _read_as(linked[stage.links[info.name]], info)
                if info.name in stage.links
                else info
                for info in stage.model.inputs
            ]
            outputs = [linked.get((at, i.name), i) for i in stage.model.outputs]
            kept = frozenset(
                place
                for place, info in enumerate(stage.model.outputs)
                if (at, info.name) in linked
            )
            runners.append(Runner(stage.model, inputs, outputs, kept))
        self._copies, self._runners = tuple(copies), runners
        return runners


def _info(
    stage: str, kind: str, infos: tuple[TensorInfo, ...], name: str
) -> TensorInfo:
    for info in infos:
        if name in (info.name, info.alias or info.name):
            return info
    names = ", ".join(info.name for info in infos)
    raise UsageError(f"stage '{stage}' has no {kind} '{name}'; it has: {names}")


def _link(output: TensorInfo, readers: list[TensorInfo]) -> TensorInfo:
    """The array between an output and the inputs that read it."""
    image = output.format == "NCHW" and len(output.shape) == 4
    if not image or any(info.format == "NONE" for info in readers):
        return output if image else replace(output, format=_plain(output))
    batch, channels, height, width = output.shape
    return replace(output, shape=(batch, height, width, channels), format="NHWC")


def _plain(output: TensorInfo) -> str:
    return "NONE" if output.format == "NCHW" else output.format


def _read_as(link: TensorInfo, info: TensorInfo) -> TensorInfo:
    """The input as its link is."""
    form = info.format
    if form == "NCHW" and link.format == "NHWC":
        form = "NHWC"
    elif form == "NHWC" and link.format == "NCHW":
        form = "NCHW"
    return replace(info, shape=link.shape, format=form)

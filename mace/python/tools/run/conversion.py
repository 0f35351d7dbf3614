# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Converts a model that was given in the place of a deployment file before it runs.

A deployment file can ask for conversions that need samples or take long, so that its
models are converted by `convert` alone.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mace.python.installation import VERSION, command, converter_changed_ns
from mace.python.tools.command_line.options import CommandOptions
from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.config.subgraph import BorderTensor, SubgraphConfig
from mace.python.tools.config.values import FileRef
from mace.python.tools.config.vocabulary import DataFormat
from mace.python.tools.convert.constants import constants_sha256, constants_text
from mace.python.tools.export.model_file import (
    ModelFile,
    ModelFileError,
    TensorInfo,
    read_model_file,
)
from mace.python.tools.export.places import ModelPlaces, model_places
from mace.python.tools.fetch import file_sha256
from mace.python.tools.importers.frame.opened import OpenedModels

_LOG = logging.getLogger(__name__)


def bring_up_to_date(
    deployment: Deployment, options: CommandOptions, opened: OpenedModels | None
) -> None:
    """Converts the model as `convert` does, unless the one that `convert` or `quantize`
    has written is of this file and these options. One line says why.

    Args:
        opened: models that the command has opened already; None: none.

    Raises:
        MaceError: it cannot be converted.
    """
    (model,) = deployment.models.values()
    places = model_places(deployment, model.name, options.build_dir)
    before = _read(places)
    why = _reason(places, before, model)
    if not why:
        if before is not None and before.is_quantized:
            _LOG.info(
                "%s: this is the model that `quantize` made of %s, which computes in "
                "integers; `%s %s` makes the one in floats again",
                model.name,
                model.model_file_path.location,
                command("convert"),
                model.model_file_path.location,
            )
        return
    _LOG.info(
        "%s: converting %s to %s first (%s)",
        model.name,
        model.model_file_path.location,
        places.graph,
        why,
    )
    # Late: most runs convert nothing.
    from mace.python.tools.convert.convert import convert_deployment
    from mace.python.tools.convert.options import ConvertOptions

    with _only_problems():
        asked = ConvertOptions(build_dir=options.build_dir)
        convert_deployment(deployment, asked, opened)
    after = _read(places)
    if before and before.is_quantized and after and not after.is_quantized:
        _LOG.warning(
            "%s: the model that was there before computed in integers, this one "
            "computes in floats; quantize it again if it is to compute in integers",
            model.name,
        )


def _read(places: ModelPlaces) -> ModelFile | None:
    """The converted model; None: there is none, or it cannot be read."""
    with contextlib.suppress(ModelFileError):
        return read_model_file(places)
    return None


def _reason(places: ModelPlaces, file: ModelFile | None, model: ModelConfig) -> str:
    """Why the model has to be converted; empty: it has not."""
    if file is not None:
        return "; ".join(differences(file, model))
    if places.graph.exists() and places.data.exists():
        return f"{places.graph} cannot be read"
    return "not converted yet"


@contextlib.contextmanager
def _only_problems() -> Iterator[None]:
    """Leaves out what `convert` tells of its steps, unless each step is asked for."""
    logger = logging.getLogger("mace")
    level = logger.level
    if not logger.isEnabledFor(logging.DEBUG):
        logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def check_current(file: ModelFile, model: ModelConfig) -> None:
    """Compares a converted model with its current deployment file. Warns of differences
    that another conversion would remove.

    Raises:
        ModelFileError: the deployment names other inputs or outputs.
    """
    for side, declared, own in _other_names(model.whole, file):
        raise ModelFileError(
            f"models.{model.name}: {side}_tensors says {declared}, and "
            f"{file.graph_path} was converted with {own}; convert it again"
        )
    changed = [
        *_border(model.whole, file),
        *_settings(model, file),
        *_constants(model, file),
    ]
    if changed:
        _LOG.warning(
            "models.%s: %s was converted with other settings (%s); convert it again "
            "for them to take effect",
            model.name,
            file.graph_path,
            "; ".join(changed),
        )
    for path in _changed_sources(model, file):
        _LOG.warning(
            "models.%s: %s is another file than the one that %s was converted from; "
            "convert it again",
            model.name,
            path,
            file.graph_path,
        )


def differences(file: ModelFile, model: ModelConfig) -> list[str]:
    """What another conversion would change, each in a few words: what `check_current`
    raises or warns of, and a converter that is another one.
    """
    names = [
        f"its {side}s are {declared}, were {own}"
        for side, declared, own in _other_names(model.whole, file)
    ]
    if names:
        return names
    return [
        *_border(model.whole, file),
        *_settings(model, file),
        *(f"{path} has changed" for path in _changed_sources(model, file)),
        *_constants(model, file),
        *_converter(file),
    ]


def _converter(file: ModelFile) -> Iterator[str]:
    if file.converter_version != VERSION:
        yield f"MACE is {VERSION}, was {file.converter_version or 'unknown'}"
    elif converter_changed_ns() > file.graph_path.stat().st_mtime_ns:
        yield "the converter has changed"


def _other_names(
    subgraph: SubgraphConfig, file: ModelFile
) -> Iterator[tuple[str, str, str]]:
    """Of each side whose names differ: which one, those of the deployment, and own."""
    sides: tuple[tuple[str, Any, tuple[TensorInfo, ...]], ...] = (
        ("input", subgraph.inputs, _all_inputs(file)),
        ("output", subgraph.outputs, file.outputs),
    )
    for side, infos, tensors in sides:
        declared, own = [i.name for i in infos], [t.name for t in tensors]
        if sorted(declared) != sorted(own):
            yield side, ", ".join(declared), ", ".join(own)


def _border(subgraph: SubgraphConfig, file: ModelFile) -> Iterator[str]:
    tensors = {tensor.name: tensor for tensor in (*_all_inputs(file), *file.outputs)}
    infos: list[BorderTensor] = [*subgraph.inputs, *subgraph.outputs]
    for info in infos:
        was = tensors[info.name].data_format
        # The converter writes NONE if a tensor is not an image.
        if was is not DataFormat.NONE and info.data_format is not was:
            yield f"{info.name} is {info.data_format.value}, was {was.value}"
    for info in subgraph.inputs:
        shape = tensors[info.name].shape
        if info.shape != shape:
            yield f"{info.name} is {list(info.shape)}, was {list(shape)}"
        largest = tensors[info.name].largest
        if info.largest != largest:
            yield (
                f"the limits of {info.name} are {list(info.largest) or 'none'}, were "
                f"{list(largest) or 'none'}"
            )
        for column in ("means", "scales"):
            now, was = getattr(info, column) or (), getattr(tensors[info.name], column)
            # The file has them in 32 bits.
            if not _are_close(now, was):
                yield (
                    f"input_{column} of {info.name} are {list(now) or 'none'}, were "
                    f"{list(was) or 'none'}"
                )

    states = {state.tensor.name: state.becomes for state in file.states}
    if states != (subgraph.states or {}):
        yield f"states are {subgraph.states or 'none'}, were {states or 'none'}"


def _are_close(now: Sequence[float], was: Sequence[float]) -> bool:
    return len(now) == len(was) and all(
        math.isclose(a, b, rel_tol=1e-6) for a, b in zip(now, was)
    )


def _all_inputs(file: ModelFile) -> tuple[TensorInfo, ...]:
    return (*file.inputs, *(state.tensor for state in file.states))


def _settings(model: ModelConfig, file: ModelFile) -> Iterator[str]:
    # Zeros are not stored; a model without any hint was not written by this converter.
    if not file.hints:
        return
    for name, value in model.hints().items():
        was = file.hints.get(name, type(value)())
        if was != value:
            yield f"{name} is {value}, was {was}"


def _constants(model: ModelConfig, file: ModelFile) -> Iterator[str]:
    """Whether the inputs that are constants, or what they hold, are others."""
    files = sum(1 for ref in (model.model_file_path, model.weight_file_path) if ref)
    was, now = "".join(file.source_sha256[files:]), constants_sha256(model)
    if file.source_sha256 and was != now:
        own = constants_text(model.whole.constants) or "none"
        yield f"constants are {own}, were {'others' if was else 'none'}"


def _changed_sources(model: ModelConfig, file: ModelFile) -> Iterator[str]:
    refs = [ref for ref in (model.model_file_path, model.weight_file_path) if ref]
    for ref, was in zip(refs, file.source_sha256):
        now = ref.sha256
        path = _path(ref)
        if path is not None:
            now = file_sha256(ref, path)
        if now is not None and now != was:
            yield ref.location
    source = _path(model.model_file_path)
    if source is None:
        return
    for name, was in file.external_sha256.items():
        path = source.parent / name
        if path.is_file() and file_sha256(model.model_file_path, path) != was:
            yield str(path)


def _path(ref: FileRef) -> Path | None:
    """The local path; None if the file would have to be downloaded or is missing."""
    if ref.is_url:
        return None
    return next(
        (
            path
            for path in ref.candidates
            if path.is_file() or (ref.may_be_folder and path.is_dir())
        ),
        None,
    )

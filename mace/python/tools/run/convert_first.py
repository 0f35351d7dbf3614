# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Converts a model that was given in the place of a deployment file before it runs.

A deployment file can ask for conversions that need samples or take long, so that its
models are converted by `convert` alone.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from mace.python.installation import command
from mace.python.tools.command_line.options import CommandOptions
from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.export.model_file import (
    ModelFile,
    ModelFileError,
    read_model_file,
)
from mace.python.tools.export.places import ModelPlaces, model_places
from mace.python.tools.importers.frame.opened import OpenedModels
from mace.python.tools.run.stale_conversion import differences

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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the engine of this computer says of the memory of converted models."""

from __future__ import annotations

import io
import logging

from mace.python.tools.command_line.options import CommandOptions
from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.config.vocabulary import Abi, ModelFormat, Runtime
from mace.python.tools.errors import MaceError
from mace.python.tools.run.options import RunOptions
from mace.python.tools.run.program import has_program

_LOG = logging.getLogger(__name__)

# Who converts does not wait for a long run.
_TIME_LIMIT_S = 60


def tell_memory(deployment: Deployment, options: CommandOptions) -> None:
    """Logs the memory of one run of each model with its largest inputs.

    Only if `mace_run` is built for this computer already: nothing is built here, and
    a `mace_run` that contains models is not there before they are converted.
    """
    run_options = RunOptions(
        build_dir=options.build_dir, fake_warmup=True, time_limit=_TIME_LIMIT_S
    )
    models = {
        name: _without_files(model)
        for name, model in deployment.models.items()
        if all(Runtime.CPU in part.runtime.devices for part in model.subgraphs)
    }
    as_code = deployment.model_graph_format is ModelFormat.CODE
    if as_code or not models or not has_program(Abi.HOST, run_options):
        return
    # Late: a conversion that nothing runs after does not wait for these imports.
    from mace.python.tools.explain.show import memory_text
    from mace.python.tools.run.deployment_run import run_models
    from mace.python.tools.terminal import make_console

    changed = {"target_abis": (Abi.HOST,), "target_socs": (), "models": models}
    try:
        runs = run_models(
            deployment.model_copy(update=changed),
            run_options,
            make_console(io.StringIO()),
            {name: {"": Runtime.CPU} for name in models},
        ).runs
    except MaceError as error:
        _LOG.info("mace_run cannot tell the memory of a run: %s", error)
        return
    for run in runs:
        memory = memory_text(run.report)
        _LOG.info(
            "%s: mace_run on this computer takes: %s",
            run.model,
            memory or f"not known, {run.failure}",
        )


def _without_files(model: ModelConfig) -> ModelConfig:
    """A model whose inputs are random, so that nothing is fetched for them."""
    parts = tuple(
        part.model_copy(update={"validation_inputs_data": None})
        for part in model.subgraphs
    )
    return model.model_copy(update={"subgraphs": parts})

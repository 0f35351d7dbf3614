# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds out what of a deployment's models can be converted."""

from __future__ import annotations

import sys
from typing import TextIO

from mace.python.tools.command_line.results import make_console, print_text
from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.config.effect import Command, check_effects
from mace.python.tools.convert.quantization import range_file_problem
from mace.python.tools.convert.source import Source, fetch_each, import_model
from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.description import TensorDescription
from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.frame.journal import Journal
from mace.python.tools.importers.frame.opened import OpenedModels
from mace.python.tools.inspection.findings import ModelCheck
from mace.python.tools.inspection.options import CheckOptions
from mace.python.tools.inspection.show_check import check_json, check_text
from mace.python.tools.passes.manager import all_passes


def check_deployment(
    deployment: Deployment,
    options: CheckOptions,
    stream: TextIO | None = None,
    opened: OpenedModels | None = None,
) -> bool:
    """Imports every model and prints what becomes of its nodes.

    Args:
        stream: where it is printed; None: standard output.
        opened: models that the command has opened already; None: none.

    Returns:
        Whether all models can be converted.

    Raises:
        MaceError: what is wrong in the request.
    """
    known = {"graph_optimize_options": sorted(item.name for item in all_passes())}
    check_effects(Command.CONVERT, deployment, options, known)
    models = tuple(deployment.models.values())
    checks = [
        check_model(model, source)
        for model, source in zip(models, fetch_each(models, opened))
    ]
    out = stream or sys.stdout
    if options.format == "json":
        out.write(check_json(deployment.library_name, checks, options.only_problems))
        out.flush()
    else:
        print_text(make_console(out), check_text(checks, options.only_problems))
    return all(check.passed for check in checks)


def check_model(model: ModelConfig, source: Source | MaceError) -> ModelCheck:
    """Imports a model, up to what the passes make of it.

    Args:
        source: its files, or why they cannot be had.
    """
    journal = Journal()
    operators: int | None = None
    outputs: tuple[TensorDescription, ...] = ()
    problem = ""
    try:
        if isinstance(source, MaceError):
            raise source
        graph, _ = import_model(model, source, journal=journal)
        operators = graph.op_count
        outputs = tuple(
            TensorDescription(
                value.source or value.name, value.source_shape, value.dtype
            )
            for value in graph.outputs
        )
    except UnsupportedNodesError:
        pass  # the journal has them
    except MaceError as error:
        problem = str(error)
    problem = "\n".join(filter(None, (problem, range_file_problem(model))))
    return ModelCheck(
        model.name,
        model.platform.value,
        model.model_file_path.location,
        tuple(journal.entries),
        operators,
        outputs,
        problem,
    )

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds out what of a deployment's models can be converted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from mace.python.tools.check.options import CheckOptions
from mace.python.tools.check.show import check_json, check_text
from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.config.effect import Command, check_effects
from mace.python.tools.convert.source import Source, fetch_sources, import_model
from mace.python.tools.errors import MaceError
from mace.python.tools.importers.base import UnsupportedNodesError
from mace.python.tools.importers.journal import Journal, NodeEntry, Outcome
from mace.python.tools.passes.manager import all_passes
from mace.python.tools.terminal import make_console, print_text


@dataclass(frozen=True)
class ModelCheck:
    """What was found out about a model.

    Attributes:
        framework: as the deployment file names it.
        source: the model's file.
        nodes: that the outputs need, in the order of execution.
        operators: of the converted model; None if it cannot be converted.
        problem: why not, where it is not the matter of a node; '' otherwise.
    """

    name: str
    framework: str
    source: str
    nodes: Sequence[NodeEntry]
    operators: int | None
    problem: str = ""

    @property
    def passed(self) -> bool:
        """Whether it can be converted."""
        return self.operators is not None

    def count(self, outcome: Outcome) -> int:
        """How many nodes have this outcome."""
        return sum(node.outcome is outcome for node in self.nodes)


def check_deployment(
    deployment: Deployment, options: CheckOptions, stream: TextIO | None = None
) -> bool:
    """Imports every model and prints what becomes of its nodes.

    Args:
        stream: where it is printed; None: standard output.

    Returns:
        Whether all models can be converted.

    Raises:
        MaceError: what is wrong in the request or cannot be downloaded.
    """
    known = {"graph_optimize_options": sorted(item.name for item in all_passes())}
    check_effects(Command.CONVERT, deployment, options, known)
    models = tuple(deployment.models.values())
    checks = [
        check_model(model, source)
        for model, source in zip(models, fetch_sources(models))
    ]
    out = stream or sys.stdout
    if options.format == "json":
        out.write(check_json(deployment.library_name, checks, options.only_problems))
        out.flush()
    else:
        print_text(make_console(out), check_text(checks, options.only_problems))
    return all(check.passed for check in checks)


def check_model(model: ModelConfig, source: Source) -> ModelCheck:
    """Imports a model, up to what the passes make of it."""
    journal = Journal()
    operators: int | None = None
    problem = ""
    try:
        graph, _ = import_model(model, source, journal=journal)
        operators = graph.op_count
    except UnsupportedNodesError:
        pass  # the journal has them
    except MaceError as error:
        problem = str(error)
    return ModelCheck(
        model.name,
        model.platform.value,
        model.model_file_path.location,
        tuple(journal.entries),
        operators,
        problem,
    )

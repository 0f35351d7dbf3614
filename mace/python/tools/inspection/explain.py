# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds out where the operators of a deployment's models run, and why."""

from __future__ import annotations

import io
import sys
from typing import TextIO

from mace.python.tools.command_line.results import make_console, print_text
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.effect import Command, check_effects
from mace.python.tools.importers.frame.opened import OpenedModels
from mace.python.tools.inspection.options import ExplainOptions
from mace.python.tools.inspection.show_explanation import (
    explanation_json,
    explanation_text,
)
from mace.python.tools.report.results import RunReport
from mace.python.tools.run.deployment_run import run_models


def explain_deployment(
    deployment: Deployment,
    options: ExplainOptions,
    stream: TextIO | None = None,
    opened: OpenedModels | None = None,
) -> RunReport:
    """Runs every model on every device and prints where its operators ran.

    Unlike `run_deployment`, it asks for all devices that the deployment names, so
    that of one that is not there the reason is told.

    Args:
        stream: where it is printed; None: standard output.
        opened: models that the command has opened already; None: none.

    Raises:
        MaceError: what is missing or wrong in the request. Failed runs are in the
            report.
    """
    check_effects(Command.RUN, deployment, options)
    runtimes = {
        model.name: {part.name or "": part.runtime for part in model.subgraphs}
        for model in deployment.models.values()
    }
    # What `mace_run` prints of the run is not what was asked for.
    unseen = make_console(io.StringIO())
    done = run_models(
        deployment, options.run_options(), unseen, runtimes, opened=opened
    )
    report = RunReport(tuple(done.runs))
    out = stream or sys.stdout
    if options.format == "json":
        out.write(explanation_json(deployment.library_name, report))
        out.flush()
    else:
        print_text(make_console(out), explanation_text(report))
    return report

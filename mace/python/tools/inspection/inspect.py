# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds out what the models of a deployment are."""

from __future__ import annotations

import sys
from typing import TextIO

from mace.python.tools.command_line.results import make_console, print_text
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.convert.source import fetch_sources
from mace.python.tools.importers.frame.opened import OpenedModels
from mace.python.tools.inspection.check import check_model
from mace.python.tools.inspection.findings import Inspection
from mace.python.tools.inspection.options import InspectOptions
from mace.python.tools.inspection.show_inspection import (
    inspection_json,
    inspection_text,
)


def inspect_deployment(
    deployment: Deployment,
    options: InspectOptions,
    stream: TextIO | None = None,
    opened: OpenedModels | None = None,
) -> None:
    """Prints what every model is.

    Args:
        stream: where it is printed; None: standard output.
        opened: models that the command has opened already; None: none.

    Raises:
        MaceError: a model cannot be had or read.
    """
    models = tuple(deployment.models.values())
    inspections = []
    for model, source in zip(models, fetch_sources(models, opened)):
        about = source.opened.describe()
        inspections.append(
            Inspection(
                model.model_file_path.location,
                source.size(()),
                about,
                check_model(model, source),
                any(dim < 0 for info in model.whole.inputs for dim in info.shape),
            )
        )
    out = stream or sys.stdout
    if options.format == "json":
        out.write(inspection_json(inspections))
        out.flush()
    else:
        print_text(make_console(out), inspection_text(inspections))

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Paths of the converted models of a deployment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from mace.python.installation import CHECKOUT
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.vocabulary import ModelFormat

# In the source tree: Bazel builds from there, and the first versions wrote there.
# An installed package is not written to.
CODEGEN_DIR = CHECKOUT / "mace" / "codegen" if CHECKOUT else Path("build", "codegen")


@dataclass(frozen=True)
class ModelPlaces:
    """A model's graph and weights.

    Attributes:
        graph_linked, data_linked: they are delivered as code; the file is what
            the code is made from.
    """

    graph: Path
    data: Path
    graph_linked: bool = False
    data_linked: bool = False


def model_places(
    deployment: Deployment,
    model: str,
    build_dir: Path,
) -> ModelPlaces:
    """Where `convert` writes a model and `run` finds it."""
    files = build_dir / deployment.library_name / "model"
    code = linked_package(deployment, build_dir)
    graph_linked = deployment.model_graph_format is ModelFormat.CODE
    data_linked = deployment.model_data_format is ModelFormat.CODE
    return ModelPlaces(
        graph=(code if graph_linked else files) / f"{model}.pb",
        data=(code if data_linked else files) / f"{model}.data",
        graph_linked=graph_linked,
        data_linked=data_linked,
    )


def linked_package(deployment: Deployment, build_dir: Path) -> Path:
    """The folder of what `mace_run` with these models is built from."""
    return build_dir / deployment.library_name / "code"


def bazel_package(library: str) -> Path:
    """Where that folder has to be while Bazel builds, in the source tree."""
    # Bazel labels allow fewer characters than file names.
    return CODEGEN_DIR / "libraries" / re.sub(r"[^0-9A-Za-z._-]", "_", library)

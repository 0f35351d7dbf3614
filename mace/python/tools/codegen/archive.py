# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""An archive of a deployment's models for each ABI."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from mace.python.tools.bazel import build_program, choose_variant
from mace.python.tools.codegen.places import CODEGEN_DIR, linked_package
from mace.python.tools.config.deployment import Deployment

_ROOT = CODEGEN_DIR.parents[1]


def build_archives(
    deployment: Deployment,
    folder: Path,
    stage: Callable[[Path], Path],
    debug: bool = False,
    address_sanitizer: bool = False,
) -> list[Path]:
    """Builds `<folder>/<abi>/<library_name>.a` for every ABI of a deployment.

    Its generated package must be there. Returns the archives' paths.

    Args:
        stage: where to write what shall become a file.

    Raises:
        MissingToolError: there is no Bazel.
        BuildError: what Bazel said.
    """
    package = linked_package(deployment).relative_to(_ROOT).as_posix()
    archives = []
    for abi in deployment.target_abis:
        built = build_program(
            f"//{package}:models.a", choose_variant(abi, debug, address_sanitizer)
        )
        path = folder / abi.value / f"{deployment.library_name}.a"
        shutil.copyfile(built, stage(path))
        archives.append(path)
    return archives

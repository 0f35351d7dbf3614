# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""An archive of a deployment's models for each ABI."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from pathlib import Path

from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.errors import UnsupportedError
from mace.python.tools.export.linkable import (
    MACHINES,
    Machine,
    Member,
    TooLargeError,
    symbol_prefix,
    write_archive,
)
from mace.python.tools.export.sources import LinkedModel

_ARM = {
    Abi.ARM64: "aarch64",
    Abi.ARM64_V8A: "aarch64",
    Abi.ARMHF: "arm",
    Abi.ARMEABI_V7A: "arm",
}


def write_archives(
    deployment: Deployment,
    folder: Path,
    models: Sequence[LinkedModel],
    stage: Callable[[Path], Path],
) -> list[Path]:
    """Writes `<folder>/<abi>/<library_name>.a` for every ABI of a deployment.

    Returns the archives' paths. The models' files must be there.

    Args:
        stage: where to write what shall become a file; what was staged before is
            read from there.

    Raises:
        UnsupportedError: the models are too large to be linked into a program, or
            this computer's processor is none that MACE runs on.
    """
    library = deployment.library_name
    members = [
        Member(
            model.name,
            symbol_prefix(library, model.name),
            model.graph,
            model.data if model.places.data_linked else None,
        )
        for model in models
    ]
    archives = []
    for abi in deployment.target_abis:
        path = folder / abi.value / f"{library}.a"
        with stage(path).open("wb") as out:
            try:
                write_archive(out, _machine_of(abi), members)
            except TooLargeError as error:
                raise UnsupportedError(
                    f"{library}: too large to be a part of programs for {abi.value}: "
                    f"{error}; set model_data_format: file"
                ) from error
        archives.append(path)
    return archives


def _machine_of(abi: Abi) -> Machine:
    own = platform.machine()
    name = _ARM.get(abi) or ("arm" if own.startswith("armv") else own)
    if name not in MACHINES:
        raise UnsupportedError(
            f"target_abis: host: models as code for a processor {name!r}; this works "
            f"on {', '.join(sorted(MACHINES))}"
        )
    return MACHINES[name]

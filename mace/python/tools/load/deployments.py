# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The deployment that a command or a program asks for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Union

from mace.python.tools.catalogue import use_operators
from mace.python.tools.config.custom_ops import folders_of
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.load import deployment_of_tree, load_deployment
from mace.python.tools.data_type import Precision
from mace.python.tools.importers.frame.opened import OpenedModels
from mace.python.tools.load.complete import Completion
from mace.python.tools.load.model_files import deployment_of


@dataclass(frozen=True)
class Loaded:
    """A deployment, and its models as far as they were opened to complete it."""

    deployment: Deployment
    opened: OpenedModels


def of_config(
    path: Union[str, os.PathLike[str]],
    completion: Completion,
    replaced: Mapping[str, str] | None = None,
) -> Loaded:
    """What a deployment file says, and its models where it says nothing.

    Args:
        replaced: values in the place of the file's, see `config.load`.

    Raises:
        MaceError: what is wrong with the file or a model.
    """
    return _loaded(load_deployment(path, replaced, complete=completion), completion)


def of_files(
    files: Sequence[str],
    completion: Completion,
    replaced: Mapping[str, str] | None = None,
    runtime: str = "cpu",
    precision: Precision = Precision.FP32_FP32,
) -> Loaded:
    """A deployment of one model for this computer.

    Args:
        files: the model's, and for Caffe its weights.
        runtime, precision: as the keys `runtime` and `data_type` have them.

    Raises:
        MaceError: these are not the files of one model, or it cannot be read.
    """
    tree = deployment_of(files, runtime, precision, completion.opened)
    deployment = deployment_of_tree(Path(files[0]), tree, replaced, completion)
    return _loaded(deployment, completion)


def _loaded(deployment: Deployment, completion: Completion) -> Loaded:
    use_operators(folders_of(deployment.custom_ops))
    return Loaded(deployment, completion.opened)

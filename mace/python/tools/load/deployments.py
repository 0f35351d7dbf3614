# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The deployment that a command or a program asks for."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Union

from mace.python.tools.catalogue import use_operators
from mace.python.tools.config.deployment import Deployment, folders_of
from mace.python.tools.config.load import deployment_of_tree, load_deployment
from mace.python.tools.config.problems import Place
from mace.python.tools.config.vocabulary import Platform
from mace.python.tools.config.yaml_source import Table
from mace.python.tools.data_type import Precision
from mace.python.tools.errors import UsageError
from mace.python.tools.importers.frame.opened import OpenedModels
from mace.python.tools.load.complete import (
    WEIGHTS_SUFFIX,
    Completion,
    add,
    known_suffixes,
    platform_of,
)
from mace.python.tools.wording import near_file


def deployment_of(
    names: Sequence[str],
    runtime: str = "cpu",
    precision: Precision = Precision.FP32_FP32,
    opened: OpenedModels | None = None,
) -> Table:
    """A deployment of one model for this computer.

    Args:
        names: the model's file, and for Caffe its weights, in any order.
        runtime, precision: as the keys `runtime` and `data_type` have them.
        opened: models that the command has opened already; None: none.

    Raises:
        UsageError: these are not the files of one model.
    """
    weights = [name for name in names if name.endswith(WEIGHTS_SUFFIX)]
    models = [name for name in names if name not in weights]
    if len(models) != 1 or len(weights) > 1:
        raise UsageError(
            f"found {', '.join(names)}; give one deployment file (.yml), or the file "
            f"of one model ({', '.join(known_suffixes())}; for Caffe its weights, too)"
        )
    model = models[0]
    platform = platform_of(model)
    opened = opened or OpenedModels()
    found = opened.recognise(Path(model)) if Path(model).is_file() else None
    if found is not None and found.platform not in (None, platform):
        if PurePath(model).suffix.lower() in known_suffixes():
            raise UsageError(
                f"{model} is {found.what}, which the end of its name does not say: "
                f"rename it, or write a deployment file with platform: "
                f"{found.platform.value}"
            )
        platform = found.platform
    if platform is None and not Path(model).exists():
        raise UsageError(f"{model}: no such file{near_file(Path(model))}")
    if platform is None:
        raise UsageError(
            f"{model}: neither the end of its name nor its contents tell the "
            f"framework; known are {', '.join(known_suffixes())}. A deployment file "
            "may name any file"
        )
    if platform is Platform.CAFFE and not weights:
        beside = Path(model).with_suffix(WEIGHTS_SUFFIX)
        if not beside.exists():
            raise UsageError(
                f"{model} is a Caffe network, which needs its weights: give the "
                f"{WEIGHTS_SUFFIX} file, too"
            )
        weights = [str(beside)]
    name = re.sub("[^A-Za-z0-9_.+-]", "_", Path(model).resolve().stem) or "model"
    root = Place(model)
    tree = Table(root)
    add(tree, "library_name", name)
    add(tree, "target_abis", "host")
    section = Table(Place(model, 0, ""))
    add(section, "platform", platform.value)
    add(section, "model_file_path", model)
    if weights:
        add(section, "weight_file_path", weights[0])
    add(section, "runtime", runtime)
    add(section, "data_type", precision.value)
    models_table = Table(root)
    models_table.add(name, section, root)
    tree.add("models", models_table, root)
    return tree


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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs of a deployment's model that are the same in every run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from mace.python.tools.config.deployment import ModelConfig
from mace.python.tools.config.problems import cited
from mace.python.tools.config.values import Constant
from mace.python.tools.errors import MaceError
from mace.python.tools.fetch import fetch_file
from mace.python.tools.importers.frame.constants import fit_constants
from mace.python.tools.importers.frame.opened import OpenedModel
from mace.python.tools.importers.frame.request import InputConstant
from mace.python.tools.ir.dtypes import Array

_KINDS = "biuf"


def input_constants(model: ModelConfig) -> dict[str, InputConstant]:
    """The constants as the deployment gives them, their files read.

    Raises:
        MaceError: a file cannot be had or read; tells all of them.
    """
    found: dict[str, InputConstant] = {}
    problems: list[str] = []
    for name, item in (model.whole.constants or {}).items():
        try:
            array = _array(item)
        except MaceError as error:
            problems.append(str(error))
        else:
            found[name] = InputConstant(array, item.key)
    if problems:
        raise MaceError("\n".join(problems))
    return found


def _array(item: Constant) -> Array:
    if item.file is None:
        return np.asarray(item.value)
    path = fetch_file(item.file)
    try:
        array: Array = np.load(path, allow_pickle=False)
    except (EOFError, OSError, ValueError) as error:
        raise MaceError(
            f"{item.file.place}: {item.file.location} is not a readable .npy file: "
            f"{error}"
        ) from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in _KINDS:
        raise MaceError(
            f"{item.file.place}: {item.file.location} holds no array of numbers: write "
            "it with numpy.save"
        )
    return array


def fitted_constants(model: ModelConfig, opened: OpenedModel) -> dict[str, Array]:
    """The constants as the model's framework takes them, in its order of dimensions.

    Raises:
        MaceError: a file cannot be had or read, or the model has no such inputs.
    """
    given = input_constants(model)
    if not given:
        return {}
    with cited(model):
        fitted = fit_constants(
            given,
            opened.described(),
            model.model_file_path.location,
            model.whole.input_tensors,
        )
    return {name: item.array for name, item in fitted.items()}


def constants_text(constants: Mapping[str, Constant] | None) -> str:
    """The constants for people, in one line; '' if there are none."""
    return ", ".join(f"{name} = {item}" for name, item in (constants or {}).items())


def constants_sha256(model: ModelConfig) -> str:
    """Of what the constants hold, however it is written; '' if there are none.

    Raises:
        MaceError: a file cannot be had or read.
    """
    digest = hashlib.sha256()
    constants = input_constants(model)
    for name in sorted(constants):
        array = constants[name].array
        # A number in a list of one is another shape, and another type is another text.
        digest.update(f"{name!r} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest() if constants else ""

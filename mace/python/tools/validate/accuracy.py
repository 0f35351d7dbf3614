# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The user's accuracy script: a Python file named in the deployment file.

It defines a class `AccuracyValidator`, made without arguments, with

    sample_size()                    how many samples there are
    batch_size()                     how many one run takes
    preprocess(begin, end)           samples [begin, end) -> {input: array}
    postprocess(begin, end, outputs) {output: array} -> None, collects
    result()                         -> what to print: a number or a text

Inputs and outputs are in the layout the deployment file declares. (VA-07)
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mace.python.tools.errors import MaceError
from mace.python.tools.validate.metrics import Array

_CLASS = "AccuracyValidator"
_METHODS = ("sample_size", "batch_size", "preprocess", "postprocess", "result")

# Runs the model once: inputs by name -> outputs by name.
RunBatch = Callable[[Mapping[str, Array]], Mapping[str, Array]]


class AccuracyScriptError(MaceError):
    """The accuracy script cannot be loaded or fails."""


def run_accuracy_script(
    script: Path, input_names: tuple[str, ...], run_batch: RunBatch
) -> str:
    """Runs the model over all samples of a script; returns its result as text.

    Raises:
        AccuracyScriptError: names the script's line that failed.
    """
    validator = _load(script)
    samples = int(_call(script, validator.sample_size))
    batch = int(_call(script, validator.batch_size))
    if samples < 1 or batch < 1:
        raise AccuracyScriptError(
            f"{script}: sample_size() and batch_size() must be at least 1, "
            f"not {samples} and {batch}"
        )
    for begin in range(0, samples, batch):
        end = min(begin + batch, samples)
        inputs = _call(script, validator.preprocess, begin, end)
        outputs = run_batch(_checked(script, inputs, input_names))
        _call(script, validator.postprocess, begin, end, dict(outputs))
    return str(_call(script, validator.result))


def _load(script: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"mace_{script.stem}", script)
    if spec is None or spec.loader is None:
        raise AccuracyScriptError(f"{script} is not a Python file (name it *.py)")
    module = importlib.util.module_from_spec(spec)
    # Where dataclasses and `inspect` look the module of a class up.
    sys.modules[spec.name] = module
    _call(script, spec.loader.exec_module, module)
    classes = [
        member
        for _, member in inspect.getmembers(module, inspect.isclass)
        if member.__module__ == module.__name__
        and all(callable(getattr(member, name, None)) for name in _METHODS)
    ]
    named = [c for c in classes if c.__name__ == _CLASS]
    chosen = named or classes
    if len(chosen) != 1:
        raise AccuracyScriptError(
            f"{script} must define one class {_CLASS} with the methods "
            + ", ".join(_METHODS)
        )
    return _call(script, chosen[0])


def _call(script: Path, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:  # whatever the user's code raises
        own = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if Path(frame.filename) == script
        ]
        where = f":{own[-1].lineno}" if own else ""
        raise AccuracyScriptError(
            f"{script}{where}: {type(error).__name__}: {error}"
        ) from error


def _checked(
    script: Path, inputs: Any, input_names: tuple[str, ...]
) -> dict[str, Array]:
    if not isinstance(inputs, Mapping) or set(inputs) != set(input_names):
        found = sorted(inputs) if isinstance(inputs, Mapping) else type(inputs).__name__
        raise AccuracyScriptError(
            f"{script}: preprocess() must return a dict with an array for each of "
            f"{sorted(input_names)}, not {found}"
        )
    return {name: np.asarray(array) for name, array in inputs.items()}

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the keys of a model stand, for errors that are found after the file was read.

A name that the model file does not have is only found when that is imported. The error
then begins with the key, and `cited` adds the line.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from mace.python.tools.errors import MaceError

if TYPE_CHECKING:
    from mace.python.tools.config.deployment import ModelConfig

# `input_tensors: ...`, `models.m: output_shapes says ...` or
# `models.m.subgraphs[0].check_tensors: ...`.
_KEY = re.compile(
    r"(?:models\.[^\s:]+: )?(?P<key>[a-z_]+)(?=:| says| cannot)"
    r"|models\.[^\s:]+\.(?P<last>[a-z_]+)(?:\[\d+\])?:"
)

# These are on no line if a model stands for a deployment file; then the message, which
# begins with the path, is shown without the key.
_FILES = ("model_file_path", "weight_file_path")


@contextlib.contextmanager
def cited(model: ModelConfig) -> Iterator[None]:
    """Adds to an error the lines of the keys of a model with which it begins."""
    try:
        yield
    except MaceError as error:
        if len(error.args) == 1:
            error.args = (_cite(model, str(error.args[0])),)
        raise


def _cite(model: ModelConfig, message: str) -> str:
    lines: dict[str, str] = {}
    for section in (model, *model.subgraphs):
        for key, _, place in section.given:
            # No line says what the model's own file says.
            is_said = place.line and not place.of_model
            if is_said or key.name in _FILES:
                lines.setdefault(key.name, place.origin if is_said else "")
    return "\n".join(_with_line(line, lines) for line in message.split("\n"))


def _with_line(text: str, lines: Mapping[str, str]) -> str:
    found = _KEY.match(text)
    key = (found["key"] or found["last"]) if found else ""
    origin = lines.get(key)
    if origin == "":
        return text.removeprefix(f"{key}: ")
    return f"{origin}: {text}" if origin else text

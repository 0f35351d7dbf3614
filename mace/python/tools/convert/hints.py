# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Puts the hints of importers into the words of whoever converts a model.

Importers advise fixed lengths where an operator cannot have open ones, in the words of
a deployment file. Who gave the model alone has no such file; and who gave every length
cannot follow the advice.
"""

from __future__ import annotations

from dataclasses import replace

from mace.python.tools.config.deployment import ModelConfig
from mace.python.tools.importers.frame.errors import UnsupportedNodesError

_FIXED = "give fixed input_shapes"
_NUMBERS = "give the open dimensions numbers (--dims, or dims of mace.load)"
_OTHER = (
    "end the model before it with output_tensors of a deployment file, and do this "
    "step in the application"
)


def in_words_for(
    model: ModelConfig, error: UnsupportedNodesError
) -> UnsupportedNodesError:
    """The error with hints that can be followed."""
    nodes = [replace(node, hint=_hint(model, node.hint)) for node in error.nodes]
    return UnsupportedNodesError(error.model, nodes)


def _hint(model: ModelConfig, hint: str) -> str:
    if _FIXED not in hint:
        return hint
    if not any(dim < 0 for info in model.whole.inputs for dim in info.shape):
        rest = hint.replace(_FIXED, "").lstrip(",; ").removeprefix("or ")
        return rest or _OTHER
    alone = any(
        key.name == "input_shapes" and place.of_model
        for part in model.subgraphs
        for key, _, place in part.given
    )
    return hint.replace(_FIXED, _NUMBERS) if alone else hint

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A model file as text."""

from __future__ import annotations

from typing import Any

from google.protobuf import text_format


def graph_text(model: Any) -> str:
    """The message `mace.Model` in protobuf's text format."""
    header = (
        "# proto-file: mace/proto/mace.proto\n"
        "# proto-message: mace.Model\n"
        "# Written for reading; the model itself is the binary file.\n"
    )
    return header + text_format.MessageToString(model, as_utf8=True)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Which operators the cases have once they are imported. It is kept between runs, since
importing all cases takes a minute: after a change of one operator, only those that have
it are of interest.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import onnx

from mace.python.tools.atomic import atomic_write

_ROOT = Path(__file__).resolve().parents[3]
_KEPT = _ROOT / "build/test/onnx_operators.json"
# What decides into which operators a case is imported.
_SOURCES = ("mace/python/tools", "test/conformance/onnx", "mace/ops")
_SUFFIXES = (".py", ".yaml")


@functools.cache
def _key() -> str:
    digest = hashlib.sha256(onnx.__version__.encode())
    for folder in _SOURCES:
        for path in sorted((_ROOT / folder).rglob("*.*")):
            if path.suffix in _SUFFIXES:
                digest.update(path.read_bytes())
    return digest.hexdigest()


def known() -> dict[str, frozenset[str]]:
    """Types of operators by the name of a case, as far as they are known."""
    try:
        kept = json.loads(_KEPT.read_text(encoding="utf-8"))
        if kept["of"] != _key():
            return {}
        return {name: frozenset(types) for name, types in kept["cases"].items()}
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return {}


def keep(found: Mapping[str, Iterable[str]]) -> None:
    """Adds what is known of more cases."""
    cases = {name: sorted(types) for name, types in {**known(), **found}.items()}
    _KEPT.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(_KEPT, "w") as stream:
        json.dump({"of": _key(), "cases": cases}, stream)

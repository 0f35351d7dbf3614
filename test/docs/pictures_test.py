# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of the documentation: small, and each one shown by a page."""

from __future__ import annotations

import re
from pathlib import Path

_DOCS = Path(__file__).resolve().parents[2] / "docs"
# Pictures there are made, and shown, when the pages are built.
_GENERATED = _DOCS / "generated"
_STATIC = _DOCS / "_static"
_LARGEST = 150_000
_PICTURE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")


def _shown() -> set[Path]:
    return {
        (page.parent / name).resolve()
        for page in _DOCS.rglob("*.md")
        for name in _PICTURE.findall(page.read_text(encoding="utf-8"))
    }


def test_pictures_are_small_and_shown() -> None:
    pictures = {
        path
        for kind in ("*.png", "*.svg")
        for path in _DOCS.rglob(kind)
        if _GENERATED not in path.parents and _STATIC not in path.parents
    }
    assert pictures == _shown()
    sizes = {path.name: path.stat().st_size for path in pictures}
    assert all(size <= _LARGEST for size in sizes.values()), sizes

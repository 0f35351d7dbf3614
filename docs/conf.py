# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration; `bash tools/build_docs.sh` builds the pages."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

project = "MACE"
author = "The MACE Authors"
copyright = "2026, The MACE Authors"  # noqa: A001 (Sphinx's name for it)

extensions = ["myst_parser"]
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "generated/README.md"]
nitpicky = True

html_theme = "furo"
html_title = "MACE"
html_static_path = ["_static"]
html_css_files = ["cards.css"]


_MEASURED = "development/benchmarks"


def setup(app: Sphinx) -> None:
    """Writes the pages' generated parts before they are read."""
    app.connect("builder-inited", lambda _: _write_generated())
    app.connect("source-read", _insert_measurements)


def _insert_measurements(app: Sphinx, name: str, source: list[str]) -> None:
    """Puts the tables and pictures of records at their places."""
    del app
    if name == _MEASURED:
        from benchmarks import page

        page.draw_charts(source[0])
        source[0] = page.fill(source[0])


def _write_generated() -> None:
    from mace.python.tools.catalogue import table
    from mace.python.tools.cli import reference as flags
    from mace.python.tools.config import reference as keys
    from mace.python.tools.importers.frame import reference as importers
    from setup import tables as packages

    folder = ROOT / "docs" / "generated"
    keys.main(["--output", str(folder / "deployment_keys.txt")])
    flags.main(["--output", str(folder / "converter_flags.txt")])
    table.main(["--output", str(folder / "operators.txt")])
    packages.main(["--output", str(folder / "packages.txt")])
    for name in importers.available_importers():
        out = str(folder / f"{name}_operators.txt")
        importers.main(["--framework", name, "--output", out])

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Templates of HTML pages."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template


def html_template(path: Path) -> Template:
    """Escapes what it is given; a name that it is not given is an error."""
    environment = Environment(
        loader=FileSystemLoader(path.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(path.name)

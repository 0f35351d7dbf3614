# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Templates of HTML pages."""

from __future__ import annotations

import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape

# Between the parts of a name or path: there a line may break, and not inside a word.
_SEPARATOR = re.compile(r"(?<=[/:._,=-])(?=[0-9A-Za-z])")


_LONG_WORD = re.compile(r"(\S{20,})")


def breakable(text: str) -> Markup:
    """Text whose long names may break after their separators."""
    wbr = Markup("<wbr>")
    parts = _LONG_WORD.split(text)
    # Every second part is a long word.
    words = [
        wbr.join(map(escape, _SEPARATOR.split(part))) if i % 2 else escape(part)
        for i, part in enumerate(parts)
    ]
    return Markup("").join(words)


def html_template(path: Path) -> Template:
    """Escapes what it is given; a name that it is not given is an error."""
    environment = Environment(
        loader=FileSystemLoader(path.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = breakable
    return environment.get_template(path.name)

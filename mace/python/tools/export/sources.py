# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The generated package of a deployment, and its headers."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mace.python.tools.errors import UsageError
from mace.python.tools.export.linkable import library_prefix, symbol_prefix
from mace.python.tools.export.places import ModelPlaces, bazel_package

_PUBLIC = Path(__file__).resolve().parents[4] / "mace" / "public"
_FACTORY = _PUBLIC / "mace_engine_factory.h"
# Where the header of a deployment includes those of its models.
_INCLUDES = "// Headers of models.\n"


@dataclass(frozen=True)
class LinkedModel:
    """A model that is delivered as code.

    Attributes:
        places: where its files will be.
        message: `mace.Model` of it.
        graph, data: where its files are now.
    """

    name: str
    places: ModelPlaces
    message: Any
    graph: Path
    data: Path


def check_names(names: Sequence[str]) -> None:
    """Refuses names whose headers would replace those of MACE.

    Raises:
        UsageError: lists them.
    """
    taken = [name for name in names if (_PUBLIC / f"{name}.h").is_file()]
    if taken:
        raise UsageError(
            f"models.{', models.'.join(taken)}: a header mace/public/<model>.h is "
            "made for each model, and MACE has one of that name; rename the model"
        )


def write_sources(
    library: str,
    package: Path,
    headers: Path,
    models: Sequence[LinkedModel],
    stage: Callable[[Path], Path],
) -> None:
    """Writes the headers of the application, and what mace_run is built from.

    Args:
        library: the deployment's name.
        package: the folder that becomes the Bazel package; holds the models' files.
        headers: the folder mace/public of the application's headers.
        stage: where to write what shall become a file.
    """
    environment = _environment()
    entries = [_entry(library, model) for model in models]
    for name in ("BUILD.bazel", "models.cc"):
        template = environment.get_template(f"{name}.jinja2")
        text = template.render(
            models=entries,
            prefix=library_prefix(library),
            package=bazel_package(library).name,
        )
        _write(stage(package / name), text)
    template = environment.get_template("model.h.jinja2")
    for entry in entries:
        text = template.render(model=entry)
        for folder in (headers, package):
            _write(stage(folder / f"{entry['name']}.h"), text)
    includes = "".join(f'#include "mace/public/{e["name"]}.h"\n' for e in entries)
    factory = _FACTORY.read_text(encoding="utf-8")
    _write(stage(headers / _FACTORY.name), factory.replace(_INCLUDES, includes))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _entry(library: str, model: LinkedModel) -> dict[str, Any]:
    def ports(values: Any) -> list[dict[str, Any]]:
        return [{"name": v.alias or v.name, "shape": list(v.shape)} for v in values]

    # States are not given by the application.
    states = {state.input for state in model.message.states}
    inputs = [v for v in model.message.inputs if v.name not in states]
    return {
        "name": model.name,
        "prefix": symbol_prefix(library, model.name),
        # Tells headers of one name from each other.
        "key": f"0x{zlib.crc32(library.encode('utf-8')):08x}",
        "data_linked": model.places.data_linked,
        "inputs": ports(inputs),
        "outputs": ports(model.message.outputs),
    }


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters["literal"] = cpp_literal
    return environment


def cpp_literal(text: str) -> str:
    """A C++ string literal with the UTF-8 bytes of a text."""
    # An octal escape ends after three digits, whatever follows it.
    return (
        '"'
        + "".join(
            chr(byte)
            if 0x20 <= byte < 0x7F and byte not in b'"\\?'
            else f"\\{byte:03o}"
            for byte in text.encode("utf-8")
        )
        + '"'
    )

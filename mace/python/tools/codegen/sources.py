# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The generated package of a deployment, and its headers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mace.python.tools.codegen.places import ModelPlaces
from mace.python.tools.errors import UsageError

# Names of headers that are not generated.
_TAKEN = ("mace", "mace_c", "mace_engine_factory")
_ROOT = Path(__file__).resolve().parents[4]
_FACTORY = _ROOT / "mace" / "public" / "mace_engine_factory.h"


@dataclass(frozen=True)
class LinkedModel:
    """A model that is delivered as code.

    Attributes:
        message: `mace.Model` of it.
    """

    name: str
    places: ModelPlaces
    message: Any


def check_names(names: Sequence[str]) -> None:
    """Refuses names whose headers would replace those of MACE.

    Raises:
        UsageError: lists them.
    """
    taken = [name for name in names if name in _TAKEN]
    if taken:
        raise UsageError(
            f"models.{', models.'.join(taken)}: a header mace/public/<model>.h is "
            "made for each model, and MACE has one of that name; rename the model"
        )


def write_sources(
    package: Path,
    headers: Path,
    models: Sequence[LinkedModel],
    stage: Callable[[Path], Path],
) -> None:
    """Writes what the archive is built from, and the headers.

    Args:
        package: the folder of the Bazel package, which holds the models' files.
        headers: the folder mace/public of the application's headers.
        stage: where to write what shall become a file.
    """
    environment = _environment()
    entries = [_entry(model) for model in models]
    for name in ("BUILD.bazel", "models.cc", "models.S"):
        template = environment.get_template(f"{name}.jinja2")
        # The path at which the assembler finds the bytes when Bazel calls it.
        folder = f"mace/codegen/libraries/{package.name}"
        _write(stage(package / name), template.render(models=entries, folder=folder))
    template = environment.get_template("model.h.jinja2")
    for entry in entries:
        _write(stage(headers / f"{entry['name']}.h"), template.render(model=entry))
    _write(stage(headers / _FACTORY.name), _FACTORY.read_text(encoding="utf-8"))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _entry(model: LinkedModel) -> dict[str, Any]:
    def ports(values: Any) -> list[dict[str, Any]]:
        return [{"name": v.alias or v.name, "shape": list(v.shape)} for v in values]

    # States are not given by the application.
    states = {state.input for state in model.message.states}
    inputs = [v for v in model.message.inputs if v.name not in states]
    return {
        "name": model.name,
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

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The generated package of a deployment, and its headers."""

from __future__ import annotations

import platform
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mace.python.tools.atomic import atomic_write
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.errors import UnsupportedError, UsageError
from mace.python.tools.export.linkable import (
    MACHINES,
    Machine,
    Member,
    TooLargeError,
    library_prefix,
    symbol_prefix,
    write_archive,
)
from mace.python.tools.export.places import ModelPlaces, bazel_package

if TYPE_CHECKING:
    from jinja2 import Environment

_BYTES_PER_LINE = 16

_TEXT = """\
// Written by converter.py from {file}.
//
// Declare in the application:
//   namespace mace {{
//   extern const unsigned char {name}[];
//   extern const unsigned long {name}_size;
//   }}

namespace mace {{

extern const unsigned char {name}[];
extern const unsigned long {name}_size;

alignas(8) const unsigned char {name}[] = {{
{rows}
}};
const unsigned long {name}_size = {size};

}}  // namespace mace
"""


def write_binary_code(path: Path) -> Path:
    """Writes `<path>.cc` with the bytes of a file; returns its path.

    The array is `mace::<name>`, its size in bytes `mace::<name>_size`, where <name>
    is the file's name without `.bin` and with `_` for all that C++ forbids.

    Raises:
        OutputError: it cannot be written.
    """
    data = path.read_bytes()
    rows = [
        "    " + " ".join(f"{byte:#04x}," for byte in data[at : at + _BYTES_PER_LINE])
        for at in range(0, len(data), _BYTES_PER_LINE)
    ]
    # An array must have an element.
    text = _TEXT.format(
        file=path.name,
        name=array_name(path),
        rows="\n".join(rows) or "    0",
        size=len(data),
    )
    target = path.with_name(f"{path.name}.cc")
    with atomic_write(target, "w") as stream:
        stream.write(text)
    return target


def array_name(path: Path) -> str:
    """The name of the array with the bytes of a file."""
    name = re.sub(r"[^0-9A-Za-z]+", "_", path.name.removesuffix(".bin"))
    return f"_{name}" if name[0].isdigit() else name


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
    # Imported here: models in files need no templates.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

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


_ARM = {
    Abi.ARM64: "aarch64",
    Abi.ARM64_V8A: "aarch64",
    Abi.ARMHF: "arm",
    Abi.ARMEABI_V7A: "arm",
}


def write_archives(
    deployment: Deployment,
    folder: Path,
    models: Sequence[LinkedModel],
    stage: Callable[[Path], Path],
) -> list[Path]:
    """Writes `<folder>/<abi>/<library_name>.a` for every ABI of a deployment.

    Returns the archives' paths. The models' files must be there.

    Args:
        stage: where to write what shall become a file; what was staged before is
            read from there.

    Raises:
        UnsupportedError: the models are too large to be linked into a program, or
            this computer's processor is none that MACE runs on.
    """
    library = deployment.library_name
    members = [
        Member(
            model.name,
            symbol_prefix(library, model.name),
            model.graph,
            model.data if model.places.data_linked else None,
        )
        for model in models
    ]
    archives = []
    for abi in deployment.target_abis:
        path = folder / abi.value / f"{library}.a"
        with stage(path).open("wb") as out:
            try:
                write_archive(out, _machine_of(abi), members)
            except TooLargeError as error:
                raise UnsupportedError(
                    f"{library}: too large to be a part of programs for {abi.value}: "
                    f"{error}; set model_data_format: file"
                ) from error
        archives.append(path)
    return archives


def _machine_of(abi: Abi) -> Machine:
    own = platform.machine()
    name = _ARM.get(abi) or ("arm" if own.startswith("armv") else own)
    if name not in MACHINES:
        raise UnsupportedError(
            f"target_abis: host: models as code for a processor {name!r}; this works "
            f"on {', '.join(sorted(MACHINES))}"
        )
    return MACHINES[name]

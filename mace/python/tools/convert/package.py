# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Everything that an application needs of a deployment, in one archive."""

from __future__ import annotations

import contextlib
import gzip
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Tuple

from mace.python.installation import command
from mace.python.tools.atomic import atomic_write
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.errors import MaceError
from mace.python.tools.export.places import model_places

# A file and its name in the archive.
_Entry = Tuple[str, Path]


def write_package(
    deployment: Deployment, build_dir: Path, library_dir: Path, runtimes: str
) -> Path:
    """Writes `<build_dir>/<library_name>/libmace_<library_name>.tar.gz`; returns it.

    It has the headers in `include/mace`, the libraries for each ABI in
    `library/<abi>`, the models that are files in `model`, and compiled OpenCL kernels
    in `opencl`. Equal files make an equal archive.

    Args:
        library_dir: where tools/build-standalone-lib.sh wrote headers and libraries.
        runtimes: of the libraries, as the folders are called.

    Raises:
        MaceError: a file is missing, or the archive cannot be written.
    """
    folder = build_dir / deployment.library_name
    path = folder / f"libmace_{deployment.library_name}.tar.gz"
    entries = dict(
        [
            *_headers(library_dir),
            # Those of models as code also take the place of the general one.
            *_headers(folder),
            *_libraries(deployment, folder, library_dir / "lib", runtimes),
            *_models(deployment, build_dir),
            *_kernels(folder / "opencl"),
        ]
    )
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(atomic_write(path))
        packed = stack.enter_context(gzip.GzipFile("", "wb", 6, out, mtime=0))
        archive = stack.enter_context(tarfile.open(fileobj=packed, mode="w"))
        for name, file in sorted(entries.items()):
            entry = tarfile.TarInfo(name)
            entry.size = file.stat().st_size
            with file.open("rb") as contents:
                archive.addfile(entry, contents)
    return path


def _headers(folder: Path) -> Iterator[_Entry]:
    for file in folder.glob("include/mace/*/*.h"):
        yield file.relative_to(folder).as_posix(), file


def _libraries(
    deployment: Deployment, folder: Path, built: Path, runtimes: str
) -> Iterator[_Entry]:
    for abi in deployment.target_abis:
        place = built / abi.value / runtimes
        # With a sanitizer there is only a shared library.
        found = [place / name for name in ("libmace.a", "libmace.so")]
        found = [file for file in found if file.is_file()][:1]
        if not found:
            raise MaceError(
                f"no libmace.a in {place}: bash tools/build-standalone-lib.sh "
                f"-abi={abi.value} builds it"
            )
        # The DSP's own code.
        found += place.glob("libmace_hexagon_skel.so")
        for file in (*found, *(folder / "model" / abi.value).glob("*.a")):
            yield f"library/{abi.value}/{file.name}", file


def _models(deployment: Deployment, build_dir: Path) -> Iterator[_Entry]:
    for model in deployment.models:
        places = model_places(deployment, model, build_dir)
        for file, linked in (
            (places.graph, places.graph_linked),
            (places.data, places.data_linked),
        ):
            if linked:
                continue
            if not file.is_file():
                raise MaceError(f"no {file}: {command('convert')} writes it")
            yield f"model/{file.name}", file


def _kernels(folder: Path) -> Iterator[_Entry]:
    binaries = sorted(folder.glob("*/*.bin"))
    for file in binaries:
        yield f"opencl/{file.parent.name}/{file.name}", file
    compiled = [file for file in binaries if "_compiled_opencl_kernel." in file.name]
    if len(compiled) == 1:
        # As it is called where there is one device.
        yield "opencl/compiled_kernel.bin", compiled[0]

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The archive of a deployment."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.vocabulary import Abi, ModelFormat
from mace.python.tools.convert.package import write_package
from mace.python.tools.errors import MaceError

_BINARY = "lib_compiled_opencl_kernel.MI6.msm8998.bin"


def _deployment(graph: ModelFormat, data: ModelFormat) -> Deployment:
    return Deployment.model_construct(
        library_name="lib",
        target_abis=(Abi.HOST, Abi.ARMHF),
        model_graph_format=graph,
        model_data_format=data,
        models={"net": None},
    )


def _write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"contents of {name}")


@pytest.fixture
def build(tmp_path: Path) -> Path:
    _write(
        tmp_path,
        *("include/mace/public/mace.h", "include/mace/public/mace_engine_factory.h"),
        *("lib/host/cpu/libmace.a", "lib/host/cpu/libmace.so"),
        *("lib/armhf/cpu/libmace.so", "lib/host/cpu_gpu/libmace.a"),
        *("lib/model/net.pb", "lib/model/net.data", "lib/model/net.pb_txt"),
    )
    return tmp_path


def _contents(path: Path) -> dict[str, str]:
    with tarfile.open(path, "r:gz") as archive:
        files = [(entry, archive.extractfile(entry)) for entry in archive]
        return {e.name: f.read().decode() for e, f in files if f is not None}


def test_models_as_files(build: Path) -> None:
    deployment = _deployment(ModelFormat.FILE, ModelFormat.FILE)
    path = write_package(deployment, build, build, "cpu")
    assert path == build / "lib" / "libmace_lib.tar.gz"
    first = path.read_bytes()
    assert list(_contents(path)) == [
        "include/mace/public/mace.h",
        "include/mace/public/mace_engine_factory.h",
        # There is no archive with a sanitizer.
        "library/armhf/libmace.so",
        "library/host/libmace.a",
        "model/net.data",
        "model/net.pb",
    ]
    assert write_package(deployment, build, build, "cpu").read_bytes() == first


def test_models_as_code(build: Path) -> None:
    _write(
        build,
        *("lib/include/mace/public/mace_engine_factory.h",),
        *("lib/include/mace/public/net.h", "lib/model/host/lib.a"),
        *("lib/model/armhf/lib.a", f"lib/opencl/arm64-v8a/{_BINARY}"),
    )
    deployment = _deployment(ModelFormat.CODE, ModelFormat.CODE)
    contents = _contents(write_package(deployment, build, build, "cpu"))
    assert list(contents) == [
        "include/mace/public/mace.h",
        "include/mace/public/mace_engine_factory.h",
        "include/mace/public/net.h",
        "library/armhf/lib.a",
        "library/armhf/libmace.so",
        "library/host/lib.a",
        "library/host/libmace.a",
        f"opencl/arm64-v8a/{_BINARY}",
        "opencl/compiled_kernel.bin",
    ]
    factory = contents["include/mace/public/mace_engine_factory.h"]
    assert factory == "contents of lib/include/mace/public/mace_engine_factory.h"
    deployment = _deployment(ModelFormat.CODE, ModelFormat.FILE)
    contents = _contents(write_package(deployment, build, build, "cpu"))
    models = [name for name in contents if name.startswith("model/")]
    assert models == ["model/net.data"]


def test_what_is_missing_is_named_and_nothing_written(build: Path) -> None:
    deployment = _deployment(ModelFormat.FILE, ModelFormat.FILE)
    with pytest.raises(
        MaceError, match=r"no libmace\.a in .*armhf/cpu_gpu.*-abi=armhf"
    ):
        write_package(deployment, build, build, "cpu_gpu")
    (build / "lib/model/net.data").unlink()
    with pytest.raises(MaceError, match=r"no .*net\.data: converter\.py convert"):
        write_package(deployment, build, build, "cpu")
    assert not list((build / "lib").glob("*.tar.gz"))

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Creates message classes from the `.proto` files of the source tree.

    model = load_proto('mace/proto/mace.proto').Model()

The files are compiled to a *descriptor set* when they are first used, and the classes
are created from it at run time. Unlike generated Python code, a descriptor set works
with every version of the protobuf package, so any compiler can be used: `grpcio-tools`
(from pip) or `protoc` (from the system). The result is kept in the user's cache under
the hash of the source.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    message_factory,
)
from google.protobuf.message import DecodeError

from mace.python.installation import PACKAGE, cache_dir
from mace.python.tools.errors import MaceError

_ROOT = PACKAGE.parent


# Of a descriptor set beside the file that it is of.
COMPILED_SUFFIX = ".desc"


class ProtoError(MaceError):
    """A message definition cannot be compiled."""


class ProtoMessages:
    """The messages and enumerations of one `.proto` file, as attributes.

    A message is a class; an enumeration value is an int; an enumeration has
    `Name(number)` and `Value(name)` through `enum`.
    """

    def __init__(self, file_set: descriptor_pb2.FileDescriptorSet) -> None:
        pool = descriptor_pool.DescriptorPool()
        for file in file_set.file:
            pool.Add(file)
        self._file = pool.FindFileByName(file_set.file[-1].name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        message = self._file.message_types_by_name.get(name)
        if message is not None:
            return message_factory.GetMessageClass(message)
        for enumeration in self._file.enum_types_by_name.values():
            value = enumeration.values_by_name.get(name)
            if value is not None:
                return value.number
        raise AttributeError(f"{self._file.name} defines no {name}")

    def enum_names(self, name: str) -> dict[int, str]:
        """Number -> name of an enumeration."""
        values = self._file.enum_types_by_name[name].values
        return {value.number: value.name for value in values}


@functools.cache
def load_proto(path: str) -> ProtoMessages:
    """The messages of a `.proto` file, given from the root of the sources.

    An installed package has it compiled, and needs no compiler.

    Raises:
        ProtoError: there is no protobuf compiler, or the file is wrong.
    """
    file_set = descriptor_pb2.FileDescriptorSet()
    packaged = (_ROOT / path).with_suffix(COMPILED_SUFFIX)
    if packaged.is_file():
        file_set.ParseFromString(packaged.read_bytes())
        return ProtoMessages(file_set)
    source = (_ROOT / path).read_bytes()
    cached = _cache_dir() / f"{hashlib.sha256(source).hexdigest()[:24]}.desc"
    with contextlib.suppress(OSError, DecodeError):
        file_set.ParseFromString(cached.read_bytes())
        if file_set.file:
            return ProtoMessages(file_set)
    data = compile_proto(path)
    file_set.ParseFromString(data)
    with contextlib.suppress(OSError):  # a cache that can't be written is none
        _write(cached, data)
    return ProtoMessages(file_set)


def _cache_dir() -> Path:
    return cache_dir() / "proto"


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    with open(handle, "wb") as file:
        file.write(data)
    Path(name).replace(path)


def compile_proto(path: str) -> bytes:
    """The descriptor set of a `.proto` file, given from the root of the sources.

    Raises:
        ProtoError: there is no protobuf compiler, or the file is wrong.
    """
    if importlib.util.find_spec("grpc_tools") is not None:
        compiler = [sys.executable, "-m", "grpc_tools.protoc"]
    else:
        found = shutil.which("protoc")
        if found is None:
            raise ProtoError(
                "no protobuf compiler: install one by `bash tools/setup.sh`, "
                "`apt-get install protobuf-compiler` or "
                "`pip install grpcio-tools`"
            )
        compiler = [found]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.desc"
        result = subprocess.run(
            [*compiler, f"-I{_ROOT}", f"--descriptor_set_out={out}", path],
            cwd=_ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode != 0 or not out.exists():
            raise ProtoError(f"{path}: {result.stderr.strip()}")
        return out.read_bytes()

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads tensors that torch.save wrote, without running what the file says.

A pickle is a program that may call any function. Here, it may build dictionaries,
lists and tensors; every other name is refused.
"""

from __future__ import annotations

import collections
import io
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mace.python.tools.importers.pytorch.tensors import StoredTensor
from mace.python.tools.importers.pytorch.zip_file import DamagedZipError, ZipFile

# Element types by the storage classes of PyTorch, in the numbers of exported programs.
_STORAGES: Mapping[str, int] = {
    "ByteStorage": 1,
    "CharStorage": 2,
    "ShortStorage": 3,
    "IntStorage": 4,
    "LongStorage": 5,
    "HalfStorage": 6,
    "FloatStorage": 7,
    "DoubleStorage": 8,
    "ComplexFloatStorage": 10,
    "ComplexDoubleStorage": 11,
    "BoolStorage": 12,
    "BFloat16Storage": 13,
    "UntypedStorage": 0,
}
_DTYPES: Mapping[str, int] = {
    "uint8": 1,
    "int8": 2,
    "int16": 3,
    "int32": 4,
    "int64": 5,
    "float16": 6,
    "float32": 7,
    "float64": 8,
    "bool": 12,
    "bfloat16": 13,
    "uint16": 28,
    "uint32": 34,
    "uint64": 35,
}


class PickleError(Exception):
    """The file cannot be read; the message says why."""


class ForeignObjectError(PickleError):
    """The file holds objects of other classes than tensors."""

    def __init__(self, name: str) -> None:
        super().__init__(f"it holds objects of {name}")
        self.name = name


@dataclass(frozen=True)
class _ElementType:
    number: int


@dataclass(frozen=True)
class _Storage:
    number: int
    content: memoryview


def load_tensors(archive: ZipFile) -> Any:
    """The object that an archive of torch.save holds, with StoredTensor for tensors.

    Raises:
        PickleError: it is damaged, or holds something else.
    """
    found = [name for name in archive.names if name.endswith("/data.pkl")]
    if len(found) != 1:
        raise PickleError("it has no data.pkl")
    prefix = found[0][: -len("data.pkl")]
    order = f"{prefix}byteorder"
    try:
        if order in archive.names and bytes(archive.read(order)) != b"little":
            raise PickleError("its numbers are big-endian")
        return _Unpickler(archive, prefix).load()
    except (PickleError, DamagedZipError) as error:
        raise (
            error if isinstance(error, PickleError) else PickleError(str(error))
        ) from error
    except Exception as error:  # damaged pickles raise whatever they hit
        reason = str(error) or type(error).__name__
        raise PickleError(f"data.pkl cannot be read: {reason}") from error


def _rebuild(
    storage: _Storage,
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    *_: object,
) -> StoredTensor:
    if not isinstance(storage, _Storage):
        raise PickleError("a tensor has no storage")
    return StoredTensor(
        storage.number,
        storage.content,
        int(offset),
        tuple(map(int, shape)),
        tuple(map(int, strides)),
    )


def _rebuild_typed(
    storage: _Storage,
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    _grad: object,
    _hooks: object,
    dtype: _ElementType,
    *_: object,
) -> StoredTensor:
    typed = _Storage(dtype.number, storage.content)
    return _rebuild(typed, offset, shape, strides)


def _first(value: Any, *_: object) -> Any:
    return value


def _nothing(*_: object) -> None:
    return None


_FUNCTIONS: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("torch", "Size"): tuple,
    ("torch", "device"): _nothing,
    ("torch._utils", "_rebuild_parameter"): _first,
    ("torch._utils", "_rebuild_parameter_with_state"): _first,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild,
    ("torch._utils", "_rebuild_tensor_v3"): _rebuild_typed,
    ("torch.nn.parameter", "Parameter"): _first,
    ("torch.serialization", "_get_layout"): _nothing,
}


class _Unpickler(pickle.Unpickler):
    def __init__(self, archive: ZipFile, prefix: str) -> None:
        super().__init__(io.BytesIO(archive.read(f"{prefix}data.pkl")))
        self._archive = archive
        self._prefix = prefix

    def find_class(self, module: str, name: str) -> Any:
        known = _FUNCTIONS.get((module, name))
        if known is not None:
            return known
        if module in ("torch", "torch.storage") and name in _STORAGES:
            return _ElementType(_STORAGES[name])
        if module == "torch" and name in _DTYPES:
            return _ElementType(_DTYPES[name])
        raise ForeignObjectError(f"{module}.{name}")

    def persistent_load(self, pid: Any) -> _Storage:
        kind, element_type, key, *_ = pid
        if kind != "storage" or not isinstance(element_type, _ElementType):
            raise PickleError("a storage has no element type")
        name = f"{self._prefix}data/{key}"
        if name not in self._archive.names:
            raise PickleError(f"{name} is missing")
        return _Storage(element_type.number, self._archive.read(name))

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls `libmace.so` from Python through the C interface (mace/public/mace_c.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mace.python.runtime.library import FORMATS, TYPES, CModel, CTensor

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "build/lib/host/cpu/libmace.so"


class Library:
    """The loaded library. SystemExit if it is not built."""

    def __init__(self, path: Path = LIBRARY) -> None:
        if not path.exists():
            raise SystemExit(
                f"{path} is missing: bash tools/build-standalone-lib.sh -abi=host"
            )
        self._c: Any = ctypes.CDLL(str(path))
        self._c.mace_last_error.restype = ctypes.c_char_p
        self._c.mace_version.restype = ctypes.c_char_p

    @property
    def version(self) -> str:
        """Calls `MaceVersion`."""
        return bytes(self._c.mace_version()).decode()

    def check(self, code: int) -> None:
        """Raises RuntimeError with the library's message unless it is 0."""
        if code != 0:
            raise RuntimeError(bytes(self._c.mace_last_error()).decode())

    def engine(self, model: Path, threads: int) -> Engine:
        """Loads `<model>.pb` and `<model>.data`, without binding threads."""
        config = ctypes.c_void_p()
        self.check(self._c.mace_config_create(ctypes.byref(config)))
        self.check(self._c.mace_config_set_cpu_threads(config, threads, 0))
        graph = model.with_suffix(".pb").read_bytes()
        request = CModel(
            graph=graph,
            graph_size=len(graph),
            weights_path=str(model.with_suffix(".data")).encode(),
        )
        handle = ctypes.c_void_p()
        try:
            self.check(
                self._c.mace_engine_create(
                    ctypes.byref(request), config, ctypes.byref(handle)
                )
            )
        finally:
            self._c.mace_config_destroy(config)
        return Engine(self, self._c, handle)


class Engine:
    """A loaded model; a context manager."""

    def __init__(self, library: Library, c: Any, handle: ctypes.c_void_p) -> None:
        self._library, self._c, self._handle = library, c, handle

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._c.mace_engine_destroy(self._handle)

    def reset_states(self) -> None:
        """Calls `MaceEngine::ResetStates`."""
        self._library.check(self._c.mace_engine_reset_states(self._handle))

    def bind(
        self, name: str, image: NDArray[np.float32], output: str, result: NDArray[Any]
    ) -> Bound:
        """Prepares calls with one NHWC input and one output, both used in place."""
        return self.bind_all({name: image}, {output: result})

    def bind_all(
        self,
        inputs: Mapping[str, NDArray[Any]],
        outputs: Mapping[str, NDArray[Any]],
        images: bool = True,
    ) -> Bound:
        """Prepares calls with arrays by tensor name, all used in place.

        Args:
            inputs: every input of the model.
            outputs: every output of the model.
            images: arrays of rank 4 are NHWC; else their axes mean nothing.
        """
        return Bound(self._library, self._c, self._handle, (inputs, outputs), images)


class Bound:
    """A call without preparation, which is what an application would time."""

    def __init__(
        self,
        library: Library,
        c: Any,
        handle: ctypes.c_void_p,
        arrays: tuple[Mapping[str, NDArray[Any]], Mapping[str, NDArray[Any]]],
        images: bool,
    ) -> None:
        self._library, self._handle = library, handle
        self._run = c.mace_engine_run
        self._keep = arrays
        self._sources, self._targets = (
            (CTensor * len(side))(
                *(
                    _tensor(name, array, FORMATS["NHWC" if images else "NONE"])
                    for name, array in side.items()
                )
            )
            for side in arrays
        )

    def __call__(self) -> None:
        code = self._run(
            self._handle,
            self._sources,
            ctypes.c_size_t(len(self._sources)),
            self._targets,
            ctypes.c_size_t(len(self._targets)),
        )
        self._library.check(code)


def _tensor(name: str, array: NDArray[Any], order: int) -> CTensor:
    if not array.flags.c_contiguous or array.dtype.name not in TYPES:
        raise ValueError(f"{name}: needs a dense array of {' or '.join(TYPES)}")
    tensor = CTensor(
        name=name.encode(),
        data=array.ctypes.data,
        bytes=array.nbytes,
        type=TYPES[array.dtype.name],
        format=order if array.ndim == 4 else FORMATS["NONE"],
        rank=array.ndim,
    )
    for axis, dim in enumerate(array.shape):
        tensor.dims[axis] = dim
    return tensor

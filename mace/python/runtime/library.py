# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The C interface of `libmace.so` (mace/public/mace_c.h)."""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path
from typing import Any, NoReturn

from mace.python.installation import CHECKOUT, PACKAGED_LIBRARY
from mace.python.tools.errors import MaceError

LIBRARY_VARIABLE = "MACE_LIBRARY"
MAX_RANK = 8

# mace_type by NumPy's name of the type.
TYPES = {
    "float32": 1,
    "uint8": 2,
    "int32": 4,
    "float16": 5,
    "bfloat16": 6,
    "int8": 7,
    "bool": 8,
    "int16": 9,
}
# mace_format.
FORMATS = {"NONE": 0, "NHWC": 1, "NCHW": 2}
# mace_device.
DEVICES = {"cpu": 0, "gpu": 2, "dsp": 3, "hta": 4, "apu": 5, "htp": 6}
# mace_affinity.
AFFINITIES = {
    "none": 0,
    "big_only": 1,
    "little_only": 2,
    "high_performance": 3,
    "power_save": 4,
}
# mace_code, as MaceStatus calls it.
_CODES = {
    1: "MACE_INVALID_ARGS",
    2: "MACE_OUT_OF_RESOURCES",
    3: "MACE_UNSUPPORTED",
    4: "MACE_RUNTIME_ERROR",
}


class EngineError(MaceError):
    """What `libmace` refused or could not do, in its own words.

    Attributes:
        code: ``MACE_INVALID_ARGS``, ``MACE_OUT_OF_RESOURCES``, ``MACE_UNSUPPORTED`` or
            ``MACE_RUNTIME_ERROR``.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class CModel(ctypes.Structure):
    """mace_model."""

    _fields_ = (
        ("graph", ctypes.c_char_p),
        ("graph_size", ctypes.c_size_t),
        ("weights", ctypes.c_void_p),
        ("weights_size", ctypes.c_size_t),
        ("weights_path", ctypes.c_char_p),
        ("inputs", ctypes.c_void_p),
        ("input_count", ctypes.c_size_t),
        ("outputs", ctypes.c_void_p),
        ("output_count", ctypes.c_size_t),
    )


class CTensor(ctypes.Structure):
    """mace_tensor."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("bytes", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("format", ctypes.c_int),
        ("rank", ctypes.c_size_t),
        ("dims", ctypes.c_int64 * MAX_RANK),
        ("memory", ctypes.c_int),
    )


class CGpu(ctypes.Structure):
    """mace_gpu."""

    _fields_ = (
        ("storage_path", ctypes.c_char_p),
        ("cache_full_path", ctypes.c_char_p),
        ("reuse_none", ctypes.c_int),
        ("binary_path", ctypes.c_char_p),
        ("binary", ctypes.c_void_p),
        ("binary_size", ctypes.c_size_t),
        ("parameter_path", ctypes.c_char_p),
        ("parameter", ctypes.c_void_p),
        ("parameter_size", ctypes.c_size_t),
        ("perf_hint", ctypes.c_int),
        ("priority_hint", ctypes.c_int),
        ("queue", ctypes.c_void_p),
    )


class COperator(ctypes.Structure):
    """mace_operator."""

    VISITOR: Any
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_char_p),
        ("subgraph", ctypes.c_char_p),
        ("device", ctypes.c_int),
        ("kernel", ctypes.c_char_p),
        ("output", ctypes.c_char_p),
        ("remark", ctypes.c_char_p),
        ("estimated_nanos", ctypes.c_int64),
        ("measured_nanos", ctypes.c_int64),
    )


# mace_operator_visitor.
COperator.VISITOR = ctypes.CFUNCTYPE(None, ctypes.POINTER(COperator), ctypes.c_void_p)


class CStats(ctypes.Structure):
    """mace_engine_stats."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena_bytes",
            "tensor_bytes",
            "constant_bytes",
            "prepared_bytes",
            "state_bytes",
            "operator_count",
        )
    )


def library_path() -> Path:
    """The library of this computer.

    `MACE_LIBRARY` names it, or it came with the package, or, in a checkout, it is the
    newest that `tools/build-standalone-lib.sh` has built for this computer.

    Raises:
        MaceError: there is none.
    """
    named = os.environ.get(LIBRARY_VARIABLE)
    if named:
        return Path(named)
    if CHECKOUT is None:
        return PACKAGED_LIBRARY
    folder = CHECKOUT / "build" / "lib" / "host"
    built = [folder / kind / "libmace.so" for kind in ("cpu_gpu", "cpu")]
    there = [path for path in built if path.is_file()]
    if not there:
        raise MaceError(
            f"{folder} has no libmace.so: build it with `bash "
            "tools/build-standalone-lib.sh -abi=host`, or name one by "
            f"{LIBRARY_VARIABLE}"
        )
    return max(there, key=lambda path: path.stat().st_mtime)


@functools.lru_cache(maxsize=1)
def library() -> Any:
    """The loaded library, with the types of its functions.

    Raises:
        MaceError: it is missing, or not for this computer.
    """
    path = library_path()
    try:
        found = ctypes.CDLL(str(path))
        _declare(found)
    except (OSError, AttributeError) as error:
        raise MaceError(f"{path} cannot be loaded: {error}") from error
    return found


def _declare(found: Any) -> None:
    found.mace_version.restype = ctypes.c_char_p
    found.mace_version.argtypes = ()
    found.mace_last_error.restype = ctypes.c_char_p
    found.mace_last_error.argtypes = ()
    pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    arguments: dict[str, tuple[Any, ...]] = {
        "mace_config_create": (pointer,),
        "mace_config_set_devices": (pointer, pointer, size),
        "mace_config_set_cpu_threads": (pointer, number, number),
        "mace_config_set_gpu": (pointer, pointer),
        "mace_config_set_out_of_range_check": (pointer, number),
        "mace_config_set_weights_check": (pointer, number),
        "mace_config_set_memory_limit": (pointer, size),
        "mace_config_destroy": (pointer,),
        "mace_engine_create": (pointer, pointer, pointer),
        "mace_engine_run": (pointer, pointer, size, pointer, size),
        "mace_engine_run_timed": (pointer, pointer, size, pointer, size),
        "mace_engine_visit_operators": (pointer, pointer, pointer),
        "mace_engine_explain": (pointer, pointer, pointer),
        "mace_engine_get_stats": (pointer, pointer),
        "mace_engine_release_intermediate_buffer": (pointer,),
        "mace_engine_reset_states": (pointer,),
        "mace_engine_destroy": (pointer,),
    }
    # Of libraries with a DSP runtime, and with accelerators.
    text = ctypes.c_char_p
    more = {
        "mace_hexagon_configure": (pointer, *(number,) * 4),
        "mace_accelerator_configure": (pointer, *(number,) * 3, text, text),
    }
    arguments.update({n: types for n, types in more.items() if hasattr(found, n)})
    for name, types in arguments.items():
        function = getattr(found, name)
        function.argtypes = types
        function.restype = None if name.endswith("_destroy") else number


def fail(code: int, hint: str = "") -> NoReturn:
    """Raises what the last call on this thread failed with.

    Args:
        hint: what follows the library's sentence.
    """
    message = library().mace_last_error().decode("utf-8", "replace")
    name = _CODES.get(code, str(code))
    raise EngineError((message or f"failed with {name}") + hint, name)


def check(code: int) -> None:
    """Raises an error unless a call succeeded."""
    if code != 0:
        fail(code)

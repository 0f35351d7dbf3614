# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the OpenCL devices of this computer as a line of JSON.

    python -m mace.python.tools.doctor.opencl_devices

A program of its own, because a broken driver may end the process that loads it. Prints
{"library": ..., "devices": [{"platform", "device", "version", "is_gpu"}, ...]}, or
{"problem": ...} if the loader cannot be loaded. Imports only the standard library.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any, Dict, List

from mace.python.tools.doctor.computer import OPENCL_LIBRARY

# Of CL/cl.h.
_PLATFORM_NAME = 0x0902
_DEVICE_NAME = 0x102B
_DEVICE_VERSION = 0x102F
_DEVICE_TYPE = 0x1000
_TYPE_GPU = 1 << 2
_ALL_DEVICES = 0xFFFFFFFF

_LIBRARIES = ("libOpenCL.so.1", "libOpenCL.so")


def find_devices() -> Dict[str, Any]:
    """What `main` prints."""
    own = os.environ.get(OPENCL_LIBRARY)
    problems = []
    for name in (own,) if own else _LIBRARIES:
        try:
            library = ctypes.CDLL(name)
            return {"library": name, "devices": _devices(library)}
        except (OSError, AttributeError) as error:
            problems.append(str(error))
    return {"problem": problems[0]}


def _devices(library: ctypes.CDLL) -> List[Dict[str, Any]]:
    found = []
    for platform in _handles(library.clGetPlatformIDs):
        platform_name = _text(library.clGetPlatformInfo, platform, _PLATFORM_NAME)
        kind = ctypes.c_uint64(_ALL_DEVICES)
        for device in _handles(library.clGetDeviceIDs, ctypes.c_void_p(platform), kind):
            found.append(
                {
                    "platform": platform_name,
                    "device": _text(library.clGetDeviceInfo, device, _DEVICE_NAME),
                    "version": _text(library.clGetDeviceInfo, device, _DEVICE_VERSION),
                    "is_gpu": _is_gpu(library, device),
                }
            )
    return found


def _handles(function: Any, *arguments: Any) -> List[int]:
    """The list of a function that is asked for its length first."""
    count = ctypes.c_uint32(0)
    if function(*arguments, 0, None, ctypes.byref(count)) != 0 or count.value == 0:
        return []
    handles = (ctypes.c_void_p * count.value)()
    if function(*arguments, count, handles, None) != 0:
        return []
    return [handle for handle in handles if handle]


def _is_gpu(library: Any, device: int) -> bool:
    kind = ctypes.c_uint64(0)
    size = ctypes.c_size_t(8)
    library.clGetDeviceInfo(
        ctypes.c_void_p(device), _DEVICE_TYPE, size, ctypes.byref(kind), None
    )
    return bool(kind.value & _TYPE_GPU)


def _text(function: Any, handle: int, name: int) -> str:
    """A text that a platform or device says of itself."""
    buffer = ctypes.create_string_buffer(1024)
    size = ctypes.c_size_t(len(buffer))
    if function(ctypes.c_void_p(handle), name, size, buffer, None) != 0:
        return ""
    return " ".join(buffer.value.decode("utf-8", "replace").split())


def main() -> int:
    """Prints the devices; 0."""
    # Drivers print, too: a line of its own.
    sys.stdout.write(f"\n{json.dumps(find_devices())}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The least time that OpenCL needs for one inference: a write of the input, empty
kernels, a read of the output.

    python -m benchmarks.gpu.floor --write BYTES --launches N --read BYTES [--runs N]

Prints a JSON object: `ms` of all runs; `context_ms`, the time from opening the library
to a queue; `anonymous_before` and `anonymous_after`, the bytes of the process that no
file backs, around it; `device` and `driver`. It takes the device that MACE takes. The
host's buffers are pinned, and the copies from and to the caller's memory count. The
least time that Python itself needs for the calls, measured with calls that OpenCL
refuses, is subtracted. Needs the standard library alone.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import sys
import time
from ctypes import POINTER, byref, c_char_p, c_int32, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any

_LIBRARIES = ("libOpenCL.so.1", "libOpenCL.so", "libnvidia-opencl.so.1")
_GPU, _CPU = 1 << 2, 1 << 1
_READ_WRITE, _ALLOC_HOST = 1 << 0, 1 << 4
_MAP_READ_WRITE = 3
_DEVICE_NAME, _DRIVER_VERSION = 0x102B, 0x102D
_SOURCE = b"__kernel void empty(__global float *x) {}"


class OpenClError(Exception):
    """There is no OpenCL here, or a call failed."""


def anonymous_bytes() -> int:
    """Memory of this process that no file backs; 0 if the kernel does not say."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def _load() -> Any:
    named = os.environ.get("MACE_OPENCL_LIBRARY")
    errors = []
    for name in (named,) if named else _LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            errors.append(str(error))
    raise OpenClError("; ".join(errors))


def _check(code: int, call: str) -> None:
    if code != 0:
        raise OpenClError(f"{call} returned {code}")


class Queue:
    """A context with one in-order queue."""

    def __init__(self) -> None:
        self.cl = _load()
        pointers = (
            "clCreateContext clCreateCommandQueue clCreateBuffer clEnqueueMapBuffer "
            "clCreateProgramWithSource clCreateKernel"
        )
        for name in pointers.split():
            getattr(self.cl, name).restype = c_void_p
        device = self._device()
        error = c_int32()
        context = self.cl.clCreateContext(
            None, 1, byref(device), None, None, byref(error)
        )
        _check(error.value, "clCreateContext")
        self.context = c_void_p(context)
        queue = self.cl.clCreateCommandQueue(
            self.context, device, c_uint64(0), byref(error)
        )
        _check(error.value, "clCreateCommandQueue")
        self.queue, self.device = c_void_p(queue), device

    def _device(self) -> c_void_p:
        count = ctypes.c_uint32()
        code = self.cl.clGetPlatformIDs(0, None, byref(count))
        if code != 0 or count.value == 0:
            raise OpenClError(f"no OpenCL driver is installed ({code})")
        platforms = (c_void_p * count.value)()
        _check(
            self.cl.clGetPlatformIDs(count, platforms, None),
            "clGetPlatformIDs",
        )
        for kind in (_GPU, _CPU):
            for platform in platforms:
                device = c_void_p()
                code = self.cl.clGetDeviceIDs(
                    c_void_p(platform), c_uint64(kind), 1, byref(device), None
                )
                if code == 0 and device.value:
                    return device
        raise OpenClError("OpenCL has no device")

    def text(self, what: int) -> str:
        """A text that describes the device."""
        value = ctypes.create_string_buffer(1024)
        self.cl.clGetDeviceInfo(
            self.device, ctypes.c_uint32(what), c_size_t(1024), value, None
        )
        return value.value.decode(errors="replace")

    def buffer(self, size: int, flags: int = _READ_WRITE) -> c_void_p:
        """A buffer of the device."""
        error = c_int32()
        made = self.cl.clCreateBuffer(
            self.context, c_uint64(flags), c_size_t(size), None, byref(error)
        )
        _check(error.value, "clCreateBuffer")
        return c_void_p(made)

    def pinned(self, size: int) -> int:
        """The address of pinned memory of the host."""
        error = c_int32()
        address = self.cl.clEnqueueMapBuffer(
            self.queue,
            self.buffer(size, _READ_WRITE | _ALLOC_HOST),
            ctypes.c_uint32(1),
            c_uint64(_MAP_READ_WRITE),
            c_size_t(0),
            c_size_t(size),
            ctypes.c_uint32(0),
            None,
            None,
            byref(error),
        )
        _check(error.value, "clEnqueueMapBuffer")
        return int(address)

    def empty_kernel(self, memory: c_void_p) -> c_void_p:
        """A kernel that does nothing."""
        error = c_int32()
        program = self.cl.clCreateProgramWithSource(
            self.context, 1, byref(c_char_p(_SOURCE)), None, byref(error)
        )
        _check(error.value, "clCreateProgramWithSource")
        _check(
            self.cl.clBuildProgram(c_void_p(program), 0, None, None, None, None),
            "clBuildProgram",
        )
        kernel = self.cl.clCreateKernel(c_void_p(program), b"empty", byref(error))
        _check(error.value, "clCreateKernel")
        made = c_void_p(kernel)
        _check(
            self.cl.clSetKernelArg(made, 0, c_size_t(8), byref(memory)),
            "clSetKernelArg",
        )
        return made


def floor_ms(queue: Queue, write: int, launches: int, read: int, runs: int) -> Any:
    """The times of runs, in milliseconds, without what Python needs for the calls."""
    cl, on = queue.cl, queue.queue
    size = max(write, read, 4)
    memory = queue.buffer(size)
    source, target = queue.pinned(size), queue.pinned(size)
    outside = ctypes.create_string_buffer(size)
    kernel = queue.empty_kernel(memory)
    group = (c_size_t * 1)(64)
    launch, copy = cl.clEnqueueNDRangeKernel, ctypes.memmove
    launch.argtypes = (
        [c_void_p, c_void_p, ctypes.c_uint32, c_void_p]
        + [POINTER(c_size_t)] * 2
        + [ctypes.c_uint32, c_void_p, c_void_p]
    )
    for name in ("clEnqueueWriteBuffer", "clEnqueueReadBuffer"):
        getattr(cl, name).argtypes = [
            *(c_void_p, c_void_p, ctypes.c_uint32, c_size_t, c_size_t, c_void_p),
            *(ctypes.c_uint32, c_void_p, c_void_p),
        ]
    clock = time.perf_counter
    times, refused = [], []
    for _ in range(runs + 3):
        start = clock()
        for _ in range(launches + 2):
            launch(None, kernel, 1, None, group, group, 0, None, None)
        refused.append((clock() - start) * 1e3)
        start = clock()
        copy(source, outside, write)
        code = cl.clEnqueueWriteBuffer(on, memory, 0, 0, write, source, 0, None, None)
        for _ in range(launches):
            code |= launch(on, kernel, 1, None, group, group, 0, None, None)
        code |= cl.clEnqueueReadBuffer(on, memory, 1, 0, read, target, 0, None, None)
        copy(outside, target, read)
        times.append((clock() - start) * 1e3)
        _check(code, "a run of empty kernels")
    # Other work may take the processor away during any of them.
    python_ms = min(refused)
    return [one - python_ms for one in times[3:]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    for name in ("--write", "--launches", "--read"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--runs", type=int, default=100)
    args = parser.parse_args()
    before = anonymous_bytes()
    start = time.perf_counter()
    try:
        queue = Queue()
        context_ms = (time.perf_counter() - start) * 1e3
        after = anonymous_bytes()
        times = floor_ms(queue, args.write, args.launches, args.read, args.runs)
    except OpenClError as error:
        print(error, file=sys.stderr)
        return 1
    found = {
        "ms": times,
        "context_ms": context_ms,
        "anonymous_before": before,
        "anonymous_after": after,
        "device": queue.text(_DEVICE_NAME),
        "driver": queue.text(_DRIVER_VERSION),
    }
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    # A driver's threads may still run.
    status = main()
    sys.stdout.flush()
    os._exit(status)

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The words that values of a deployment file are made of.

Element types and precisions are in `../data_type.py`. What a release has and
what it does not is said here, once: `in_release`.
"""

from __future__ import annotations

import enum
from typing import Union

from mace.python.tools.data_type import DataType, Precision

# The ends of the names of deployment files.
DEPLOYMENT_SUFFIXES = (".yml", ".yaml")


class Abi(str, enum.Enum):
    """Application binary interface a library or program is built for."""

    HOST = "host"
    ARM64_V8A = "arm64-v8a"
    ARMEABI_V7A = "armeabi-v7a"
    ARM64 = "arm64"
    ARMHF = "armhf"

    @property
    def is_android(self) -> bool:
        """Whether programs of this ABI run on an Android device."""
        return self in (Abi.ARM64_V8A, Abi.ARMEABI_V7A)

    @property
    def aliases(self) -> tuple[str, ...]:
        """Further spellings that are as good."""
        if self is Abi.ARM64:
            return ("aarch64_linux_gnu", "aarch64-linux-gnu", "aarch64")
        if self is Abi.ARMHF:
            return ("arm_linux_gnueabihf", "arm-linux-gnueabihf", "armv7l")
        return ()

    @staticmethod
    def answers() -> dict[str, str]:
        """What is said of words of other tools that may mean more than one ABI."""
        host = "x86 programs are for this computer only: say host"
        either = "say {} for Linux, {} for Android"
        bits32 = either.format("armhf", "armeabi-v7a")
        bits64 = either.format("arm64", "arm64-v8a")
        return {
            **dict.fromkeys(("x86_64", "x86-64", "amd64", "x64", "x86", "i686"), host),
            **dict.fromkeys(("armv7", "armv7a", "armv7-a", "armv7hf", "arm32"), bits32),
            **dict.fromkeys(("armv8", "armv8a", "armv8-a", "arm64v8"), bits64),
            "armeabi": "ARM processors before version 7 are not supported: say "
            "armeabi-v7a",
            "arm": f"{bits32}; of 64 bits, {bits64}",
        }


class ModelFormat(str, enum.Enum):
    """How a graph or its weights are delivered."""

    FILE = "file"
    CODE = "code"


class Platform(str, enum.Enum):
    """Framework a model comes from."""

    ONNX = "onnx"
    TENSORFLOW = "tensorflow"
    TFLITE = "tflite"
    CAFFE = "caffe"
    KERAS = "keras"
    PYTORCH = "pytorch"
    MEGENGINE = "megengine"

    @property
    def in_release(self) -> bool:
        """Whether there is an importer for it."""
        return self in (
            Platform.ONNX,
            Platform.TENSORFLOW,
            Platform.TFLITE,
            Platform.CAFFE,
            Platform.KERAS,
            Platform.PYTORCH,
        )


# The single devices that the library computes on. What is refused, warned of and
# documented follows from it.
_IN_RELEASE = frozenset({"cpu", "gpu", "dsp", "hta", "htp", "apu"})


class Runtime(str, enum.Enum):
    """Device kind (or kinds) a model is converted for."""

    CPU = "cpu"
    GPU = "gpu"
    CPU_GPU = "cpu+gpu"
    DSP = "dsp"
    HTA = "hta"
    HTP = "htp"
    APU = "apu"

    @property
    def aliases(self) -> tuple[str, ...]:
        """Further spellings that are as good."""
        if self is Runtime.CPU_GPU:
            return ("gpu+cpu",)
        return ("hexagon",) if self is Runtime.DSP else ()

    @property
    def devices(self) -> tuple[Runtime, ...]:
        """The single devices meant: ``cpu+gpu`` gives CPU and GPU."""
        if self is Runtime.CPU_GPU:
            return (Runtime.CPU, Runtime.GPU)
        return (self,)

    @property
    def in_release(self) -> bool:
        """Whether the library can run models on it (on one of them)."""
        return any(device.value in _IN_RELEASE for device in self.devices)

    @property
    def available(self) -> Runtime:
        """What of it the library has: the CPU, for ``cpu+gpu`` without a GPU."""
        there = [device for device in self.devices if device.in_release]
        return there[0] if len(there) == 1 else self

    @property
    def is_convertible(self) -> bool:
        """Whether the model file that the converter writes is one for it.

        The file is the same for all devices that compute what it says, and leave the
        rest to the CPU. The DSP needs a quantized model.
        """
        return self in (*(Runtime.CPU, Runtime.GPU, Runtime.CPU_GPU, Runtime.DSP),) or (
            self.is_delegate and self.in_release
        )

    @property
    def is_delegate(self) -> bool:
        """Whether it is an accelerator behind a vendor's library."""
        return self in (Runtime.HTA, Runtime.HTP, Runtime.APU)

    @property
    def precisions(self) -> tuple[Precision, ...]:
        """Those in which one of its devices can store weights and compute."""
        return tuple(p for p in Precision if any(d._takes(p) for d in self.devices))

    def with_precision(self, precision: Precision) -> Runtime:
        """The devices of it that can; `precision` must be one of `precisions`."""
        there = [device for device in self.devices if device._takes(precision)]
        return there[0] if len(there) == 1 else self

    def _takes(self, precision: Precision) -> bool:
        """Whether this single device can store weights and compute so."""
        if self is Runtime.CPU:
            return True
        if precision.weights is DataType.BFLOAT16:
            return False
        return self is Runtime.GPU or not precision.computes_in_half


class Arithmetic(str, enum.Enum):
    """What models compute in, where that matters more than the device."""

    QUANTIZED = "quantize"


# What a least similarity can be given for.
MeasuredAs = Union[Runtime, Arithmetic]

SINGLE_DEVICES = tuple(runtime for runtime in Runtime if len(runtime.devices) == 1)

# What an application can pass and receive.
BORDER_TYPES = (
    DataType.FLOAT32,
    DataType.INT32,
    DataType.FLOAT16,
    DataType.BFLOAT16,
    DataType.INT16,
    DataType.INT8,
    DataType.UINT8,
    DataType.BOOL,
)


def border_type(dtype: DataType | None) -> DataType:
    """The type that an application passes or receives for one of a model."""
    if dtype in BORDER_TYPES:
        return dtype
    is_float = dtype is None or dtype.is_float
    return DataType.FLOAT32 if is_float else DataType.INT32


class DataFormat(str, enum.Enum):
    """Order of dimensions of a model input or output."""

    NHWC = "NHWC"
    NCHW = "NCHW"
    NONE = "NONE"


class CalibrationMethod(str, enum.Enum):
    """How the range of a tensor is chosen by the elements it has for samples.

    MIN_MAX: all elements. PERCENTILE: all but a share of them. MSE: with the least
    mean square error of the integers. ENTROPY: with the least Kullback-Leibler
    divergence of their distribution from that of the elements.
    """

    MIN_MAX = "min_max"
    PERCENTILE = "percentile"
    MSE = "mse"
    ENTROPY = "entropy"


class OnnxBackend(str, enum.Enum):
    """Framework an ONNX model is compared with."""

    ONNXRUNTIME = "onnxruntime"
    TENSORFLOW = "tensorflow"
    CAFFE2 = "caffe2"
    PYTORCH = "pytorch"
    KALDI = "kaldi"


class ClMemoryType(str, enum.Enum):
    """OpenCL memory that holds the activations."""

    IMAGE = "image"
    BUFFER = "buffer"


class QuantizeSchema(str, enum.Enum):
    """How a quantized model represents its values."""

    MACE_APU_16BIT_PER_TENSOR = "mace_apu_16bit_per_tensor"
    UINT8 = "uint8"
    INT8 = "int8"
    INT16 = "int16"

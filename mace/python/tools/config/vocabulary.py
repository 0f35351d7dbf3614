# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The words that values of a deployment file are made of.

What a release has and what it does not is said here, once: `in_release`.
"""

from __future__ import annotations

import enum


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


class ModelFormat(str, enum.Enum):
    """How a graph or its weights are delivered."""

    FILE = "file"
    CODE = "code"


class Platform(str, enum.Enum):
    """Framework a model comes from."""

    ONNX = "onnx"
    TENSORFLOW = "tensorflow"
    CAFFE = "caffe"
    KERAS = "keras"
    PYTORCH = "pytorch"
    MEGENGINE = "megengine"

    @property
    def in_release(self) -> bool:
        """Whether there is an importer for it."""
        return self in (Platform.ONNX, Platform.TENSORFLOW)


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
    def devices(self) -> tuple[Runtime, ...]:
        """The single devices meant: ``cpu+gpu`` gives CPU and GPU."""
        if self is Runtime.CPU_GPU:
            return (Runtime.CPU, Runtime.GPU)
        return (self,)

    @property
    def in_release(self) -> bool:
        """Whether the library can run models on it (on one of them)."""
        return Runtime.CPU in self.devices

    @property
    def is_convertible(self) -> bool:
        """Whether the model file that the converter writes is one for it.

        The file is the same for CPU and GPU, so that it serves a library with
        a GPU runtime too.
        """
        return self in (Runtime.CPU, Runtime.GPU, Runtime.CPU_GPU)


class DataType(str, enum.Enum):
    """Type weights are stored in, then type the operators compute in."""

    FP16_FP32 = "fp16_fp32"
    BF16_FP32 = "bf16_fp32"
    BF16_BF16 = "bf16_bf16"
    FP32_FP32 = "fp32_fp32"
    FP16_FP16 = "fp16_fp16"

    @property
    def computes_in_half(self) -> bool:
        """Whether operators round their operands to 16 bits."""
        return self in (DataType.BF16_BF16, DataType.FP16_FP16)

    def fits(self, device: Runtime) -> bool:
        """Whether a device can store and compute in it."""
        return device is Runtime.CPU or self in (DataType.FP16_FP32, DataType.FP32_FP32)


class TensorType(str, enum.Enum):
    """Element type of a model input or output as the application sees it."""

    FLOAT32 = "float32"
    INT32 = "int32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    INT16 = "int16"
    INT8 = "int8"
    UINT8 = "uint8"
    BOOL = "bool"

    @property
    def is_float(self) -> bool:
        return self in (TensorType.FLOAT32, TensorType.FLOAT16, TensorType.BFLOAT16)


class DataFormat(str, enum.Enum):
    """Order of dimensions of a model input or output."""

    NHWC = "NHWC"
    NCHW = "NCHW"
    NONE = "NONE"


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

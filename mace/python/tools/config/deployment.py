# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A deployment in its normal form: what every command works from.

All spellings of a deployment file end here as one: enums instead of words,
one entry per input and output tensor, defaults filled in. Nothing in this
module reads files.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


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

    TENSORFLOW = "tensorflow"
    ONNX = "onnx"
    CAFFE = "caffe"
    KERAS = "keras"
    PYTORCH = "pytorch"
    MEGENGINE = "megengine"


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


@dataclass(frozen=True)
class FileRef:
    """A file a deployment names: a local path or an http(s) address.

    Local paths are looked for in `search_dirs`, in order: the working
    directory, then the folder of the deployment file.
    """

    location: str
    # Where it was named, for messages: 'models.m.model_file_path'.
    key: str
    # Lower-case hex, or None when the deployment gives no checksum.
    sha256: str | None = None
    # Key that gives (or would give) the checksum.
    sha256_key: str | None = None
    search_dirs: tuple[Path, ...] = ()

    @property
    def is_url(self) -> bool:
        return self.location.lower().startswith(("http://", "https://"))

    @property
    def candidates(self) -> tuple[Path, ...]:
        """The local paths this may mean, most preferred first."""
        path = Path(self.location).expanduser()
        if path.is_absolute():
            return (path,)
        return tuple(dict.fromkeys(d / path for d in self.search_dirs))


@dataclass(frozen=True)
class BorderTensor:
    """An input or output tensor of a subgraph."""

    name: str
    # -1: decided at run time.
    shape: tuple[int, ...]
    data_type: TensorType = TensorType.FLOAT32
    data_format: DataFormat = DataFormat.NHWC
    # Name the application uses instead of `name`.
    alias: str | None = None
    # Data of an input; of an output what is expected, None: computed by the
    # original framework.
    validation_data: FileRef | None = None

    @property
    def public_name(self) -> str:
        return self.alias or self.name


@dataclass(frozen=True)
class InputInfo(BorderTensor):
    """One input tensor of a subgraph."""

    # (lowest, highest) value; None: not given. Synthetic inputs then use
    # [-1, 1].
    range: tuple[float, float] | None = None


@dataclass(frozen=True)
class OutputInfo(BorderTensor):
    """One output tensor of a subgraph."""


@dataclass(frozen=True)
class CheckTensor:
    """An intermediate tensor to compare during validation."""

    name: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class SubgraphConfig:
    """A part of a model with its own inputs, outputs and runtime."""

    name: str
    inputs: tuple[InputInfo, ...]
    outputs: tuple[OutputInfo, ...]
    runtime: Runtime
    data_type: DataType
    # Largest output tile of Winograd convolutions, 0: none.
    winograd: int = 4
    check_tensors: tuple[CheckTensor, ...] = ()
    # Least cosine similarity per device; only what the file sets.
    validation_threshold: Mapping[Runtime, float] = field(default_factory=dict)
    accuracy_validation_scripts: tuple[FileRef, ...] = ()
    # None: not chosen; ONNX Runtime then.
    backend: OnnxBackend | None = None
    # Position in the run order among the subgraphs, None: as listed.
    order: int | None = None


@dataclass(frozen=True)
class QuantizeConfig:
    """Everything about 8-bit (and 16-bit) models."""

    enabled: bool = False
    range_file: FileRef | None = None
    # Only the weights of convolutions and fully connected layers.
    large_weights: bool = False
    schema: QuantizeSchema | None = None
    change_concat_ranges: bool = False


@dataclass(frozen=True)
class CaffeDocker:
    """The container in which a Caffe model is validated."""

    image_tag: str | None = None
    dockerfile: FileRef | None = None


@dataclass(frozen=True)
class ModelConfig:
    """One model of a deployment."""

    name: str
    platform: Platform
    model_file: FileRef
    weight_file: FileRef | None
    subgraphs: tuple[SubgraphConfig, ...]
    # What subgraphs use that do not choose for themselves.
    runtime: Runtime
    data_type: DataType
    winograd: int = 4
    limit_opencl_kernel_time: int = 0
    opencl_queue_window_size: int = 0
    cl_mem_type: ClMemoryType | None = None
    obfuscate: bool = False
    quantize: QuantizeConfig = field(default_factory=QuantizeConfig)
    graph_optimize_options: tuple[str, ...] = ()
    caffe_docker: CaffeDocker = field(default_factory=CaffeDocker)
    # Options of runtimes that have their own; kept as the file gives them.
    nnlib_graph_mode: int = 0
    dsp_mode: int = 0
    accelerator_api: str | None = None
    apu_version_with_no_device: str | None = None
    # Kernel library of the microcontroller form, None: no such form wanted.
    micro_backend: str | None = None


class Level(str, enum.Enum):
    """Where in a deployment file a key stands."""

    FILE = "file"
    MODEL = "model"
    SUBGRAPH = "subgraph"
    MICRO = "micro"


@dataclass(frozen=True)
class GivenKey:
    """A key that the file gives, whatever its value.

    Attributes:
        value: as the schema reads it.
        path: ``models.m.cl_mem_type``, as the user wrote it.
        origin: the line as ``FILE:12``, or the flag that set the value.
        model: name of the model it belongs to, '' for keys of the file.
        subgraph: index of the subgraph it belongs to, if it stands in one.
    """

    level: Level
    key: str
    value: Any
    path: str
    origin: str
    model: str = ""
    subgraph: int | None = None


@dataclass(frozen=True)
class Deployment:
    """A whole deployment file."""

    source: Path
    library_name: str
    target_abis: tuple[Abi, ...]
    # Lower case; ('all',) means every SoC that is plugged in.
    target_socs: tuple[str, ...]
    model_graph_format: ModelFormat
    model_data_format: ModelFormat
    models: tuple[ModelConfig, ...]
    # One per old spelling met, as already logged.
    warnings: tuple[str, ...] = ()
    # What the file says in so many words, for whoever must tell a value that
    # was asked for from a default.
    given: tuple[GivenKey, ...] = field(default=(), compare=False)

    def model(self, name: str) -> ModelConfig:
        """The model of that name; KeyError when there is none."""
        for model in self.models:
            if model.name == name:
                return model
        raise KeyError(name)

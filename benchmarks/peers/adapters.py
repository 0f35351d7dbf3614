# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Gives all engines the same three steps: import, create, run. Used only in a worker
process. An adapter works like an application that needs speed: buffers are bound once
if the engine allows it, and a run takes a float array and returns a float array. fp32
is requested if an engine would otherwise use another precision.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
_VULKAN_CPU = 3  # ncnn's number for a processor that poses as a GPU


@dataclass(frozen=True)
class Job:
    """What to load.

    Attributes:
        model: file in the engine's format; without suffix for ncnn and MACE.
        image: as the engine takes it, NHWC where its adapter says channels_last.
        output_shape: as ONNX has it.
    """

    model: Path
    threads: int
    image: Array
    input_name: str
    output_name: str
    output_shape: tuple[int, ...]


class Adapter(ABC):
    """One engine with one network.

    The constructor imports the engine, which is no part of what creating costs.

    Attributes:
        channels_last: the engine takes images of NHWC.
    """

    channels_last: ClassVar[bool] = False

    def __init__(self, job: Job) -> None:
        self.job = job

    @classmethod
    def image(cls, path: str) -> Array:
        """The input of a .npy file (NCHW), as a caller of this engine has it."""
        image: Array = np.load(path)
        if cls.channels_last and image.ndim == 4:
            image = np.ascontiguousarray(image.transpose(0, 2, 3, 1))
        return image

    @abstractmethod
    def create(self) -> Callable[[], None]:
        """Loads the model and returns the call that is one inference."""

    @abstractmethod
    def output(self) -> Array:
        """The result of the last run, flat."""


class Mace(Adapter):
    channels_last = True

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._library = import_module("benchmarks.library").Library()
        self._image = job.image
        shape = job.output_shape
        if len(shape) == 4:
            shape = (shape[0], shape[2], shape[3], shape[1])
        self._result = np.empty(shape, np.float32)

    def create(self) -> Callable[[], None]:
        job = self.job
        self._engine = self._library.engine(job.model, job.threads)
        call: Callable[[], None] = self._engine.bind(
            job.input_name, self._image, job.output_name, self._result
        )
        return call

    def output(self) -> Array:
        result = self._result
        if result.ndim == 4:
            result = np.ascontiguousarray(result.transpose(0, 3, 1, 2))
        return result.reshape(-1)


class OnnxRuntime(Adapter):
    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._library = import_module("onnxruntime")
        self._feed = {job.input_name: job.image}
        self._names = [job.output_name]

    def create(self) -> Callable[[], None]:
        options = self._library.SessionOptions()
        options.intra_op_num_threads = self.job.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = self._library.InferenceSession(
            str(self.job.model), options, providers=["CPUExecutionProvider"]
        )
        return self._run

    def _run(self) -> None:
        self._result = self._session.run(self._names, self._feed)[0]

    def output(self) -> Array:
        return np.asarray(self._result, np.float32).ravel()


class OpenVino(Adapter):
    """Configured for fp32, in which the other engines compute."""

    hints: dict[str, Any] = {"INFERENCE_PRECISION_HINT": "f32"}  # noqa: RUF012

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._library = import_module("openvino")

    def create(self) -> Callable[[], None]:
        core = self._library.Core()
        model = core.compile_model(
            str(self.job.model),
            "CPU",
            {
                "PERFORMANCE_HINT": "LATENCY",
                "INFERENCE_NUM_THREADS": self.job.threads,
                **self.hints,
            },
        )
        self._request = model.create_infer_request()
        self._request.set_input_tensor(
            self._library.Tensor(self.job.image, shared_memory=True)
        )
        call: Callable[[], None] = self._request.infer
        return call

    def output(self) -> Array:
        result = self._request.get_output_tensor().data
        return np.array(result, np.float32).ravel()


class OpenVinoDefault(OpenVino):
    """Chooses its precision itself."""

    hints: dict[str, Any] = {}  # noqa: RUF012


class LiteRt(Adapter):
    """With XNNPACK, its default for float models."""

    channels_last = True

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        # LiteRT imports OpenVINO if it finds it, which would take time.
        sys.modules["openvino"] = None  # type: ignore[assignment]
        self._library = import_module("ai_edge_litert.interpreter")
        self._image = job.image

    def create(self) -> Callable[[], None]:
        self._interpreter = self._library.Interpreter(
            str(self.job.model), num_threads=self.job.threads
        )
        self._interpreter.allocate_tensors()
        self._input = self._interpreter.get_input_details()[0]["index"]
        self._output = self._interpreter.get_output_details()[0]["index"]
        return self._run

    def _run(self) -> None:
        self._interpreter.set_tensor(self._input, self._image)
        self._interpreter.invoke()
        self._result = self._interpreter.get_tensor(self._output)

    def output(self) -> Array:
        # tflite.py writes only outputs of 1x1, for which both orders are equal.
        return np.asarray(self._result, np.float32).ravel()


class Ncnn(Adapter):
    half = False

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._library = import_module("ncnn")
        # A Mat made from an array does not keep the array alive; a clone has a copy.
        self._image = self._library.Mat(job.image[0]).clone()

    def create(self) -> Callable[[], None]:
        self._net = self._library.Net()
        self.configure(self._net.opt)
        for load, suffix in (
            (self._net.load_param, ".param"),
            (self._net.load_model, ".bin"),
        ):
            if load(str(self.job.model) + suffix) != 0:
                raise RuntimeError(f"cannot load {self.job.model}{suffix}")
        return self._run

    def configure(self, options: Any) -> None:
        """Sets ncnn's options."""
        options.num_threads = self.job.threads
        options.use_vulkan_compute = False
        options.use_bf16_storage = False
        for name in ("packed", "storage", "arithmetic"):
            setattr(options, f"use_fp16_{name}", self.half)

    def _run(self) -> None:
        extractor = self._net.create_extractor()
        extractor.input("in0", self._image)
        code, result = extractor.extract("out0")
        if code != 0:
            raise RuntimeError(f"extract returned {code}")
        self._result = np.array(result)

    def output(self) -> Array:
        return self._result.astype(np.float32).ravel()


class NcnnHalf(Ncnn):
    """In fp16, if the CPU supports it."""

    half = True


class NcnnVulkan(Ncnn):
    """On a GPU, in fp32."""

    arithmetic = False

    def create(self) -> Callable[[], None]:
        if self._library.get_gpu_count() < 1:
            raise RuntimeError("ncnn finds no Vulkan device")
        if self._library.get_gpu_info(0).type() == _VULKAN_CPU:
            raise RuntimeError("Vulkan has no device but the processor")
        return super().create()

    def configure(self, options: Any) -> None:
        super().configure(options)
        options.use_vulkan_compute = True
        options.use_fp16_arithmetic = self.arithmetic


class NcnnVulkanHalf(NcnnVulkan):
    """On a GPU, with storage in fp16."""

    half = True


class NcnnVulkanHalfArithmetic(NcnnVulkanHalf):
    """On a GPU, with storage and arithmetic in fp16, which is ncnn's default."""

    arithmetic = True


class LiteRtGpu(Adapter):
    """On a GPU, by the accelerator in the package (WebGPU), in fp32."""

    channels_last = True
    fp32 = True

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        sys.modules["openvino"] = None  # type: ignore[assignment]
        self._model = import_module("ai_edge_litert.compiled_model").CompiledModel
        self._options = import_module("ai_edge_litert.options")
        self._image = job.image
        self._elements = int(np.prod(job.output_shape))

    def create(self) -> Callable[[], None]:
        options = self._options
        self._compiled = self._model.from_file(
            str(self.job.model),
            options=options.Options(
                hardware_accelerators=options.HardwareAccelerator.GPU,
                gpu_options=options.GpuOptions(enforce_f32=self.fp32),
            ),
        )
        if not self._compiled.is_fully_accelerated():
            raise RuntimeError("LiteRT runs only a part of it on the GPU")
        self._inputs = self._compiled.create_input_buffers(0)
        self._outputs = self._compiled.create_output_buffers(0)
        return self._run

    def _run(self) -> None:
        self._inputs[0].write(self._image)
        self._compiled.run_by_index(0, self._inputs, self._outputs)
        self._result = self._outputs[0].read(self._elements, np.float32)

    def output(self) -> Array:
        # As in LiteRt.
        return np.asarray(self._result, np.float32).ravel()


class LiteRtGpuHalf(LiteRtGpu):
    """On a GPU, in fp16 where LiteRT chooses so."""

    fp32 = False


class Mnn(Adapter):
    precision = "high"

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._library = import_module("MNN")
        self._source = self._tensor(job.image)
        self._result = np.zeros(job.output_shape, np.float32)

    def _tensor(self, array: Array) -> Any:
        mnn = self._library
        return mnn.Tensor(
            array.shape,
            mnn.Halide_Type_Float,
            array,
            mnn.Tensor_DimensionType_Caffe,
        )

    def create(self) -> Callable[[], None]:
        self._network = self._library.Interpreter(str(self.job.model))
        self._session = self._network.createSession(
            {
                "backend": "CPU",
                "numThread": self.job.threads,
                "precision": self.precision,
            }
        )
        self._input = self._network.getSessionInput(self._session)
        self._output = self._network.getSessionOutput(self._session)
        self._target = self._tensor(self._result)
        return self._run

    def _run(self) -> None:
        self._input.copyFrom(self._source)
        self._network.runSession(self._session)
        self._output.copyToHostTensor(self._target)

    def output(self) -> Array:
        return np.array(self._target.getData(), np.float32).ravel()


class MnnHalf(Mnn):
    """In fp16, if the CPU supports it."""

    precision = "low"


ADAPTERS: dict[str, type[Adapter]] = {
    "mace": Mace,
    "mace_bf16": Mace,
    "mace_int8": Mace,
    "mace_float": Mace,
    "onnxruntime": OnnxRuntime,
    "onnxruntime_u8s8": OnnxRuntime,
    "onnxruntime_s8s8": OnnxRuntime,
    "openvino": OpenVino,
    "openvino_default": OpenVinoDefault,
    "openvino_int8": OpenVino,
    "litert": LiteRt,
    "litert_int8": LiteRt,
    "ncnn": Ncnn,
    "ncnn_int8": Ncnn,
    "mnn": Mnn,
    "ncnn_fp16": NcnnHalf,
    "mnn_fp16": MnnHalf,
    "ncnn_vulkan": NcnnVulkan,
    "ncnn_vulkan_fp16": NcnnVulkanHalf,
    "ncnn_vulkan_fp16_arithmetic": NcnnVulkanHalfArithmetic,
    "litert_gpu": LiteRtGpu,
    "litert_gpu_fp16": LiteRtGpuHalf,
}

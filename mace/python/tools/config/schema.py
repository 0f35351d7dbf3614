# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The deployment file, key by key: names, types, defaults and meaning.

This is the one place that lists the keys. The parser, the JSON Schema for
editors and the reference table of the documentation all come from it. Old
spellings are rewritten before this schema sees them (`spellings`); rules that
involve several keys are in `checks`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Optional

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from mace.python.tools.config import deployment as normal
from mace.python.tools.config import field_types as t
from mace.python.tools.config.value_parsers import fail, refuse


class Section(BaseModel):
    """A mapping of the file whose keys are all known."""

    # Keys that begin with `model_` are ours, not pydantic's.
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class SubgraphSection(Section):
    """One entry of ``subgraphs``: what goes in and what comes out."""

    name: t.OptionalName = Field(
        None, description="Name of the subgraph, to tell it from others."
    )
    input_tensors: t.Names = Field(
        description="Input tensors: tensor names (TensorFlow, ONNX) or top "
        "names of the input layers (Caffe)."
    )
    input_shapes: t.Shapes = Field(
        description="One shape per input tensor, in the order of its "
        "`input_data_formats`. Of several possible sizes give the largest."
    )
    input_data_types: t.TensorTypes = Field(
        [normal.TensorType.FLOAT32],
        description="Element types the application passes: any floating type "
        "for a floating tensor, else the model's, for example `int32` indices of a "
        "gather. `float32` stands for what the model has.",
    )
    input_data_formats: t.DataFormats = Field(
        [normal.DataFormat.NHWC],
        description="Order of the dimensions the application passes; `NONE` "
        "for tensors that have no image layout.",
    )
    input_ranges: Optional[t.Ranges] = Field(
        None,
        description="Smallest and largest value of each input: for synthetic "
        "inputs (`-1.0,1.0` if absent) and for quantization-aware conversion.",
    )
    input_aliases: Optional[t.Names] = Field(
        None, description="Names the application uses for the inputs."
    )
    output_tensors: t.Names = Field(
        description="Output tensors, named as the inputs are."
    )
    output_shapes: t.Shapes = Field(description="One shape per output tensor.")
    output_data_types: t.TensorTypes = Field(
        [normal.TensorType.FLOAT32],
        description="Element types the application receives, likewise.",
    )
    output_data_formats: t.DataFormats = Field(
        [normal.DataFormat.NHWC],
        description="Order of the dimensions the application receives.",
    )
    output_aliases: Optional[t.Names] = Field(
        None, description="Names the application uses for the outputs."
    )
    runtime: t.OptionalRuntime = Field(
        None, description="Overrides the model's `runtime` here."
    )
    data_type: t.OptionalDataType = Field(
        None, description="Overrides the model's `data_type` here."
    )
    winograd: t.OptionalWinograd = Field(
        None, description="Overrides the model's `winograd` here."
    )
    order: t.OptionalInteger = Field(
        None, description="Position in the run order among the subgraphs."
    )
    validation_inputs_data: Optional[t.Locations] = Field(
        None,
        description="NumPy files (`.npy`), one per input, to validate with; "
        "random values within `input_ranges` if absent.",
    )
    validation_outputs_data: Optional[t.Locations] = Field(
        None,
        description="NumPy files with the expected outputs, one per output; "
        "the original framework computes them if absent.",
    )
    validation_threshold: Optional[t.Thresholds] = Field(
        None,
        description="Least cosine similarity that passes, per device "
        "(if absent 0.999; 0.995 on the GPU, for 16-bit arithmetic and for "
        "large weights in 8 bits; 0.98 quantized).",
    )
    accuracy_validation_script: Optional[t.Locations] = Field(
        None, description="Python plug-in that measures accuracy."
    )
    check_tensors: Optional[t.Names] = Field(
        None, description="Intermediate tensors to compare as well."
    )
    check_shapes: Optional[t.Shapes] = Field(
        None, description="One shape per entry of `check_tensors`."
    )
    backend: t.OptionalBackend = Field(
        None,
        description="Framework an ONNX model is compared with; ONNX Runtime if absent.",
    )


class MicroSection(Section):
    """Options of the microcontroller form."""

    backend: t.OptionalName = Field(
        None, description="Kernel library, for example `cmsis`."
    )


def _list_of_subgraphs(value: object) -> object:
    if isinstance(value, dict):
        raise fail(
            "found a mapping, accepted: a list; "
            'begin each subgraph with "- ", as in "- input_tensors:"'
        )
    if not isinstance(value, list) or not value:
        raise refuse(value, "a list of at least one subgraph")
    return value


class ModelSection(Section):
    """One entry of ``models``."""

    platform: t.Platform = Field(description="Framework the model comes from.")
    model_file_path: t.Location = Field(description="The model file.")
    model_sha256_checksum: t.OptionalSha256 = Field(
        None,
        description="SHA-256 of the model file, verified before use; "
        "required for an http(s) address.",
    )
    weight_file_path: t.OptionalLocation = Field(
        None, description="The weights file; required for Caffe models."
    )
    weight_sha256_checksum: t.OptionalSha256 = Field(
        None, description="SHA-256 of the weights file, likewise."
    )
    subgraphs: Annotated[
        list[SubgraphSection],
        BeforeValidator(_list_of_subgraphs),
        t.Accepts("list, see below"),
    ] = Field(description="Inputs and outputs of the model.")
    runtime: t.OptionalRuntime = Field(
        None,
        description="Device the model is converted for; required unless "
        "every subgraph has its own.",
    )
    data_type: t.OptionalDataType = Field(
        None,
        description="Type weights are stored in, then type of computation; "
        "`fp16_fp32` if absent.",
    )
    winograd: t.Winograd = Field(
        4,
        description="Largest tile of Winograd convolution, `0` for none: each "
        "3x3 layer takes it where that is estimated to be faster, for up to "
        "1.8 (`2`) or 4 (`4`) times the memory of its filter.",
    )
    quantize: t.Flag = Field(
        False,
        description="Convert to an 8-bit model; needs `quantize_range_file` "
        "or, for quantization-aware models, `input_ranges`.",
    )
    quantize_range_file: t.OptionalLocation = Field(
        None, description="Ranges of all tensors, from the statistics tool."
    )
    quantize_large_weights: t.Flag = Field(
        False,
        description="Store large weights of convolutions (not depthwise) and "
        "fully connected layers in 8 bit, a quarter of the size of float, and "
        "compute in float.",
    )
    quantize_schema: t.OptionalQuantizeSchema = Field(
        None, description="Representation of quantized values."
    )
    change_concat_ranges: t.Flag = Field(
        False, description="Give all inputs of a concat its output range."
    )
    obfuscate: t.Flag = Field(
        False, description="Replace operator names by meaningless ones."
    )
    limit_opencl_kernel_time: t.Count = Field(
        0,
        description="`1`: split OpenCL kernels to run at most 1 ms each, so "
        "that the user interface stays responsive.",
    )
    opencl_queue_window_size: t.Count = Field(
        0,
        description="Most commands waiting in the OpenCL queue, for the same "
        "reason; `0`: no limit.",
    )
    cl_mem_type: t.OptionalClMemory = Field(
        None, description="OpenCL memory for activations."
    )
    graph_optimize_options: Optional[t.Names] = Field(
        None,
        description="Passes to run instead of all, besides the indispensable ones.",
    )
    docker_image_tag: t.OptionalName = Field(
        None, description="Container image for validating with Caffe."
    )
    dockerfile_path: t.OptionalLocation = Field(
        None, description="Dockerfile that builds this image."
    )
    dockerfile_sha256_checksum: t.OptionalSha256 = Field(
        None, description="SHA-256 of the Dockerfile."
    )
    nnlib_graph_mode: t.Count = Field(
        0, description="Precision and power mode of older Hexagon DSPs."
    )
    dsp_mode: t.Count = Field(0, description="Graph mode of older Hexagon DSPs.")
    accelerator_api: t.OptionalName = Field(
        None, description="Vendor interface of an accelerator."
    )
    apu_version_with_no_device: t.OptionalName = Field(
        None, description="APU version to convert for with no device at hand."
    )
    micro: Optional[MicroSection] = Field(
        None, description="Options for microcontrollers."
    )


def _some_models(value: object) -> object:
    if not isinstance(value, dict) or not value:
        raise refuse(value, "a mapping from model name to its settings")
    return value


class DeploymentSection(Section):
    """The whole file."""

    library_name: t.FileStem = Field(
        description="Name of the library; output goes to `build/${library_name}`."
    )
    target_abis: t.Abis = Field(
        description="Systems to build for. `aarch64_linux_gnu` and "
        "`arm_linux_gnueabihf` are other names of `arm64` and `armhf`."
    )
    target_socs: Optional[t.Socs] = Field(
        None, description="SoCs to tune GPU kernels for, on real devices."
    )
    model_graph_format: t.ModelFormat = Field(
        normal.ModelFormat.FILE,
        description="`file`: graph as a `.pb` file; `code`: as C++ code.",
    )
    model_data_format: t.ModelFormat = Field(
        normal.ModelFormat.FILE,
        description="`file`: weights as a `.data` file; `code`: as C++ code, "
        "only together with `model_graph_format: code`.",
    )
    models: Annotated[
        dict[str, ModelSection],
        BeforeValidator(_some_models),
        t.Accepts("mapping from model name, see below"),
    ] = Field(description="The models.")


SECTIONS: Mapping[normal.Level, type[Section]] = {
    normal.Level.FILE: DeploymentSection,
    normal.Level.MODEL: ModelSection,
    normal.Level.SUBGRAPH: SubgraphSection,
    normal.Level.MICRO: MicroSection,
}


def keys_of(section: type[Section]) -> tuple[str, ...]:
    """The keys a section knows, in the order of the documentation."""
    return tuple(section.model_fields)


def json_schema() -> dict[str, Any]:
    """JSON Schema of the canonical spellings, for editors."""
    schema = DeploymentSection.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "MACE deployment file"
    return schema

# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How the deployment file has a model quantized."""

from __future__ import annotations

from mace.python.tools.config.deployment import ModelConfig
from mace.python.tools.config.vocabulary import QuantizeSchema
from mace.python.tools.convert.source import Source
from mace.python.tools.data_type import DataType
from mace.python.tools.errors import MaceError
from mace.python.tools.fetch import fetch_file
from mace.python.tools.quantize.insert import QuantizeOptions
from mace.python.tools.quantize.quantizer import Quantizer
from mace.python.tools.quantize.ranges import read_ranges

_TYPES = {None: DataType.UINT8, QuantizeSchema.UINT8: DataType.UINT8}
_TYPES[QuantizeSchema.INT8] = DataType.INT8
_TYPES[QuantizeSchema.INT16] = DataType.INT16


def has_calibration(model: ModelConfig) -> bool:
    """Whether the model is to be quantized by samples."""
    return (
        model.quantize
        and model.calibration is not None
        and model.quantize_range_file is None
    )


def quantizer_of(model: ModelConfig, _: Source) -> Quantizer | None:
    """The quantizer by the model's range file; None if it stays in floats.

    Raises:
        MaceError: the range file cannot be used.
    """
    if not model.quantize:
        return None
    file = model.quantize_range_file
    return Quantizer(
        model.name,
        {} if file is None else read_ranges(fetch_file(file)),
        "" if file is None else file.location,
        quantize_options(model),
        input_ranges=[tensor.range for tensor in model.whole.inputs],
    )


def range_file_problem(model: ModelConfig) -> str:
    """What is wrong with the model's range file; '' if it has none, or can be used."""
    file = model.quantize_range_file
    if not model.quantize or file is None:
        return ""
    try:
        read_ranges(fetch_file(file))
    except MaceError as error:
        return str(error)
    return ""


def quantize_options(model: ModelConfig) -> QuantizeOptions:
    """What the deployment file says of quantizing a model."""
    return QuantizeOptions(_TYPES[model.quantize_schema], model.change_concat_ranges)

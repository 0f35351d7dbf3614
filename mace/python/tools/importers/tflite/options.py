# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The options of each builtin operator: names, positions, types and defaults.

After the public schema of the file format. A test compares these tables with what the
schema's own code writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mace.python.tools.importers.tflite.flatbuffer import Table

_NAMES = """
    ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE
    DEQUANTIZE EMBEDDING_LOOKUP FLOOR FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION
    L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION LOGISTIC LSH_PROJECTION LSTM MAX_POOL_2D MUL
    RELU RELU_N1_TO_1 RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX SPACE_TO_DEPTH SVDF TANH
    CONCAT_EMBEDDINGS SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD
    UNIDIRECTIONAL_SEQUENCE_RNN GATHER BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND TRANSPOSE
    MEAN SUB DIV SQUEEZE UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE
    BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT LOG_SOFTMAX DELEGATE
    BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM ARG_MAX MINIMUM LESS NEG PADV2
    GREATER GREATER_EQUAL LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE
    TILE EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT RSQRT SHAPE POW ARG_MIN FAKE_QUANT
    REDUCE_PROD REDUCE_MAX PACK LOGICAL_OR ONE_HOT LOGICAL_AND LOGICAL_NOT UNPACK
    REDUCE_MIN FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE
    RESIZE_NEAREST_NEIGHBOR LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE
    CEIL REVERSE_V2 ADD_N GATHER_ND COS WHERE RANK ELU REVERSE_SEQUENCE MATRIX_DIAG
    QUANTIZE MATRIX_SET_DIAG ROUND HARD_SWISH IF WHILE NON_MAX_SUPPRESSION_V4
    NON_MAX_SUPPRESSION_V5 SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM BATCH_MATMUL
    PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM CALL_ONCE BROADCAST_TO RFFT2D CONV_3D IMAG
    REAL COMPLEX_ABS HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL
    CONV_3D_TRANSPOSE VAR_HANDLE READ_VARIABLE ASSIGN_VARIABLE BROADCAST_ARGS
    RANDOM_STANDARD_NORMAL BUCKETIZE RANDOM_UNIFORM MULTINOMIAL GELU
    DYNAMIC_UPDATE_SLICE RELU_0_TO_1 UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX
    UNSORTED_SEGMENT_SUM ATAN2 UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR RIGHT_SHIFT
    STABLEHLO_LOGISTIC STABLEHLO_ADD STABLEHLO_DIVIDE STABLEHLO_MULTIPLY
    STABLEHLO_MAXIMUM STABLEHLO_RESHAPE STABLEHLO_CLAMP STABLEHLO_CONCATENATE
    STABLEHLO_BROADCAST_IN_DIM STABLEHLO_CONVOLUTION STABLEHLO_SLICE
    STABLEHLO_CUSTOM_CALL STABLEHLO_REDUCE STABLEHLO_ABS STABLEHLO_AND STABLEHLO_COSINE
    STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_LOG STABLEHLO_MINIMUM
    STABLEHLO_NEGATE STABLEHLO_OR STABLEHLO_POWER STABLEHLO_REMAINDER STABLEHLO_RSQRT
    STABLEHLO_SELECT STABLEHLO_SUBTRACT STABLEHLO_TANH STABLEHLO_SCATTER
    STABLEHLO_COMPARE STABLEHLO_CONVERT STABLEHLO_DYNAMIC_SLICE
    STABLEHLO_DYNAMIC_UPDATE_SLICE STABLEHLO_PAD STABLEHLO_IOTA STABLEHLO_DOT_GENERAL
    STABLEHLO_REDUCE_WINDOW STABLEHLO_SORT STABLEHLO_WHILE STABLEHLO_GATHER
    STABLEHLO_TRANSPOSE DILATE STABLEHLO_RNG_BIT_GENERATOR REDUCE_WINDOW
    STABLEHLO_COMPOSITE STABLEHLO_SHIFT_LEFT STABLEHLO_CBRT STABLEHLO_CASE
    """
# The names of builtin operators, by number.
BUILTINS = tuple(_NAMES.split())
CUSTOM = "CUSTOM"

# Fields in the order of the schema, "-" for one that is not read: name:type=default. An
# enumeration has one byte.
_TABLES = {
    "BidirectionalSequenceLSTMOptions": "function:enum cell_clip:float proj_clip:float "
    "merge_outputs:bool time_major:bool=1",
    "BidirectionalSequenceRNNOptions": "time_major:bool function:enum "
    "merge_outputs:bool",
    "SequenceRNNOptions": "time_major:bool function:enum",
    "UnidirectionalSequenceLSTMOptions": "function:enum cell_clip:float "
    "proj_clip:float time_major:bool - diagonal_recurrent_tensors:bool",
    "AddOptions": "activation:enum",
    "BatchMatMulOptions": "adj_x:bool adj_y:bool",
    "BucketizeOptions": "boundaries:floats",
    "CallOptions": "subgraph:uint",
    "ConcatenationOptions": "axis:int activation:enum",
    "Conv2DOptions": "padding:enum stride_w:int stride_h:int activation:enum "
    "dilation_w:int=1 dilation_h:int=1",
    "Conv3DOptions": "padding:enum stride_d:int stride_w:int stride_h:int "
    "activation:enum dilation_d:int=1 dilation_w:int=1 dilation_h:int=1",
    "CumsumOptions": "exclusive:bool reverse:bool",
    "DepthToSpaceOptions": "block_size:int",
    "DepthwiseConv2DOptions": "padding:enum stride_w:int stride_h:int - "
    "activation:enum dilation_w:int=1 dilation_h:int=1",
    "FakeQuantOptions": "min:float max:float num_bits:int narrow_range:bool",
    "FullyConnectedOptions": "activation:enum weights_format:enum keep_num_dims:bool",
    "GatherOptions": "axis:int batch_dims:int",
    "GeluOptions": "approximate:bool",
    "IfOptions": "then_subgraph_index:int else_subgraph_index:int",
    "L2NormOptions": "activation:enum",
    "LSTMOptions": "function:enum cell_clip:float proj_clip:float kernel_type:enum",
    "LeakyReluOptions": "alpha:float",
    "LocalResponseNormalizationOptions": "radius:int bias:float alpha:float beta:float",
    "MirrorPadOptions": "mode:enum",
    "OneHotOptions": "axis:int",
    "PackOptions": "- axis:int",
    "Pool2DOptions": "padding:enum stride_w:int stride_h:int width:int height:int "
    "activation:enum",
    "RNNOptions": "function:enum",
    "RandomOptions": "seed:long seed2:long",
    "ReduceWindowOptions": "reduce_function:uint",
    "ReducerOptions": "keep_dims:bool",
    "ReshapeOptions": "new_shape:ints",
    "ResizeBilinearOptions": "- - align_corners:bool half_pixel_centers:bool",
    "ResizeNearestNeighborOptions": "align_corners:bool half_pixel_centers:bool",
    "ReverseSequenceOptions": "seq_dim:int batch_dim:int",
    "SVDFOptions": "rank:int function:enum",
    "SoftmaxOptions": "beta:float",
    "SpaceToDepthOptions": "block_size:int",
    "SplitOptions": "num_splits:int",
    "SqueezeOptions": "squeeze_dims:ints",
    "StableHLOCompositeOptions": "- subgraph:int",
    "StablehloGatherOptions": "offset_dims:longs collapsed_slice_dims:longs "
    "start_index_map:longs index_vector_dim:long slice_sizes:longs",
    "StablehloPadOptions": "edge_padding_low:longs edge_padding_high:longs "
    "interior_padding:longs",
    "StridedSliceOptions": "begin_mask:int end_mask:int ellipsis_mask:int "
    "new_axis_mask:int shrink_axis_mask:int offset:bool",
    "TransposeConvOptions": "padding:enum stride_w:int stride_h:int activation:enum",
    "UnpackOptions": "num:int axis:int",
    "WhileOptions": "cond_subgraph_index:int body_subgraph_index:int",
}
_TABLE_OF = {
    **dict.fromkeys(("ADD", "DIV", "MUL", "SUB"), "AddOptions"),
    **dict.fromkeys(("AVERAGE_POOL_2D", "L2_POOL_2D", "MAX_POOL_2D"), "Pool2DOptions"),
    **dict.fromkeys(
        (
            *("MEAN", "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN"),
            *("REDUCE_PROD", "SUM"),
        ),
        "ReducerOptions",
    ),
    **dict.fromkeys(("CONV_3D", "CONV_3D_TRANSPOSE"), "Conv3DOptions"),
    **dict.fromkeys(
        ("MULTINOMIAL", "RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM"), "RandomOptions"
    ),
    "BATCH_MATMUL": "BatchMatMulOptions",
    "BIDIRECTIONAL_SEQUENCE_LSTM": "BidirectionalSequenceLSTMOptions",
    "BIDIRECTIONAL_SEQUENCE_RNN": "BidirectionalSequenceRNNOptions",
    "BUCKETIZE": "BucketizeOptions",
    "CALL": "CallOptions",
    "CONCATENATION": "ConcatenationOptions",
    "CONV_2D": "Conv2DOptions",
    "CUMSUM": "CumsumOptions",
    "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions",
    "DEPTH_TO_SPACE": "DepthToSpaceOptions",
    "FAKE_QUANT": "FakeQuantOptions",
    "FULLY_CONNECTED": "FullyConnectedOptions",
    "GATHER": "GatherOptions",
    "GELU": "GeluOptions",
    "IF": "IfOptions",
    "L2_NORMALIZATION": "L2NormOptions",
    "LSTM": "LSTMOptions",
    "LEAKY_RELU": "LeakyReluOptions",
    "LOCAL_RESPONSE_NORMALIZATION": "LocalResponseNormalizationOptions",
    "MIRROR_PAD": "MirrorPadOptions",
    "ONE_HOT": "OneHotOptions",
    "PACK": "PackOptions",
    "RNN": "RNNOptions",
    "RESHAPE": "ReshapeOptions",
    "RESIZE_BILINEAR": "ResizeBilinearOptions",
    "RESIZE_NEAREST_NEIGHBOR": "ResizeNearestNeighborOptions",
    "REVERSE_SEQUENCE": "ReverseSequenceOptions",
    "SVDF": "SVDFOptions",
    "SOFTMAX": "SoftmaxOptions",
    "SPACE_TO_DEPTH": "SpaceToDepthOptions",
    "SPLIT": "SplitOptions",
    "SQUEEZE": "SqueezeOptions",
    "REDUCE_WINDOW": "ReduceWindowOptions",
    "STABLEHLO_COMPOSITE": "StableHLOCompositeOptions",
    "STABLEHLO_GATHER": "StablehloGatherOptions",
    "STABLEHLO_PAD": "StablehloPadOptions",
    "STRIDED_SLICE": "StridedSliceOptions",
    "TRANSPOSE_CONV": "TransposeConvOptions",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "UnidirectionalSequenceLSTMOptions",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions",
    "UNPACK": "UnpackOptions",
    "WHILE": "WhileOptions",
}
# Operators that have their options in the second field for them.
NEWER = frozenset(
    {"REDUCE_WINDOW", "STABLEHLO_COMPOSITE", "STABLEHLO_GATHER", "STABLEHLO_PAD"}
)
_CODES = {"bool": "?", "enum": "b", "float": "f", "uint": "I", "int": "i", "long": "q"}
_LISTS: dict[str, Any] = {"floats": np.float32, "ints": np.int32, "longs": np.int64}


@dataclass(frozen=True)
class Field:
    """One field of an options table.

    Attributes:
        index: its position in the schema.
        kind: bool, enum, float, int, long, floats, ints or longs.
        default: of a field that the file does not state.
    """

    index: int
    kind: str
    default: float = 0


def fields(table: str) -> dict[str, Field]:
    """The fields of an options table by name."""
    found = {}
    for index, text in enumerate(_TABLES[table].split()):
        if text == "-":
            continue
        name, _, kind = text.partition(":")
        kind, _, default = kind.partition("=")
        found[name] = Field(index, kind, int(default or 0))
    return found


def tables() -> dict[str, str]:
    """The options table of each operator that has one."""
    return dict(_TABLE_OF)


def read_options(operator: str, table: Table | None) -> Mapping[str, Any]:
    """All options of an operator by name.

    Args:
        operator: the name of a builtin.
        table: None if the file states no options: all have their defaults.
    """
    if operator not in _TABLE_OF:
        return {}
    return {
        name: _value(field, table)
        for name, field in fields(_TABLE_OF[operator]).items()
    }


def _value(field: Field, table: Table | None) -> Any:
    if field.kind in _LISTS:
        if table is None:
            return ()
        return tuple(table.vector(field.index, _LISTS[field.kind]).tolist())
    if table is None:
        return field.default
    return table.number(field.index, _CODES[field.kind], field.default)

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

# A line for each table of the schema: the operators that have it, its name, and its
# fields in order, "-" for one that is not read: name:type=default. An enumeration has
# one byte. Fields that are attributes of TensorFlow's operators have their names.
_SCHEMA = """
ADD DIV MUL SUB | AddOptions | activation:enum
BATCH_MATMUL | BatchMatMulOptions | adj_x:bool adj_y:bool
BIDIRECTIONAL_SEQUENCE_LSTM | BidirectionalSequenceLSTMOptions | function:enum \
    cell_clip:float proj_clip:float merge_outputs:bool time_major:bool=1
BIDIRECTIONAL_SEQUENCE_RNN | BidirectionalSequenceRNNOptions | time_major:bool \
    function:enum merge_outputs:bool
BUCKETIZE | BucketizeOptions | boundaries:floats
CALL | CallOptions | subgraph:uint
CONCATENATION | ConcatenationOptions | axis:int activation:enum
CONV_2D | Conv2DOptions | padding:enum stride_w:int stride_h:int activation:enum \
    dilation_w:int=1 dilation_h:int=1
CONV_3D CONV_3D_TRANSPOSE | Conv3DOptions | padding:enum stride_d:int stride_w:int \
    stride_h:int activation:enum dilation_d:int=1 dilation_w:int=1 dilation_h:int=1
CUMSUM | CumsumOptions | exclusive:bool reverse:bool
DEPTH_TO_SPACE | DepthToSpaceOptions | block_size:int
DEPTHWISE_CONV_2D | DepthwiseConv2DOptions | padding:enum stride_w:int stride_h:int \
    - activation:enum dilation_w:int=1 dilation_h:int=1
FAKE_QUANT | FakeQuantOptions | min:float max:float num_bits:int narrow_range:bool
FULLY_CONNECTED | FullyConnectedOptions | activation:enum weights_format:enum \
    keep_num_dims:bool asymmetric_quantize_inputs:bool
GATHER | GatherOptions | axis:int batch_dims:int
GELU | GeluOptions | approximate:bool
IF | IfOptions | then_subgraph_index:int else_subgraph_index:int
L2_NORMALIZATION | L2NormOptions | activation:enum
LSTM | LSTMOptions | function:enum cell_clip:float proj_clip:float kernel_type:enum
LEAKY_RELU | LeakyReluOptions | alpha:float
LOCAL_RESPONSE_NORMALIZATION | LocalResponseNormalizationOptions | depth_radius:int \
    bias:float alpha:float beta:float
MIRROR_PAD | MirrorPadOptions | mode:enum
ONE_HOT | OneHotOptions | axis:int
PACK | PackOptions | - axis:int
AVERAGE_POOL_2D L2_POOL_2D MAX_POOL_2D | Pool2DOptions | padding:enum stride_w:int \
    stride_h:int width:int height:int activation:enum
RNN | RNNOptions | function:enum
MULTINOMIAL RANDOM_STANDARD_NORMAL RANDOM_UNIFORM | RandomOptions | seed:long \
    seed2:long
REDUCE_WINDOW | ReduceWindowOptions | reduce_function:uint
MEAN REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN REDUCE_PROD SUM | ReducerOptions | \
    keep_dims:bool
RESHAPE | ReshapeOptions | new_shape:ints
RESIZE_BILINEAR | ResizeBilinearOptions | - - align_corners:bool \
    half_pixel_centers:bool
RESIZE_NEAREST_NEIGHBOR | ResizeNearestNeighborOptions | align_corners:bool \
    half_pixel_centers:bool
REVERSE_SEQUENCE | ReverseSequenceOptions | seq_dim:int batch_dim:int
SVDF | SVDFOptions | rank:int function:enum
UNIDIRECTIONAL_SEQUENCE_RNN | SequenceRNNOptions | time_major:bool function:enum
SOFTMAX | SoftmaxOptions | beta:float
SPACE_TO_DEPTH | SpaceToDepthOptions | block_size:int
SPLIT | SplitOptions | num_split:int
SQUEEZE | SqueezeOptions | squeeze_dims:ints
STABLEHLO_COMPOSITE | StableHLOCompositeOptions | - subgraph:int
STABLEHLO_GATHER | StablehloGatherOptions | offset_dims:longs \
    collapsed_slice_dims:longs start_index_map:longs index_vector_dim:long \
    slice_sizes:longs
STABLEHLO_PAD | StablehloPadOptions | edge_padding_low:longs edge_padding_high:longs \
    interior_padding:longs
STRIDED_SLICE | StridedSliceOptions | begin_mask:int end_mask:int ellipsis_mask:int \
    new_axis_mask:int shrink_axis_mask:int offset:bool
TRANSPOSE_CONV | TransposeConvOptions | padding:enum stride_w:int stride_h:int \
    activation:enum
UNIDIRECTIONAL_SEQUENCE_LSTM | UnidirectionalSequenceLSTMOptions | function:enum \
    cell_clip:float proj_clip:float time_major:bool - \
    diagonal_recurrent_tensors:bool
UNPACK | UnpackOptions | num:int axis:int
WHILE | WhileOptions | cond_subgraph_index:int body_subgraph_index:int
"""
# The rows of the table by operator.
_ROWS = {
    operator: (table, fields.split())
    for operators, table, fields in (
        line.split(" | ") for line in _SCHEMA.strip().splitlines()
    )
    for operator in operators.split()
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


def fields(operator: str) -> dict[str, Field]:
    """The options of an operator by name."""
    found = {}
    _, texts = _ROWS.get(operator, ("", []))
    for index, text in enumerate(texts):
        if text != "-":
            name, _, kind = text.partition(":")
            kind, _, default = kind.partition("=")
            found[name] = Field(index, kind, int(default or 0))
    return found


def tables() -> dict[str, str]:
    """The options table of each operator that has one."""
    return {operator: table for operator, (table, _) in _ROWS.items()}


def read_options(operator: str, table: Table | None) -> Mapping[str, Any]:
    """All options of an operator by name.

    Args:
        operator: the name of a builtin.
        table: None if the file states no options: all have their defaults.
    """
    return {name: _value(field, table) for name, field in fields(operator).items()}


def _value(field: Field, table: Table | None) -> Any:
    if field.kind in _LISTS:
        if table is None:
            return ()
        return tuple(table.vector(field.index, _LISTS[field.kind]).tolist())
    if table is None:
        return field.default
    return table.number(field.index, _CODES[field.kind], field.default)

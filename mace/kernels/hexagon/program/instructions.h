// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The instructions of programs. Tensors are named by their index; offsets are
// those of the area kConstants, at multiples of 128 bytes.

#ifndef MACE_KERNELS_HEXAGON_PROGRAM_INSTRUCTIONS_H_
#define MACE_KERNELS_HEXAGON_PROGRAM_INSTRUCTIONS_H_

#include "mace/kernels/hexagon/program/program.h"

namespace mace::hexagon {

// All instructions, by families; their order gives the opcodes. One is added
// here, and as a function of that name in a file of the executor.
#define MACE_HEXAGON_INSTRUCTIONS(X) \
  /* border_instructions.cc */       \
  X(Enter)                           \
  X(Leave)                           \
  X(FillPadding)                     \
  /* product_instructions.cc */      \
  X(Convolve)                        \
  X(ConvolveDepthwise)               \
  /* eltwise_instructions.cc */      \
  X(Combine)                         \
  /* window_instructions.cc */       \
  X(PoolWindows)                     \
  X(ReduceAxes)                      \
  /* table_instructions.cc */        \
  X(MapBytes)                        \
  X(ApplySoftmax)                    \
  /* move_instructions.cc */         \
  X(Move)                            \
  X(Fill)                            \
  X(Reshape)                         \
  /* resize_instructions.cc */       \
  X(ResizeNearest)                   \
  X(ResizeLinear)                    \
  /* matrix_instructions.cc */       \
  X(MultiplyMatrices)

enum class Opcode : uint32_t {
#define MACE_HEXAGON_OPCODE(name) k##name,
  MACE_HEXAGON_INSTRUCTIONS(MACE_HEXAGON_OPCODE)
#undef MACE_HEXAGON_OPCODE
};
#define MACE_HEXAGON_COUNT(name) +1
constexpr uint32_t kOpcodes = MACE_HEXAGON_INSTRUCTIONS(MACE_HEXAGON_COUNT);
#undef MACE_HEXAGON_COUNT

// Copies a tensor of the area kBorder, whose elements are dense.
struct EnterParameters {
  static constexpr Opcode kOpcode = Opcode::kEnter;
  uint32_t output;
  uint32_t border;  // offset there
  uint32_t flip;    // 1: bit 7 of each byte changes, as of uint8
};

// The reverse.
struct LeaveParameters {
  static constexpr Opcode kOpcode = Opcode::kLeave;
  uint32_t input;
  uint32_t border;
  uint32_t flip;
};

// Writes the pixels around each image.
struct FillPaddingParameters {
  static constexpr Opcode kOpcode = Opcode::kFillPadding;
  uint32_t output;
};

// Results of results.h: how sums become bytes. Offsets of int32, one for each
// channel, rounded up to a multiple of 32.
struct ResultParameters {
  uint32_t bias;
  uint32_t mantissa;
  uint32_t shift;
  uint32_t factor;  // kNone: all results are exact
  int32_t left;
  uint32_t is_float;
  int32_t low;
  int32_t high;
};

// The windows of a filter, in pixels of the input. The first begins at
// (-pad_top, -pad_left). All of them are inside the input's padding.
struct WindowParameters {
  int32_t height;
  int32_t width;
  int32_t stride_y;
  int32_t stride_x;
  int32_t dilation_y;
  int32_t dilation_x;
  int32_t pad_top;
  int32_t pad_left;
};

// weights: blocks of 128 channels of PackWeights, one after the other; a run is
// a row of the filter, with all bytes of its pixels. dilation_x is 1: the
// filter has zeros between its columns.
struct ConvolveParameters {
  static constexpr Opcode kOpcode = Opcode::kConvolve;
  uint32_t input;
  uint32_t output;
  WindowParameters window;
  uint32_t weights;
  ResultParameters results;
  // Where VTCM has a copy of the weights while this runs; kNone: nowhere.
  uint32_t fast = kNone;
};

// weights: PackDepthwise, with groups for the bytes of a pixel of the output.
struct ConvolveDepthwiseParameters {
  static constexpr Opcode kOpcode = Opcode::kConvolveDepthwise;
  uint32_t input;
  uint32_t output;
  WindowParameters window;
  uint32_t weights;
  ResultParameters results;
};

// What eltwise.h computes of two bytes.
enum class EltwiseMode : uint32_t { kSum, kMax, kMin, kProduct };

// EltwiseRow of eltwise.h. Each dimension of an operand is that of the output,
// or 1.
struct CombineParameters {
  static constexpr Opcode kOpcode = Opcode::kCombine;
  uint32_t a;
  uint32_t b;
  uint32_t output;
  uint32_t mode;  // EltwiseMode
  int32_t a_factor;
  int32_t b_factor;
  int32_t shift;
  float multiplier;  // of products
  int32_t low;
  int32_t high;
};
// The bytes of an output's pixel to which an operand with one channel is
// repeated are at most so many.
constexpr int32_t kMostRepeatedBytes = 4096;

// Windows and sums of elements have at most so many, so that int32 has the sum.
constexpr int32_t kMostPooled = INT32_MAX / 255;

enum class PoolMode : uint32_t {
  kLargest,
  kAverage,        // of the elements inside the image
  kAveragePadded,  // of those and the ones of the declared padding
};

// Windows may begin and end outside of the input, whose padding is not read.
struct PoolWindowsParameters {
  static constexpr Opcode kOpcode = Opcode::kPoolWindows;
  uint32_t input;
  uint32_t output;
  WindowParameters window;
  // Declared, behind the input; kAveragePadded.
  int32_t pad_bottom;
  int32_t pad_right;
  uint32_t mode;
  // The input's scale divided by the output's. kLargest takes it for 1.
  float ratio;
};

// Sums of all elements along some dimensions. The other ones are the output's,
// in their order; its elements are as many.
struct ReduceAxesParameters {
  static constexpr Opcode kOpcode = Opcode::kReduceAxes;
  uint32_t input;
  uint32_t output;
  uint32_t fold_height;  // 1: is reduced
  uint32_t fold_width;
  uint32_t fold_channels;
  uint32_t largest;  // 1: the largest element instead of the sum
  float multiplier;  // of sums
};

// table: 256 bytes, or as many for each channel. The output may be the input.
struct MapBytesParameters {
  static constexpr Opcode kOpcode = Opcode::kMapBytes;
  uint32_t input;
  uint32_t output;
  uint32_t table;
  uint32_t each_channel;  // 1: a table for each
};

// Softmax has at most so many channels, so that float64 has their sum.
constexpr int32_t kMostSoftmax = 1 << 22;

// Softmax of the channels. exponentials: 256 int32 (softmax.h).
struct ApplySoftmaxParameters {
  static constexpr Opcode kOpcode = Opcode::kApplySoftmax;
  uint32_t input;
  uint32_t output;
  uint32_t exponentials;
  float scale;
};

// The dimensions of a tensor.
enum class Dimension : uint32_t { kBatch, kHeight, kWidth, kChannels };
constexpr uint32_t kDimensions = 4;

// One step of a loop moves the position in each tensor by so many along one
// dimension.
struct MoveLoop {
  int32_t count;
  uint32_t in_dimension;
  int32_t in_step;
  uint32_t out_dimension;
  int32_t out_step;
};
constexpr uint32_t kMoveLoops = 6;

// Copies elements, by nested loops, of which the last one is the innermost.
// Loops that are not needed have the count 1.
struct MoveParameters {
  static constexpr Opcode kOpcode = Opcode::kMove;
  uint32_t input;
  uint32_t output;
  int32_t in_start[kDimensions];
  int32_t out_start[kDimensions];
  MoveLoop loops[kMoveLoops];
};

// Every byte of the output's elements becomes `byte`.
struct FillParameters {
  static constexpr Opcode kOpcode = Opcode::kFill;
  uint32_t output;
  int32_t byte;
};

// Copies all elements in their order; the shapes may differ.
struct ReshapeParameters {
  static constexpr Opcode kOpcode = Opcode::kReshape;
  uint32_t input;
  uint32_t output;
};

// rows: the input's row of each row of the output, int32. columns: likewise,
// the bytes of the pixel in its row.
struct ResizeNearestParameters {
  static constexpr Opcode kOpcode = Opcode::kResizeNearest;
  uint32_t input;
  uint32_t output;
  uint32_t rows;
  uint32_t columns;
};

// Two positions along an axis and their weights, which are not negative and
// whose sum is 2^kResizeBits.
constexpr int kResizeBits = 11;
struct ResizeTap {
  int32_t first;
  int32_t second;
  int32_t first_weight;
  int32_t second_weight;
};

// A ResizeTap for each row of the output, in rows, and for each column, in
// bytes of a row.
struct ResizeLinearParameters {
  static constexpr Opcode kOpcode = Opcode::kResizeLinear;
  uint32_t input;
  uint32_t output;
  uint32_t rows;
  uint32_t columns;
  float multiplier;
};

// Products of matrices: rows are the width, and columns the channels. Batch and
// height of an operand are the output's, or 1. packed: a tensor of one pixel
// with the bytes of a packed matrix (PackedMatrixBytes).
struct MultiplyMatricesParameters {
  static constexpr Opcode kOpcode = Opcode::kMultiplyMatrices;
  uint32_t a;
  uint32_t b;
  uint32_t output;
  uint32_t packed;
  uint32_t transpose_b;
  float multiplier;
};

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_PROGRAM_INSTRUCTIONS_H_

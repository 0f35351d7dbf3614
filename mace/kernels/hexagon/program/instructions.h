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
  X(ConvolveDepthwise)

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

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_PROGRAM_INSTRUCTIONS_H_

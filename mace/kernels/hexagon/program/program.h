// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the DSP is told to compute: a program for one segment of a graph and one
// set of shapes. The host writes it (mace/runtimes/hexagon), and the DSP runs
// it (mace/kernels/hexagon/executor). Numbers have 32 bits, and there are no
// addresses: memory is named by an area and an offset. A program is
//
//   ProgramHeader
//   TensorPlace[tensors]
//   `instructions` times: InstructionHeader, and its parameters
//                         (instructions.h)
//
// The DSP keeps nothing from one call to the next. Whatever changes in these
// files changes kProgramVersion.

#ifndef MACE_KERNELS_HEXAGON_PROGRAM_PROGRAM_H_
#define MACE_KERNELS_HEXAGON_PROGRAM_PROGRAM_H_

#include <stdint.h>

namespace mace::hexagon {

constexpr uint32_t kProgramMagic = 0x5044534d;  // "MSDP"
constexpr uint32_t kProgramVersion = 2;

// Memory that a call names. Each begins at a multiple of 128 bytes.
enum class Area : uint32_t {
  kConstants,  // the same in all calls of a partition
  kArena,      // tensors between instructions
  kBorder,     // tensors that the host writes and reads, without padding
  kCounters,   // CounterRecord of each instruction; empty: they are not wanted
  // Memory that vectors reach sooner than others (VTCM), which the DSP has for
  // one call: tensors, and copies of weights. Where it gets none, it takes a
  // part of the arena.
  kFast,
};
constexpr uint32_t kAreas = 5;

// Of an offset: there is none.
constexpr uint32_t kNone = 0xffffffffu;

struct ProgramHeader {
  uint32_t magic;
  uint32_t version;
  uint32_t bytes;  // of the program, with this header
  uint32_t tensors;
  uint32_t instructions;
  // Of the area kFast, and where it is in the arena if there is no VTCM.
  uint32_t fast_bytes = 0;
  uint32_t fast_offset = 0;
};

// A tensor of int8 or int32. Its elements are NHWC: the last dimension of a
// shape are the channels, those before it width and height, and all others
// batch. A pixel may have more bytes than its channels, of any value. Around
// each image are pixels of the zero point, which FillPadding writes. Loads may
// read kSlackBytes behind the last pixel.
struct TensorPlace {
  uint32_t area;
  uint32_t offset;         // of the first pixel
  uint32_t element_bytes;  // 1: int8; 4: int32, without padding
  int32_t batch;
  int32_t height;
  int32_t width;
  int32_t channels;
  int32_t pixel_bytes;  // from one pixel to the next: a multiple of 4
  int32_t row_bytes;    // a multiple of 8
  int32_t image_bytes;  // a multiple of 8
  int32_t pad_top;      // rows
  int32_t pad_bottom;
  int32_t pad_left;  // pixels
  int32_t pad_right;
  int32_t zero;  // zero point, -128 to 127
};

struct InstructionHeader {
  uint32_t opcode;
  uint32_t bytes;  // with this header; a multiple of 4
};

// What instructions took: packets in the emulator, cycles on a DSP.
struct CounterRecord {
  uint32_t low;
  uint32_t high;
};

// How a call ended.
enum class ProgramStatus : uint32_t {
  kDone,
  kWrongVersion,     // of another release than the DSP's part
  kWrongMemory,      // an area is missing, or not aligned
  kWrongProgram,     // sizes do not fit
  kWrongTensor,      // a tensor is not within its area
  kNoInstruction,    // the DSP's part has no such instruction
  kWrongParameters,  // they do not fit the tensors or the constants
};

struct ProgramReply {
  uint32_t status;  // ProgramStatus
  uint32_t index;   // of the tensor or the instruction
};

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_PROGRAM_PROGRAM_H_

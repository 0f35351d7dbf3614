// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/executor/executor.h"

#include "mace/kernels/hexagon/executor/context.h"
#include "mace/kernels/hexagon/hvx.h"
#include "mace/kernels/hexagon/platform/memory.h"

namespace mace::hexagon {
namespace {

// The tensors that an instruction writes; kNone: there is no such one.
template <typename Parameters>
auto OutputOf(const Parameters &p, int /*preferred*/) -> decltype(p.output) {
  return p.output;
}
template <typename Parameters>
uint32_t OutputOf(const Parameters & /*p*/, long /*otherwise*/) {
  return kNone;
}
template <typename Parameters>
auto ScratchOf(const Parameters &p, int /*preferred*/) -> decltype(p.packed) {
  return p.packed;
}
template <typename Parameters>
uint32_t ScratchOf(const Parameters & /*p*/, long /*otherwise*/) {
  return kNone;
}

// Other programs count on constants.
bool IsConstant(const Context &context, uint32_t index) {
  const TensorPlace *t = context.Tensor(index);
  return t != nullptr && t->area == static_cast<uint32_t>(Area::kConstants);
}

// What an instruction's parameters take, copied so that the host can't change
// them while they are used.
template <typename Parameters>
bool Run(bool (*function)(const Context &, const Parameters &),
         const Context &context,
         const uint8_t *bytes,
         uint32_t size) {
  if (size != sizeof(Parameters)) return false;
  Parameters parameters;
  memcpy(&parameters, bytes, sizeof(parameters));
  if (IsConstant(context, OutputOf(parameters, 0)) ||
      IsConstant(context, ScratchOf(parameters, 0))) {
    return false;
  }
  return function(context, parameters);
}

bool RunInstruction(Opcode opcode,
                    const Context &context,
                    const uint8_t *bytes,
                    uint32_t size) {
  switch (opcode) {
#define MACE_HEXAGON_CASE(name) \
  case Opcode::k##name:         \
    return Run<name##Parameters>(name, context, bytes, size);
    MACE_HEXAGON_INSTRUCTIONS(MACE_HEXAGON_CASE)
#undef MACE_HEXAGON_CASE
  }
  return false;
}

bool IsAligned(const void *data) {
  return reinterpret_cast<uintptr_t>(data) % kVectorBytes == 0;
}

// Numbers are within these limits, so that products of two of them fit.
bool IsSize(int32_t value) { return value >= 0 && value < (1 << 30); }

bool HasSizes(const TensorPlace &t) {
  const int32_t sizes[] = {t.batch,       t.height,    t.width,
                           t.channels,    t.row_bytes, t.image_bytes,
                           t.pixel_bytes, t.pad_top,   t.pad_bottom,
                           t.pad_left,    t.pad_right};
  for (const int32_t size : sizes) {
    if (!IsSize(size)) return false;
  }
  return true;
}

// Whether all of a tensor, with its padding, is within its area.
bool IsInside(const TensorPlace &t, const ProgramCall &call) {
  if (t.area >= kAreas || t.area == static_cast<uint32_t>(Area::kCounters) ||
      !HasSizes(t)) {
    return false;
  }
  if (t.batch == 0 || t.height == 0 || t.width == 0 || t.channels == 0) {
    return false;
  }
  if (t.element_bytes != 1 && t.element_bytes != 4) return false;
  if (int64_t{t.channels} * t.element_bytes > t.pixel_bytes) return false;
  if (t.pixel_bytes % 4 != 0 || t.row_bytes % 8 != 0 ||
      t.image_bytes % 8 != 0 || t.offset % 4 != 0) {
    return false;
  }
  if (t.zero < -128 || t.zero > 127) return false;
  const int64_t pixels = int64_t{t.pad_left} + t.width + t.pad_right;
  const int64_t rows = int64_t{t.pad_top} + t.height + t.pad_bottom;
  if (pixels * t.pixel_bytes > t.row_bytes ||
      rows * t.row_bytes > t.image_bytes) {
    return false;
  }
  const int64_t first = int64_t{t.offset} - int64_t{t.pad_top} * t.row_bytes -
                        int64_t{t.pad_left} * t.pixel_bytes;
  const int64_t last = int64_t{t.offset} +
                       int64_t{t.batch - 1} * t.image_bytes +
                       (int64_t{t.height} + t.pad_bottom) * t.row_bytes;
  return first >= 0 && last + kSlackBytes <= call.areas[t.area].bytes;
}

ProgramReply Reply(ProgramStatus status, uint32_t index = 0) {
  return {static_cast<uint32_t>(status), index};
}

void Count(const ProgramCall &call, uint32_t index, uint64_t count) {
  const Memory &memory = call.areas[static_cast<uint32_t>(Area::kCounters)];
  if (index >= memory.bytes / sizeof(CounterRecord)) return;
  const CounterRecord record = {static_cast<uint32_t>(count),
                                static_cast<uint32_t>(count >> 32)};
  memcpy(memory.data + index * sizeof(record), &record, sizeof(record));
}

ProgramReply RunAll(const ProgramCall &call,
                    const Context &context,
                    uint32_t instructions,
                    uint32_t at,
                    uint32_t end) {
  const bool counts =
      call.counter != nullptr &&
      call.areas[static_cast<uint32_t>(Area::kCounters)].bytes > 0;
  for (uint32_t i = 0; i < instructions; ++i) {
    InstructionHeader header;
    if (end - at < sizeof(header)) {
      return Reply(ProgramStatus::kWrongProgram, i);
    }
    memcpy(&header, call.program.data + at, sizeof(header));
    if (header.bytes < sizeof(header) || header.bytes > end - at) {
      return Reply(ProgramStatus::kWrongProgram, i);
    }
    if (header.opcode >= kOpcodes) {
      return Reply(ProgramStatus::kNoInstruction, i);
    }
    const uint64_t before = counts ? call.counter() : 0;
    if (!RunInstruction(static_cast<Opcode>(header.opcode), context,
                        call.program.data + at + sizeof(header),
                        header.bytes - sizeof(header))) {
      return Reply(ProgramStatus::kWrongParameters, i);
    }
    if (counts) Count(call, i, call.counter() - before);
    at += header.bytes;
  }
  return Reply(at == end ? ProgramStatus::kDone : ProgramStatus::kWrongProgram,
               instructions);
}

// The part of the arena for a program that gets no VTCM; without an address if
// it is not inside.
Memory FastOfArena(const ProgramHeader &header, const Memory &arena) {
  if (header.fast_offset % kVectorBytes != 0 ||
      header.fast_offset > arena.bytes ||
      header.fast_bytes > arena.bytes - header.fast_offset) {
    return {};
  }
  return {arena.data + header.fast_offset, header.fast_bytes};
}

// Of a program whose header is right.
ProgramReply RunTensors(const ProgramCall &call,
                        const ProgramHeader &header,
                        bool has_fast) {
  const auto *tensors =
      reinterpret_cast<const TensorPlace *>(call.program.data + sizeof(header));
  for (uint32_t i = 0; i < header.tensors; ++i) {
    if (!IsInside(tensors[i], call)) {
      return Reply(ProgramStatus::kWrongTensor, i);
    }
  }
  const Context context(call, tensors, header.tensors, has_fast);
  return RunAll(call, context, header.instructions,
                static_cast<uint32_t>(sizeof(header) +
                                      header.tensors * sizeof(TensorPlace)),
                header.bytes);
}

}  // namespace

const uint8_t *Context::InFast(const uint8_t *constants,
                               uint32_t fast,
                               int64_t vectors) const {
  uint8_t *copy = At(Area::kFast, fast, vectors, kVectorBytes);
  if (copy == nullptr || !has_fast_) return copy == nullptr ? copy : constants;
  const auto *from = reinterpret_cast<const Vector *>(constants);
  auto *to = reinterpret_cast<Vector *>(copy);
  ForEach(vectors, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = from[i];
  });
  return copy;
}

ProgramReply RunProgram(const ProgramCall &call) {
  if (call.program.data == nullptr || !IsAligned(call.program.data)) {
    return Reply(ProgramStatus::kWrongMemory);
  }
  for (uint32_t i = 0; i < kAreas; ++i) {
    if (!IsAligned(call.areas[i].data)) {
      return Reply(ProgramStatus::kWrongMemory, i);
    }
  }
  ProgramHeader header;
  if (call.program.bytes < sizeof(header)) {
    return Reply(ProgramStatus::kWrongProgram);
  }
  memcpy(&header, call.program.data, sizeof(header));
  if (header.magic != kProgramMagic || header.version != kProgramVersion) {
    return Reply(ProgramStatus::kWrongVersion);
  }
  if (header.bytes > call.program.bytes || header.bytes < sizeof(header) ||
      header.tensors > (header.bytes - sizeof(header)) / sizeof(TensorPlace)) {
    return Reply(ProgramStatus::kWrongProgram);
  }
  ProgramCall used = call;
  Memory &fast = used.areas[static_cast<uint32_t>(Area::kFast)];
  fast = {};
  if (header.fast_bytes == 0) return RunTensors(used, header, false);
  const Memory in_arena =
      FastOfArena(header, call.areas[static_cast<uint32_t>(Area::kArena)]);
  if (in_arena.data == nullptr) {
    return Reply(ProgramStatus::kWrongMemory,
                 static_cast<uint32_t>(Area::kFast));
  }
  if (call.take_fast != nullptr) fast = call.take_fast(header.fast_bytes);
  const bool has_fast = fast.data != nullptr;
  if (!has_fast) fast = in_arena;
  const ProgramReply reply = RunTensors(used, header, has_fast);
  if (has_fast) call.return_fast(fast);
  return reply;
}

}  // namespace mace::hexagon

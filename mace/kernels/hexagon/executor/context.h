// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What an instruction sees of its program. An instruction is a function
//
//   bool Convolve(const Context &context, const ConvolveParameters &p);
//
// in the file of its family. It checks its parameters against the tensors and
// returns false, without writing anything, if they do not fit. The parameters
// are a copy, which nobody changes meanwhile. Tensors are within their areas.

#ifndef MACE_KERNELS_HEXAGON_EXECUTOR_CONTEXT_H_
#define MACE_KERNELS_HEXAGON_EXECUTOR_CONTEXT_H_

#include "mace/kernels/hexagon/executor/executor.h"
#include "mace/kernels/hexagon/packing.h"
#include "mace/kernels/hexagon/program/instructions.h"
#include "mace/kernels/hexagon/program/program.h"

namespace mace::hexagon {

class Context {
 public:
  // `has_fast`: the area kFast is VTCM.
  Context(const ProgramCall &call,
          const TensorPlace *tensors,
          uint32_t count,
          bool has_fast)
      : call_(call), tensors_(tensors), count_(count), has_fast_(has_fast) {}

  // Null if there is no such tensor, or it has elements of another size.
  const TensorPlace *Bytes(uint32_t index) const { return OfSize(index, 1); }
  const TensorPlace *Words(uint32_t index) const { return OfSize(index, 4); }
  // Of either size.
  const TensorPlace *Tensor(uint32_t index) const {
    return index < count_ ? &tensors_[index] : nullptr;
  }

  // The first byte of a pixel, which may be one of the padding.
  int8_t *Pixel(const TensorPlace &t,
                int64_t image,
                int64_t y,
                int64_t x) const {
    return reinterpret_cast<int8_t *>(call_.areas[t.area].data + t.offset) +
           image * t.image_bytes + y * t.row_bytes + x * t.pixel_bytes;
  }

  // Constants at an offset; null unless so many bytes are there, and it is a
  // multiple of 128.
  template <typename T = uint8_t>
  const T *Constants(uint32_t offset, int64_t count) const {
    return reinterpret_cast<const T *>(
        At(Area::kConstants, offset, count, sizeof(T)));
  }
  // Likewise memory of the border.
  uint8_t *Border(uint32_t offset, int64_t bytes) const {
    return At(Area::kBorder, offset, bytes, 1);
  }

  // Constants of vectors, or their copy in the area kFast if that is VTCM;
  // null if they would not be inside of it. `fast` is an offset there.
  const uint8_t *InFast(const uint8_t *constants,
                        uint32_t fast,
                        int64_t vectors) const;

  // How many parts ForEach makes at most.
  int threads() const { return call_.divide == nullptr ? 1 : call_.threads; }

  // Calls function(begin, end) for parts of 0 to count, which threads compute
  // at the same time where there are some. Parts are rows, mostly; they begin
  // at multiples of `unit`.
  template <typename Function>
  void ForEach(int64_t count,
               const Function &function,
               int64_t unit = 1) const {
    if (count <= 0) return;
    if (call_.divide == nullptr) {
      function(int64_t{0}, count);
      return;
    }
    const WorkPart part = [](const void *work, int64_t begin, int64_t end) {
      (*static_cast<const Function *>(work))(begin, end);
    };
    call_.divide(count, unit, part, &function);
  }

 private:
  const TensorPlace *OfSize(uint32_t index, uint32_t bytes) const {
    const TensorPlace *t = Tensor(index);
    return t != nullptr && t->element_bytes == bytes ? t : nullptr;
  }
  uint8_t *At(Area area, uint32_t offset, int64_t count, int64_t size) const {
    const Memory &memory = call_.areas[static_cast<uint32_t>(area)];
    if (offset % kVectorBytes != 0 || count < 0 || offset > memory.bytes ||
        count > (memory.bytes - offset) / size) {
      return nullptr;
    }
    return memory.data + offset;
  }

  const ProgramCall &call_;
  const TensorPlace *tensors_;
  uint32_t count_;
  bool has_fast_;
};

// Whether two tensors have the same batch, height and width.
inline bool SamePixels(const TensorPlace &a, const TensorPlace &b) {
  return a.batch == b.batch && a.height == b.height && a.width == b.width;
}
inline bool SameShape(const TensorPlace &a, const TensorPlace &b) {
  return SamePixels(a, b) && a.channels == b.channels;
}
// Whether the pixels of all images follow each other without a gap: then they
// may be taken for one row.
inline bool IsOneRow(const TensorPlace &t) {
  return (t.batch * t.height == 1) ||
         (t.row_bytes == int64_t{t.width} * t.pixel_bytes &&
          (t.batch == 1 || t.image_bytes == int64_t{t.height} * t.row_bytes));
}

// The share of `units` that the thread has which has most.
inline float LongestShare(int64_t units, int64_t threads) {
  const int64_t most = (units + threads - 1) / threads;
  return static_cast<float>(most) / static_cast<float>(units);
}

#define MACE_HEXAGON_DECLARE(name) \
  bool name(const Context &context, const name##Parameters &p);
MACE_HEXAGON_INSTRUCTIONS(MACE_HEXAGON_DECLARE)
#undef MACE_HEXAGON_DECLARE

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_EXECUTOR_CONTEXT_H_

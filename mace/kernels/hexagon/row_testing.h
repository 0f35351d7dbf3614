// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What tests of rows of bytes have in common.

#ifndef MACE_KERNELS_HEXAGON_ROW_TESTING_H_
#define MACE_KERNELS_HEXAGON_ROW_TESTING_H_

#include "mace/kernels/hexagon/platform/expect.h"
#include "mace/kernels/hexagon/platform/memory.h"
#include "mace/kernels/hexagon/scaled.h"

namespace mace::hexagon {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint32_t Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33);
  }
  int8_t Byte() { return static_cast<int8_t>(Next()); }
  // From `low` to `high`.
  int Between(int low, int high) {
    return low +
           static_cast<int>(Next() % static_cast<uint32_t>(high - low + 1));
  }
  void Fill(int8_t *bytes, int count) {
    for (int i = 0; i < count; ++i) bytes[i] = Byte();
  }

 private:
  uint64_t state_;
};

inline int8_t Clamped(int64_t y, const ByteRange &range) {
  y += range.zero;
  return static_cast<int8_t>(y < range.low    ? range.low
                             : y > range.high ? range.high
                                              : y);
}

// round(float32(t) * m), by the scalar unit.
inline int32_t Scaled(int32_t t, float m) {
  return Q6_R_convert_sf2w_R(static_cast<float>(t) * m);
}

// Bytes that a kernel must write, between bytes that it must not.
template <int kMost>
class Written {
 public:
  // The first one, `offset` bytes behind a multiple of 128.
  int8_t *Start(int offset) {
    memset(bytes_, kUntouched, sizeof(bytes_));
    first_ = bytes_ + kVectorBytes + offset;
    return first_;
  }
  // wanted(i) is byte i. Of a row of `step` bytes, `used` are written.
  template <typename Wanted>
  void Expect(int rows, int step, int used, const Wanted &wanted) const {
    const int8_t *end = bytes_ + sizeof(bytes_);
    MACE_EXPECT_EQ(first_ + rows * step <= end, true);
    int touched = 0;
    for (const int8_t *p = bytes_; p < end; ++p) {
      const int at = static_cast<int>(p - first_);
      if (at >= 0 && at < rows * step && at % step < used) {
        MACE_EXPECT_EQ(*p, wanted(at));
      } else if (*p != kUntouched) {
        ++touched;
      }
    }
    MACE_EXPECT_EQ(touched, 0);
  }
  template <typename Wanted>
  void Expect(int count, const Wanted &wanted) const {
    Expect(1, count, count, wanted);
  }

 private:
  static constexpr int8_t kUntouched = 77;
  alignas(kVectorBytes) int8_t bytes_[2 * kVectorBytes + kMost + kVectorBytes];
  int8_t *first_ = nullptr;
};

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_ROW_TESTING_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_TESTING_GUARDED_BUFFER_H_
#define MACE_OPS_TESTING_GUARDED_BUFFER_H_

#include <cstddef>
#include <cstdint>

namespace mace::op_test {

// Memory aligned to 64 bytes, like the engine's arena, between two guard zones
// that must not be written. AddressSanitizer also reports reads there.
class GuardedBuffer {
 public:
  // Filled with `poison`: 0xff is NaN in every float type and -1 in signed
  // integers.
  explicit GuardedBuffer(size_t size, uint8_t poison = 0xff);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer &) = delete;
  GuardedBuffer &operator=(const GuardedBuffer &) = delete;

  uint8_t *data() { return data_; }
  size_t size() const { return size_; }
  void Fill(uint8_t value);
  // False if a guard zone was written.
  bool Intact() const;

 private:
  void Forbid(bool forbid) const;

  size_t size_;
  uint8_t *base_;
  uint8_t *data_;
};

}  // namespace mace::op_test

#endif  // MACE_OPS_TESTING_GUARDED_BUFFER_H_

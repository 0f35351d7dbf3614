// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_TESTING_GUARDED_BUFFER_H_
#define MACE_OPS_TESTING_GUARDED_BUFFER_H_

#include <cstddef>
#include <cstdint>

namespace mace::op_test {

// Memory at a multiple of 64 bytes, as the engine's arena gives it, between
// two zones that nobody may write. AddressSanitizer also reports reads there.
class GuardedBuffer {
 public:
  // Filled with `poison`: 0xff is a NaN in every float type and -1 elsewhere.
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

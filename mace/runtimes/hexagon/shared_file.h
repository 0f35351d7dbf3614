// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// A file in memory that another process can map, and allocations in it.

#ifndef MACE_RUNTIMES_HEXAGON_SHARED_FILE_H_
#define MACE_RUNTIMES_HEXAGON_SHARED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "mace/core/base/status.h"

namespace mace {

class SharedFile {
 public:
  // Pages have no memory until they are written.
  static Result<std::shared_ptr<SharedFile>> Create(size_t bytes);
  ~SharedFile();
  SharedFile(const SharedFile &) = delete;
  SharedFile &operator=(const SharedFile &) = delete;

  int descriptor() const { return descriptor_; }
  uint8_t *data() const { return data_; }
  size_t bytes() const { return bytes_; }

  // Whole pages of zeros; null if none are left.
  uint8_t *Allocate(size_t bytes);
  // Gives their memory back.
  void Free(uint8_t *data, size_t bytes);

 private:
  SharedFile() = default;

  struct Gap {
    size_t offset;
    size_t bytes;
  };

  int descriptor_ = -1;
  uint8_t *data_ = nullptr;
  size_t bytes_ = 0;
  std::mutex mutex_;
  std::vector<Gap> gaps_;  // in order; none touches the next one
};

}  // namespace mace

#endif  // MACE_RUNTIMES_HEXAGON_SHARED_FILE_H_

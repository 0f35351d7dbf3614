// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_TESTING_SHUFFLED_POOL_H_
#define MACE_OPS_TESTING_SHUFFLED_POOL_H_

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "mace/core/model/op.h"

namespace mace::op_test {

// Runs parts of random size in random order on random threads, one at a time:
// code that depends on the division, the order or the thread gives different
// results in every run.
class ShuffledPool final : public ThreadPool {
 public:
  explicit ShuffledPool(int threads) : threads_(threads), engine_(17) {}
  int thread_count() const override { return threads_; }

 protected:
  void Dispatch(int64_t count,
                int64_t grain,
                void *target,
                Callback callback) override {
    struct Part {
      int64_t begin, end;
    };
    std::vector<Part> parts;
    for (int64_t begin = 0; begin < count;) {
      int64_t size = std::min(grain, count - begin);
      if (threads_ > 1) size = 1 + static_cast<int64_t>(engine_()) % size;
      parts.push_back({begin, begin + size});
      begin += size;
    }
    if (threads_ > 1) std::shuffle(parts.begin(), parts.end(), engine_);
    for (const Part &part : parts) {
      const int thread =
          threads_ > 1 ? static_cast<int>(engine_() % threads_) : 0;
      callback(target, part.begin, part.end, thread);
    }
  }

 private:
  int threads_;
  std::mt19937 engine_;
};

}  // namespace mace::op_test

#endif  // MACE_OPS_TESTING_SHUFFLED_POOL_H_

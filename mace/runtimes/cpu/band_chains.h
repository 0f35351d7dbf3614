// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// A chain is a list of operators that run together, one band of rows after the
// other. Of a tensor between two of them (a link), only some rows exist at a
// time, in a thread's scratch memory: a link takes no memory in the arena and
// stays in the cache.
//
//   rows of the last output:  |  task 0  |  task 1  | ...   each on any thread
//   a task:                   | band | band | ... |
//
// For each band, every operator computes those rows needed by the next operator
// that do not exist yet. Rows that the windows of two bands share are kept for
// the next band, so that only rows at the border of two tasks are computed
// twice. Results are bit-identical to those of operators that run one by one,
// for any choice of chains, bands and tasks.

#ifndef MACE_RUNTIMES_CPU_BAND_CHAINS_H_
#define MACE_RUNTIMES_CPU_BAND_CHAINS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mace/ops/cpu_op/row_bands.h"

namespace mace {

struct CpuPlan;

// A list of at most kRoom values without heap memory.
template <typename T, size_t kRoom>
class ShortList {
 public:
  void push_back(const T &value) { values_[size_++] = value; }
  size_t size() const { return size_; }
  const T &operator[](size_t index) const { return values_[index]; }
  const T &front() const { return values_[0]; }
  const T &back() const { return values_[size_ - 1]; }
  const T *begin() const { return values_; }
  const T *end() const { return values_ + size_; }

 private:
  T values_[kRoom] = {};
  size_t size_ = 0;
};

// A tensor between two operators of a chain, in the scratch of a thread.
struct BandLink {
  int tensor = -1;
  size_t row_bytes = 0;
  size_t offset = 0;
};

struct BandChain {
  static constexpr size_t kMaxNodes = 8;

  // Indices of the plan's nodes. The chain runs when the last one would run.
  ShortList<int, kMaxNodes> nodes;
  // links[i]: the output of nodes[i], which nodes[i + 1] reads.
  ShortList<BandLink, kMaxNodes> links;
  int64_t images = 0;
  int64_t rows = 0;       // of an image of the last output
  int64_t band_rows = 0;  // rows of the last output in a band
  int64_t task_rows = 0;  // and in a task, which has one image at most
  int64_t image_tasks = 0;
  size_t own_scratch = 0;   // offset of the operators' scratch in a thread's
  size_t thread_bytes = 0;  // scratch of a thread

  int64_t tasks() const { return images * image_tasks; }
  bool EndsWith(size_t node) const {
    return nodes.back() == static_cast<int>(node);
  }
  // The node after `node`, which must be in the chain and not the last.
  int NodeAfter(size_t node) const {
    size_t at = 0;
    while (nodes[at] != static_cast<int>(node)) ++at;
    return nodes[at + 1];
  }
};

// Iterates over the bands of a task and gives the rows that each operator of
// the chain computes. Planning and running both use this class.
class BandWalk {
 public:
  struct Step {
    RowRange made;  // rows of the operator's output to compute now
    RowRange kept;  // rows of its link that are kept; they precede `made`
  };

  BandWalk(const RowBands *const *ops, size_t count)
      : ops_(ops), count_(count) {}

  // Begins a task.
  void Start() {
    for (RowRange &held : held_) held = RowRange();
  }
  // Computes the steps for a band of the last output; step(i) is that of
  // operator i.
  void Next(const RowRange &band);
  const Step &step(size_t index) const { return steps_[index]; }

 private:
  const RowBands *const *ops_;
  size_t count_;
  RowRange held_[BandChain::kMaxNodes];
  Step steps_[BandChain::kMaxNodes];
};

// Joins operators if that keeps large tensors out of the arena or saves a
// synchronisation of the threads. No export becomes a link, and each chain is
// inside one segment.
std::vector<BandChain> FindBandChains(const CpuPlan &plan, int threads);

}  // namespace mace

#endif  // MACE_RUNTIMES_CPU_BAND_CHAINS_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators that run together, a band of rows after another, so that what lies
// between them (a link) is only ever some rows in a thread's scratch memory:
// it takes no room in the arena and stays in the cache.
//
//   rows of the last output:  |  task 0  |  task 1  | ...   on any thread each
//   a task:                   | band | band | ... |
//
// For a band, every operator computes the rows that the next one needs and that
// are not there yet. Rows that windows share stay for the next band, so that
// only where tasks meet some are computed twice. Results have the bits that
// operators have one by one, whatever the chains, bands and tasks.

#ifndef MACE_RUNTIMES_CPU_BAND_CHAINS_H_
#define MACE_RUNTIMES_CPU_BAND_CHAINS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mace/ops/cpu_op/row_bands.h"

namespace mace {

struct CpuPlan;

// At most kRoom values, which come and go without memory of their own.
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

  // Of the plan; the chain runs with the last.
  ShortList<int, kMaxNodes> nodes;
  // links[i]: output of nodes[i], for i + 1.
  ShortList<BandLink, kMaxNodes> links;
  int64_t images = 0;
  int64_t rows = 0;       // of an image of the last output
  int64_t band_rows = 0;  // of it in a band
  int64_t task_rows = 0;  // of it in a task, one image at most
  int64_t image_tasks = 0;
  size_t own_scratch = 0;   // offset of the operators' own in a thread's part
  size_t thread_bytes = 0;  // scratch of a thread

  int64_t tasks() const { return images * image_tasks; }
  bool EndsWith(size_t node) const {
    return nodes.back() == static_cast<int>(node);
  }
  // That of another node of the chain.
  int NodeAfter(size_t node) const {
    size_t at = 0;
    while (nodes[at] != static_cast<int>(node)) ++at;
    return nodes[at + 1];
  }
};

// Rows of a chain's operators that one task computes: both kinds of walk, for
// planning and for running, are this one.
class BandWalk {
 public:
  struct Step {
    RowRange made;  // rows of the operator's output to compute now
    RowRange kept;  // of its link: rows that stay, which come before `made`
  };

  BandWalk(const RowBands *const *ops, size_t count)
      : ops_(ops), count_(count) {}

  // Begins a task.
  void Start() {
    for (RowRange &held : held_) held = RowRange();
  }
  // What a band of the last output takes. Step i is that of operator i.
  void Next(const RowRange &band);
  const Step &step(size_t index) const { return steps_[index]; }

 private:
  const RowBands *const *ops_;
  size_t count_;
  RowRange held_[BandChain::kMaxNodes];
  Step steps_[BandChain::kMaxNodes];
};

// Joins operators where that keeps large tensors out of the arena, or spares
// threads a meeting. No export becomes a link, and no
// chain goes beyond a segment.
std::vector<BandChain> FindBandChains(const CpuPlan &plan, int threads);

}  // namespace mace

#endif  // MACE_RUNTIMES_CPU_BAND_CHAINS_H_

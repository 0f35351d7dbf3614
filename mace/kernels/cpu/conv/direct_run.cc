// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/direct_run.h"

#include "mace/core/base/aligned_memory.h"

namespace mace::conv {
namespace {

size_t PerThread(const DirectPlan &plan) { return AlignUp(plan.scratch_bytes); }

// Pixels per grain, so that using another thread is worthwhile: 64 KiB of
// channels.
int64_t StageGrain(const DirectPlan &plan) {
  constexpr int64_t kFloats = 16 * 1024;
  return kFloats / plan.shape.in_c + 1;
}

// The staged image is at the start of the scratch memory.
Args WithStaged(const DirectPlan &plan, const Args &args, void *scratch) {
  Args own = args;
  if (plan.staged_pixels > 0) own.staged = scratch;
  return own;
}

void RunTasks(const DirectPlan &plan,
              const Args &args,
              const OutputActivation *activation,
              int64_t begin,
              int64_t end,
              void *scratch) {
  for (int64_t i = begin; i < end; ++i) {
    const ptrdiff_t task = static_cast<ptrdiff_t>(i);
    RunDirectTask(plan, args, task, scratch);
    Activate(activation, args, plan.results, RegionOf(plan, task));
  }
}

}  // namespace

size_t DirectScratchBytes(const DirectPlan &plan, int threads) {
  return AlignUp(plan.staged_bytes) +
         PerThread(plan) * static_cast<size_t>(threads);
}

void RunDirect(const DirectPlan &plan,
               const Args &args,
               const OutputActivation *activation,
               ThreadPool *pool,
               void *scratch) {
  const size_t per_thread = PerThread(plan);
  const Args own = WithStaged(plan, args, scratch);
  if (plan.staged_pixels > 0) {
    pool->ParallelFor(plan.staged_pixels, StageGrain(plan),
                      [&](int64_t begin, int64_t end, int) {
                        StagePixels(plan, own, static_cast<ptrdiff_t>(begin),
                                    static_cast<ptrdiff_t>(end));
                      });
  }
  char *memory = static_cast<char *>(scratch) + AlignUp(plan.staged_bytes);
  pool->ParallelFor(plan.tasks, 1, [&](int64_t begin, int64_t end, int thread) {
    RunTasks(plan, own, activation, begin, end,
             memory + static_cast<size_t>(thread) * per_thread);
  });
}

void RunDirectAlone(const DirectPlan &plan,
                    const Args &args,
                    const OutputActivation *activation,
                    void *scratch) {
  const Args own = WithStaged(plan, args, scratch);
  if (plan.staged_pixels > 0) StagePixels(plan, own, 0, plan.staged_pixels);
  RunTasks(plan, own, activation, 0, plan.tasks,
           static_cast<char *>(scratch) + AlignUp(plan.staged_bytes));
}

std::string DirectName(const DirectPlan &plan) {
  if (plan.vector) return "gemv";
  std::string name = "gemm";
  switch (plan.tap_kind) {
    case DirectPlan::Taps::kRow:
      name += " over image rows";
      break;
    case DirectPlan::Taps::kPatch:
      name += " over patches";
      break;
    case DirectPlan::Taps::kPixel:
      if (plan.taps != 1) name += " over taps";
      break;
  }
  if (plan.arithmetic->name != nullptr) {
    name += std::string(" in ") + plan.arithmetic->name;
  }
  return name;
}

}  // namespace mace::conv

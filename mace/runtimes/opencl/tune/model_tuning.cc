// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/tune/model_tuning.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "mace/core/base/logging.h"
#include "mace/runtimes/opencl/run/bound_plan.h"
#include "mace/runtimes/opencl/tune/opencl_tuner.h"

namespace mace {
namespace {

class Trial final : public TuningTrial {
 public:
  explicit Trial(ShapedPartition *partition)
      : queues_(partition->queues()), memory_(queues_->shared_runtime()) {}
  ~Trial() override {
    if (bound_ == nullptr) return;
    // The driver may still use what is released here.
    const auto queue = queues_->TimingQueue();
    if (queue.ok()) queues_->api().clFinish(queue.value());
  }

  MaceStatus Make(ShapedPartition *partition,
                  const std::vector<BorderStorage> &border,
                  BindingOptions options) {
    options.choices = &choices_;
    MACE_ASSIGN_OR_RETURN(bound_, BoundPlan::Make(partition, border, options));
    MACE_RETURN_IF_ERROR(memory_.Take(bound_->plan()));
    return bound_->Bind(memory_);
  }

  const std::vector<TuningChoice> &choices() const override { return choices_; }
  size_t launch_count() const override { return bound_->commands()->size(); }
  std::string program(size_t launch) const override {
    const ProgramKey &key = bound_->plan().launches[launch].program;
    return key.source->name + key.options;
  }
  Result<int64_t> Run(std::vector<int64_t> *nanos) override;

 private:
  MaceStatus ClearImports(size_t segment, cl_command_queue queue);

  GpuQueues *queues_;
  OpenclMemory memory_;
  std::vector<TuningChoice> choices_;
  std::unique_ptr<BoundPlan> bound_;
  std::vector<unsigned char> zeros_;
};

// Kernels that take positions from a tensor need valid ones.
MaceStatus Trial::ClearImports(size_t segment, cl_command_queue queue) {
  const OpenclPlan &plan = bound_->plan();
  for (const PartitionSpec::Border &border :
       bound_->partition()->spec().imports) {
    const int index = plan.tensor_of[border.tensor];
    if (index < 0 || border.segment != segment) continue;
    const int root = plan.RootIndex(index);
    const int request = plan.request_of[root];
    if (request < 0) continue;
    const size_t bytes = plan.requests[request].bytes;
    zeros_.resize(std::max(zeros_.size(), bytes));
    MACE_CL_CHECK(
        "clEnqueueWriteBuffer", "zeros",
        queues_->api().clEnqueueWriteBuffer(
            queue, memory_.buffer(), CL_TRUE, plan.memory.offsets[request],
            bytes, zeros_.data(), 0, nullptr, nullptr));
  }
  return MaceStatus();
}

Result<int64_t> Trial::Run(std::vector<int64_t> *nanos) {
  MACE_ASSIGN_OR_RETURN(const cl_command_queue queue, queues_->TimingQueue());
  const std::vector<size_t> &begin = bound_->plan().begin;
  nanos->clear();
  int64_t span = 0;
  for (size_t segment = 0; segment + 1 < begin.size(); ++segment) {
    MACE_RETURN_IF_ERROR(ClearImports(segment, queue));
    MACE_ASSIGN_OR_RETURN(const std::vector<KernelTime> times,
                          bound_->commands()->RunTimed(segment));
    for (const KernelTime &time : times) {
      nanos->push_back(static_cast<int64_t>(time.end - time.start));
    }
    if (!times.empty()) {
      span += static_cast<int64_t>(times.back().end - times.front().start);
    }
  }
  return span;
}

// The launches of a partition, as the tuner measures them.
class PartitionBench final : public TuningBench {
 public:
  PartitionBench(ShapedPartition *partition,
                 const std::vector<BorderStorage> &border)
      : partition_(partition),
        border_(border),
        start_(std::chrono::steady_clock::now()) {
    for (BorderStorage &entry : border_) entry.in_caller = false;
  }

  Result<std::unique_ptr<TuningTrial>> Make(
      const TunedValues &values) override {
    BindingOptions options(*partition_);
    options.plan.tuned = &values;
    options.limits = CommandLimits();
    options.limits.records = false;
    // What is tried is not stored.
    options.stores.cache = nullptr;
    auto trial = std::make_unique<Trial>(partition_);
    MACE_RETURN_IF_ERROR(trial->Make(partition_, border_, options));
    return std::unique_ptr<TuningTrial>(std::move(trial));
  }

  double Seconds() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start_)
        .count();
  }

 private:
  ShapedPartition *partition_;
  std::vector<BorderStorage> border_;
  const std::chrono::steady_clock::time_point start_;
};

}  // namespace

void TuneIfAsked(ShapedPartition *partition,
                 const std::vector<BorderStorage> &border) {
  GpuSession *session = partition->session();
  if (session->tuning_seconds() <= 0) return;
  PartitionBench bench(partition, border);
  const auto summary =
      TuneModel(&bench, session->tuning_seconds(), session->tuned());
  session->SpendTuningSeconds(bench.Seconds());
  if (!summary.ok()) {
    LOG(WARNING) << "the model is not tuned: "
                 << StatusMessage(summary.status());
    return;
  }
  session->tuned()->Flush();
  const TuningSummary &done = summary.value();
  LOG(INFO) << "tuned " << done.tuned << " of " << done.choices - done.known
            << " choices of GPU kernels in " << bench.Seconds() << " s, "
            << done.changed << " changed: " << done.tuned_nanos / 1000
            << " us, before " << done.guess_nanos / 1000 << " us";
}

}  // namespace mace

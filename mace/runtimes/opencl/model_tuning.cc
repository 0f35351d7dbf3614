// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/model_tuning.h"

#include <algorithm>
#include <list>
#include <string>
#include <utility>

#include "mace/runtimes/opencl/opencl_device.h"

namespace mace {

class ModelTuning::Trial final : public TuningTrial {
 public:
  Trial(PreparedOpencl *prepared, std::list<PreparedOpencl::Variant> made)
      : prepared_(prepared),
        made_(std::move(made)),
        memory_(prepared->partition_->device()->shared_runtime()) {}
  ~Trial() override {
    // The driver may still use what is released here.
    const auto queue = device()->TimingQueue();
    if (queue.ok()) prepared_->api_.clFinish(queue.value());
  }

  MaceStatus Bind() {
    MACE_RETURN_IF_ERROR(memory_.Take(variant().plan));
    return prepared_->BindMemory(&variant(), memory_);
  }

  const std::vector<TuningChoice> &choices() const override {
    return made_.front().choices;
  }
  size_t launch_count() const override { return made_.front().commands.size(); }
  std::string program(size_t launch) const override {
    const ProgramKey &key = made_.front().plan.launches[launch].program;
    return key.source->name + key.options;
  }
  Result<int64_t> Run(std::vector<int64_t> *nanos) override;

 private:
  PreparedOpencl::Variant &variant() { return made_.front(); }
  OpenclDevice *device() const { return prepared_->partition_->device(); }
  MaceStatus ClearImports(size_t segment, cl_command_queue queue);

  PreparedOpencl *prepared_;
  std::list<PreparedOpencl::Variant> made_;
  OpenclMemory memory_;
  std::vector<unsigned char> zeros_;
};

// Kernels that take positions from a tensor need valid ones.
MaceStatus ModelTuning::Trial::ClearImports(size_t segment,
                                            cl_command_queue queue) {
  const OpenclPlan &plan = variant().plan;
  for (const PartitionSpec::Border &border :
       prepared_->partition_->spec().imports) {
    const int index = plan.tensor_of[border.tensor];
    if (index < 0 || border.segment != segment) continue;
    const int root = plan.RootIndex(index);
    const int request = plan.request_of[root];
    if (request < 0) continue;
    const size_t bytes = plan.requests[request].bytes;
    zeros_.resize(std::max(zeros_.size(), bytes));
    MACE_CL_CHECK(
        "clEnqueueWriteBuffer", "zeros",
        prepared_->api_.clEnqueueWriteBuffer(
            queue, memory_.buffer(), CL_TRUE, plan.memory.offsets[request],
            bytes, zeros_.data(), 0, nullptr, nullptr));
  }
  return MaceStatus();
}

Result<int64_t> ModelTuning::Trial::Run(std::vector<int64_t> *nanos) {
  MACE_ASSIGN_OR_RETURN(const cl_command_queue queue, device()->TimingQueue());
  const std::vector<size_t> &begin = variant().plan.begin;
  nanos->clear();
  int64_t span = 0;
  for (size_t segment = 0; segment + 1 < begin.size(); ++segment) {
    MACE_RETURN_IF_ERROR(ClearImports(segment, queue));
    MACE_ASSIGN_OR_RETURN(const std::vector<KernelTime> times,
                          variant().commands.RunTimed(segment));
    for (const KernelTime &time : times) {
      nanos->push_back(static_cast<int64_t>(time.end - time.start));
    }
    if (!times.empty()) {
      span += static_cast<int64_t>(times.back().end - times.front().start);
    }
  }
  return span;
}

ModelTuning::ModelTuning(PreparedOpencl *prepared,
                         const std::vector<BorderStorage> &border)
    : prepared_(prepared),
      border_(border),
      start_(std::chrono::steady_clock::now()) {}

Result<std::unique_ptr<TuningTrial>> ModelTuning::Make(
    const TunedValues &values) {
  OpenclPlanOptions options = prepared_->partition_->options();
  options.tuned = &values;
  CommandLimits limits;
  limits.records = false;
  // What is tried is not stored.
  ProgramStores stores = prepared_->partition_->device()->stores();
  stores.cache = nullptr;
  MACE_ASSIGN_OR_RETURN(
      auto made, prepared_->NewVariant(border_, options, limits, stores));
  auto trial = std::make_unique<Trial>(prepared_, std::move(made));
  MACE_RETURN_IF_ERROR(trial->Bind());
  return std::unique_ptr<TuningTrial>(std::move(trial));
}

double ModelTuning::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                       start_)
      .count();
}

}  // namespace mace

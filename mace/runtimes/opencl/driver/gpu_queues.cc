// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/driver/gpu_queues.h"

#include <utility>

#include "mace/core/base/logging.h"

namespace mace {

Result<std::unique_ptr<GpuQueues>> GpuQueues::Open(const GpuHints &hints,
                                                   void *given,
                                                   int replay) {
  std::unique_ptr<GpuQueues> queues(new GpuQueues(hints, given != nullptr));
  MACE_RETURN_IF_ERROR(queues->Take(given));
  const bool records = replay < 0 ? queues->device().facts.replay : replay == 1;
  if (records) {
    queues->recorder_ = ClRecorder::Create(*queues->runtime(), queues->queue());
  }
  const std::string remark = queues->HintRemark();
  if (!remark.empty()) VLOG(1) << "GPU: " << remark;
  return std::move(queues);
}

// That of the application, or one of our own.
MaceStatus GpuQueues::Take(void *given) {
  if (given == nullptr) {
    MACE_ASSIGN_OR_RETURN(runtime_, OpenclRuntime::Get(hints_));
    MACE_ASSIGN_OR_RETURN(queue_, MakeQueue(0));
    return MaceStatus();
  }
  const auto queue = static_cast<cl_command_queue>(given);
  MACE_ASSIGN_OR_RETURN(auto runtime, OpenclRuntime::OfQueue(queue));
  const ClApi &api = runtime->api();
  MACE_CL_CHECK("clRetainCommandQueue", "", api.clRetainCommandQueue(queue));
  queue_ = ClQueue(queue, api.clReleaseCommandQueue);
  runtime_ = std::move(runtime);
  return MaceStatus();
}

Result<ClQueue> GpuQueues::MakeQueue(
    cl_command_queue_properties properties) const {
  return CreateQueue(runtime_->api(), runtime_->device(), runtime_->context(),
                     properties, hints_);
}

std::string GpuQueues::HintRemark() const {
  if (is_given_) {
    return hints_ == GpuHints()
               ? std::string()
               : "hints have no effect on the application's queue";
  }
  if (hints_ == runtime_->hints() || !HintsAreOfContext(runtime_->device())) {
    return std::string();
  }
  return MakeString("hints are those of the first engine of the process (",
                    HintsText(runtime_->hints()), "), not ", HintsText(hints_));
}

Result<cl_command_queue> GpuQueues::TimingQueue() {
  if (!timing_queue_) {
    MACE_ASSIGN_OR_RETURN(timing_queue_, MakeQueue(CL_QUEUE_PROFILING_ENABLE));
  }
  return timing_queue_.get();
}

}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/run/gpu_session.h"

#include <cstdint>
#include <string>

#include "mace/core/base/environment.h"
#include "mace/runtimes/opencl_options/file_storage.h"

namespace mace {
namespace {

// Tuned values are those of a GPU, whatever its driver. Adreno's name alone is
// without its number.
std::string TuningName(const GpuDevice &device) {
  std::string name = device.name;
  if (device.traits.family == GpuFamily::kAdreno) name += " " + device.version;
  return MakeString(name, " ", device.traits.compute_units);
}

// For activations and weights.
void UseBuffers(GpuTraits *traits) {
  traits->images = false;
  traits->weight_image_rows = 0;
}

}  // namespace

MaceStatus GpuSession::Open() {
  if (is_open()) return MaceStatus();
  const GpuHints hints = {options_.perf_hint, options_.priority_hint};
  MACE_ASSIGN_OR_RETURN(
      queues_, GpuQueues::Open(hints, options_.queue, options_.replay));
  OpenTunedValues();
  return MaceStatus();
}

MaceStatus GpuSession::OpenShipped() {
  shipped_ = OpenShippedKernels(options_);
  pool_ = ThreadPool::CreateUnbound(1);
  if (pool_ == nullptr) return OutOfResources("no memory for the GPU runtime");
  return MaceStatus();
}

// Where tuned values are measured, those that were shipped count for nothing.
void GpuSession::OpenTunedValues() {
  const bool tuning = options_.tuning && options_.tuning_seconds > 0;
  tuned_ = std::make_unique<TunedParameters>(
      TuningName(queues_->device()),
      tuning ? CreateMemoryStorage({}) : OpenShippedParameters(options_),
      OpenTunedParameters(options_));
  if (tuning) tuning_seconds_ = options_.tuning_seconds;
}

OpenclPlanOptions GpuSession::PlanOptions(const DeploymentHints &hints) const {
  const GpuDevice &device = queues_->device();
  OpenclPlanOptions options;
  options.device = &device;
  options.traits = device.traits;
  options.tuned = tuned_.get();
  const bool half_arithmetic = hints.precision == Precision::kFloat16;
  options.traits.half_storage = half_arithmetic || hints.half_storage;
  options.traits.half_arithmetic =
      half_arithmetic && options.traits.half_arithmetic;
  const OpenclHints of_model = AcceptedOpenclHints(hints);
  const OpenclOptions asked = WithModelHints(options_, of_model);
  options.queue_window = static_cast<size_t>(asked.queue_window_size);
  options.kernel_millis = asked.limit_kernel_time;
  options.check_numerics = options_.out_of_range_check;
  ClMemoryType memory = of_model.memory;
  if (EnvironmentIs("MACE_OPENCL_STORAGE", "buffer")) {
    memory = ClMemoryType::kBuffer;
  }
  if (EnvironmentIs("MACE_OPENCL_STORAGE", "image")) {
    memory = ClMemoryType::kImage;
  }
  if (memory == ClMemoryType::kBuffer) {
    UseBuffers(&options.traits);
  }
  if (memory == ClMemoryType::kImage) {
    options.traits.images = device.image_support;
  }
  if (EnvironmentIs("MACE_OPENCL_BANDS", "0")) {
    options.bands.least_bytes = SIZE_MAX;
  }
  if (EnvironmentIs("MACE_OPENCL_BANDS", "1")) options.bands = {0, 0};
  if (verdict_.in_float) {
    options.traits.half_storage = false;
    options.traits.half_arithmetic = false;
  }
  if (verdict_.in_buffers) UseBuffers(&options.traits);
  return options;
}

}  // namespace mace

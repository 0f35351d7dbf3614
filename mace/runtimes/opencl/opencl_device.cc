// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/opencl_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "mace/core/base/logging.h"
#include "mace/core/graph/node_cost.h"
#include "mace/runtimes/opencl/opencl_partition.h"

namespace mace {
namespace {

// Rough figures for the choice between devices; measured on desktop GPUs and
// reported for those of phones. A launch costs the host this much.
constexpr double kLaunchNanos = 5000;
constexpr double kCopyNanos = 20000;
constexpr double kCopyBytesPerNano = 8;

// Multiply-adds per nanosecond of one compute unit, at the efficiency that
// kernels reach.
double MacsPerNano(GpuFamily family) {
  switch (family) {
    case GpuFamily::kNvidia:
    case GpuFamily::kAmd:
      return 60;
    case GpuFamily::kCpu:
      return 4;
    default:
      return 16;
  }
}

double BytesPerNano(GpuFamily family) {
  const bool desktop =
      family == GpuFamily::kNvidia || family == GpuFamily::kAmd;
  return desktop ? 200 : 10;
}

bool EnvironmentIs(const char *name, const char *value) {
  const char *set = std::getenv(name);
  return set != nullptr && std::strcmp(set, value) == 0;
}

}  // namespace

Result<std::unique_ptr<Device>> OpenclDevice::Create(
    const EngineOptions &options) {
  std::unique_ptr<OpenclDevice> device(new OpenclDevice());
  MACE_ASSIGN_OR_RETURN(device->runtime_, OpenclRuntime::Get());
  MACE_ASSIGN_OR_RETURN(device->queue_, device->MakeQueue(0));
  device->options_ = ReadOpenclOptions(options);
  device->cache_ = OpenKernelCache(device->options_);
  device->shipped_ = OpenShippedKernels(device->options_);
  device->pool_ = ThreadPool::CreateUnbound(1);
  if (device->pool_ == nullptr) {
    return OutOfResources("no memory for the GPU runtime");
  }
  device->place_all_ = EnvironmentIs("MACE_OPENCL_PLACE_ALL", "1");
  return std::unique_ptr<Device>(std::move(device));
}

Result<ClQueue> OpenclDevice::MakeQueue(
    cl_command_queue_properties properties) const {
  const ClApi &api = runtime_->api();
  cl_int error = CL_SUCCESS;
  ClQueue queue(
      api.clCreateCommandQueue(runtime_->context(), runtime_->device().id,
                               properties, &error),
      api.clReleaseCommandQueue);
  MACE_CL_CHECK("clCreateCommandQueue", runtime_->device().name, error);
  return queue;
}

Result<cl_command_queue> OpenclDevice::TimingQueue() {
  if (!timing_queue_) {
    MACE_ASSIGN_OR_RETURN(timing_queue_, MakeQueue(CL_QUEUE_PROFILING_ENABLE));
  }
  return timing_queue_.get();
}

OpenclPlanOptions OpenclDevice::PlanOptions(
    const DeploymentHints &hints) const {
  OpenclPlanOptions options;
  options.device = &runtime_->device();
  options.traits = runtime_->device().traits;
  const bool half_arithmetic = hints.precision == Precision::kFloat16;
  options.traits.half_storage = half_arithmetic || hints.half_storage;
  options.traits.half_arithmetic =
      half_arithmetic && options.traits.half_arithmetic;
  options.queue_window =
      static_cast<size_t>(WithModelHints(options_, hints).queue_window_size);
  ClMemoryType memory = hints.cl_mem_type;
  if (EnvironmentIs("MACE_OPENCL_STORAGE", "buffer")) {
    memory = ClMemoryType::kBuffer;
  }
  if (EnvironmentIs("MACE_OPENCL_STORAGE", "image")) {
    memory = ClMemoryType::kImage;
  }
  if (memory == ClMemoryType::kBuffer) options.traits.images = false;
  if (memory == ClMemoryType::kImage) {
    options.traits.images = runtime_->device().image_support;
  }
  return options;
}

Support OpenclDevice::Supports(const Graph &graph,
                               size_t node,
                               const GraphShapes *shapes) const {
  const OpenclPlanOptions options = PlanOptions(graph.hints());
  auto launches = TryOpenclNode(graph, node, shapes, options);
  if (!launches.ok()) return Support::No(StatusMessage(launches.status()));
  if (shapes == nullptr || place_all_) return Support::Yes(0);
  const NodeCost cost = EstimateCost(graph, node, *shapes);
  const double units = options.traits.compute_units;
  const double compute =
      cost.macs / (MacsPerNano(options.traits.family) * units);
  const double bytes = cost.bytes / BytesPerNano(options.traits.family);
  return Support::Yes(kLaunchNanos *
                          static_cast<double>(launches.value().size()) +
                      std::max(compute, bytes));
}

double OpenclDevice::CopyNanos(int64_t bytes) const {
  if (place_all_) return 0;
  return kCopyNanos + static_cast<double>(bytes) / kCopyBytesPerNano;
}

Result<std::unique_ptr<Partition>> OpenclDevice::Compile(const Graph &graph,
                                                         PartitionSpec spec) {
  return std::unique_ptr<Partition>(std::make_unique<OpenclPartition>(
      graph, std::move(spec), PlanOptions(graph.hints()), this));
}

namespace {

const DeviceRegistration registration(DeviceType::GPU, OpenclDevice::Create);

}  // namespace
}  // namespace mace

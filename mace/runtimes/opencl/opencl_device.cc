// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/opencl_device.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/environment.h"
#include "mace/core/base/logging.h"
#include "mace/core/graph/node_cost.h"
#include "mace/runtimes/opencl/opencl_partition.h"
#include "mace/runtimes/opencl/selftest.h"
#include "mace/runtimes/opencl_options/file_storage.h"

namespace mace {
namespace {

// Rough figures for the choice between devices; measured on desktop GPUs and
// reported for those of phones. A launch costs the host this much.
constexpr double kLaunchNanos = 5000;
constexpr double kCopyNanos = 20000;
constexpr double kCopyBytesPerNano = 8;

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

OpenclDevice::OpenclDevice() = default;
OpenclDevice::~OpenclDevice() = default;

Result<std::unique_ptr<Device>> OpenclDevice::Create(
    const EngineOptions &options) {
  std::unique_ptr<OpenclDevice> device(new OpenclDevice());
  device->options_ = ReadOpenclOptions(options);
  if (options.opens_driver || !device->options_.self_test) {
    MACE_RETURN_IF_ERROR(device->Open());
  }
  device->OpenCache();
  device->shipped_ = OpenShippedKernels(device->options_);
  device->pool_ = ThreadPool::CreateUnbound(1);
  if (device->pool_ == nullptr) {
    return OutOfResources("no memory for the GPU runtime");
  }
  device->place_all_ = EnvironmentIs("MACE_OPENCL_PLACE_ALL", "1");
  return std::unique_ptr<Device>(std::move(device));
}

MaceStatus OpenclDevice::Open() {
  if (runtime_ != nullptr) return MaceStatus();
  MACE_RETURN_IF_ERROR(TakeQueue());
  OpenTunedValues();
  const bool replay = options_.replay < 0 ? runtime_->device().facts.replay
                                          : options_.replay == 1;
  if (replay) recorder_ = ClRecorder::Create(*runtime_, queue_.get());
  const std::string remark = hint_remark();
  if (!remark.empty()) VLOG(1) << "GPU: " << remark;
  return MaceStatus();
}

// That of the application, or one of our own.
MaceStatus OpenclDevice::TakeQueue() {
  if (options_.queue == nullptr) {
    MACE_ASSIGN_OR_RETURN(runtime_, OpenclRuntime::Get(hints()));
    MACE_ASSIGN_OR_RETURN(queue_, MakeQueue(0));
    return MaceStatus();
  }
  const auto queue = static_cast<cl_command_queue>(options_.queue);
  MACE_ASSIGN_OR_RETURN(auto runtime, OpenclRuntime::OfQueue(queue));
  const ClApi &api = runtime->api();
  MACE_CL_CHECK("clRetainCommandQueue", "", api.clRetainCommandQueue(queue));
  queue_ = ClQueue(queue, api.clReleaseCommandQueue);
  runtime_ = std::move(runtime);
  return MaceStatus();
}

MaceStatus OpenclDevice::Start(
    const Graph &graph,
    const std::vector<Shape> &shapes,
    const std::vector<std::vector<DeviceType>> &wishes,
    HostDevice *host) {
  if (runtime_ != nullptr) return MaceStatus();
  auto test = std::make_unique<SelfTest>(this, options_, host);
  MACE_RETURN_IF_ERROR(test->Start(graph, shapes, wishes));
  self_test_ = std::move(test);
  return MaceStatus();
}

// Where tuned values are measured, those that were shipped count for nothing.
void OpenclDevice::OpenTunedValues() {
  const bool tuning = options_.tuning && options_.tuning_seconds > 0;
  tuned_ = std::make_unique<TunedParameters>(
      TuningName(runtime_->device()),
      tuning ? CreateMemoryStorage({}) : OpenShippedParameters(options_),
      OpenTunedParameters(options_));
  if (tuning) tuning_seconds_ = options_.tuning_seconds;
}

Result<ClQueue> OpenclDevice::MakeQueue(
    cl_command_queue_properties properties) const {
  return CreateQueue(runtime_->api(), runtime_->device(), runtime_->context(),
                     properties, hints());
}

std::string OpenclDevice::hint_remark() const {
  if (options_.queue != nullptr) {
    return hints() == GpuHints()
               ? std::string()
               : "hints have no effect on the application's queue";
  }
  if (hints() == runtime_->hints() || !HintsAreOfContext(runtime_->device())) {
    return std::string();
  }
  return MakeString("hints are those of the first engine of the process (",
                    HintsText(runtime_->hints()), "), not ",
                    HintsText(hints()));
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
  options.tuned = tuned_.get();
  const bool half_arithmetic = hints.precision == Precision::kFloat16;
  options.traits.half_storage = half_arithmetic || hints.half_storage;
  options.traits.half_arithmetic =
      half_arithmetic && options.traits.half_arithmetic;
  const OpenclOptions asked = WithModelHints(options_, hints);
  options.queue_window = static_cast<size_t>(asked.queue_window_size);
  options.kernel_millis = asked.limit_kernel_time;
  options.check_numerics = options_.out_of_range_check;
  ClMemoryType memory = hints.cl_mem_type;
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
    options.traits.images = runtime_->device().image_support;
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

Support OpenclDevice::Supports(const Graph &graph,
                               size_t node,
                               const GraphShapes *shapes) const {
  const auto refusal = verdict_.refusals.find(static_cast<int>(node));
  if (refusal != verdict_.refusals.end()) return Support::No(refusal->second);
  const OpenclPlanOptions options = PlanOptions(graph.hints());
  auto launches = TryOpenclNode(graph, node, shapes, options);
  if (!launches.ok()) return Support::No(StatusMessage(launches.status()));
  if (shapes == nullptr || place_all_) return Support::Yes(0);
  const NodeCost cost = EstimateCost(graph, node, *shapes);
  return Support::Yes(kLaunchNanos *
                          static_cast<double>(launches.value().size()) +
                      KernelNanos(cost));
}

double OpenclDevice::KernelNanos(const NodeCost &cost) const {
  const GpuDevice &device = runtime_->device();
  const double compute =
      cost.macs / (device.facts.macs_per_nano * device.traits.compute_units);
  return std::max(compute, cost.bytes / device.facts.bytes_per_nano);
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

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/opencl_device.h"

#include <utility>
#include <vector>

#include "mace/core/base/environment.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/runtimes/opencl/plan/operator_stats.h"
#include "mace/runtimes/opencl/prepared_opencl.h"

namespace mace {
namespace {

// Rough figures for the choice between devices; measured on desktop GPUs and
// reported for those of phones. A launch costs the host this much.
constexpr double kLaunchNanos = 5000;
constexpr double kCopyNanos = 20000;
constexpr double kCopyBytesPerNano = 8;

}  // namespace

Result<std::unique_ptr<Device>> OpenclDevice::Create(
    const EngineOptions &options) {
  std::unique_ptr<OpenclDevice> device(
      new OpenclDevice(ReadOpenclOptions(options)));
  GpuSession &session = device->session_;
  if (options.opens_driver || !session.options().self_test) {
    MACE_RETURN_IF_ERROR(session.Open());
  }
  session.OpenCache();
  MACE_RETURN_IF_ERROR(session.OpenShipped());
  device->place_all_ = EnvironmentIs("MACE_OPENCL_PLACE_ALL", "1");
  return std::unique_ptr<Device>(std::move(device));
}

MaceStatus OpenclDevice::Start(
    const Graph &graph,
    const std::vector<Shape> &shapes,
    const std::vector<std::vector<DeviceType>> &wishes,
    HostDevice *host) {
  if (session_.is_open()) return MaceStatus();
  auto test = std::make_unique<SelfTest>(&session_, this, host);
  MACE_RETURN_IF_ERROR(test->Start(graph, shapes, wishes));
  self_test_ = std::move(test);
  return MaceStatus();
}

Support OpenclDevice::Supports(const Graph &graph,
                               size_t node,
                               const GraphShapes *shapes) const {
  const GpuVerdict &verdict = session_.verdict();
  const auto refusal = verdict.refusals.find(static_cast<int>(node));
  if (refusal != verdict.refusals.end()) return Support::No(refusal->second);
  const OpenclPlanOptions options = session_.PlanOptions(graph.hints());
  auto launches = TryOpenclNode(graph, node, shapes, options);
  if (!launches.ok()) return Support::No(StatusMessage(launches.status()));
  if (shapes == nullptr || place_all_) return Support::Yes(0);
  const NodeCost cost = EstimateCost(graph, node, *shapes);
  return Support::Yes(kLaunchNanos *
                          static_cast<double>(launches.value().size()) +
                      KernelNanos(runtime().device(), cost));
}

double OpenclDevice::CopyNanos(int64_t bytes) const {
  if (place_all_) return 0;
  return kCopyNanos + static_cast<double>(bytes) / kCopyBytesPerNano;
}

Result<std::unique_ptr<Partition>> OpenclDevice::Compile(const Graph &graph,
                                                         PartitionSpec spec) {
  return std::unique_ptr<Partition>(std::make_unique<OpenclPartition>(
      graph, std::move(spec), &session_, self_test_.get()));
}

namespace {

const DeviceRegistration registration(DeviceType::GPU, OpenclDevice::Create);

}  // namespace

Result<std::unique_ptr<PreparedPartition>> OpenclPartition::Prepare(
    const GraphShapes &shapes) {
  auto prepared = std::make_unique<PreparedOpencl>(&partition_, shapes, test_);
  MACE_RETURN_IF_ERROR(prepared->Prepare());
  return std::unique_ptr<PreparedPartition>(std::move(prepared));
}

size_t OpenclPartition::OperatorCount() const {
  size_t count = 0;
  for (const std::vector<int> &segment : partition_.spec.segments) {
    count += segment.size();
  }
  return count;
}

}  // namespace mace

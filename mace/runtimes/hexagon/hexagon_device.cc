// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/hexagon/hexagon_device.h"

#include <algorithm>
#include <utility>

#include "mace/core/graph/graph_shapes.h"
#include "mace/runtimes/hexagon/hexagon_partition.h"
#include "mace/runtimes/hexagon/hexagon_plan.h"

namespace mace {
namespace {

// Rough figures for the choice between devices: of a DSP with four HVX threads
// at 1 GHz, of which each packet has 256 multiply-adds, half of them used.
constexpr double kMacsPerNano = 4 * 256 * 0.5;
constexpr double kBytesPerNano = 8;
constexpr double kInstructionNanos = 1000;
// A remote call, which each segment has; half of it for a copy before it and
// half for one after it.
constexpr double kCallNanos = 100000;

}  // namespace

Result<std::unique_ptr<Device>> HexagonDevice::Create(
    const EngineOptions &options) {
  std::unique_ptr<HexagonDevice> device(new HexagonDevice());
  device->options_ = options.device_options.Get(kHexagonOptions);
  device->pool_ = ThreadPool::CreateUnbound(1);
  if (device->pool_ == nullptr) {
    return OutOfResources("no memory for the DSP runtime");
  }
  if (options.opens_driver) MACE_RETURN_IF_ERROR(device->Open());
  return std::unique_ptr<Device>(std::move(device));
}

MaceStatus HexagonDevice::Open() {
  if (transport_ != nullptr) return MaceStatus();
  MACE_ASSIGN_OR_RETURN(transport_, OpenHexagonTransport(options_));
  return MaceStatus();
}

MaceStatus HexagonDevice::Start(
    const Graph & /*graph*/,
    const std::vector<Shape> & /*shapes*/,
    const std::vector<std::vector<DeviceType>> & /*wishes*/,
    HostDevice * /*host*/) {
  return Open();
}

Support HexagonDevice::Supports(const Graph &graph,
                                size_t node,
                                const GraphShapes *shapes) const {
  const MaceStatus status = TryHexagonNode(graph, node, shapes, once_);
  if (!IsOk(status)) return Support::No(StatusMessage(status));
  if (shapes == nullptr || transport_->is_emulated()) return Support::Yes(0);
  const NodeCost cost = EstimateCost(graph, node, *shapes);
  return Support::Yes(kInstructionNanos + std::max(cost.macs / kMacsPerNano,
                                                   cost.bytes / kBytesPerNano));
}

double HexagonDevice::CopyNanos(int64_t bytes) const {
  if (transport_->is_emulated()) return 0;
  return kCallNanos / 2 + static_cast<double>(bytes) / kBytesPerNano;
}

Result<std::unique_ptr<Partition>> HexagonDevice::Compile(const Graph &graph,
                                                          PartitionSpec spec) {
  return std::unique_ptr<Partition>(std::make_unique<HexagonPartition>(
      graph, std::move(spec), transport_, once_, pool_.get()));
}

namespace {

const DeviceRegistration registration(DeviceType::HEXAGON,
                                      HexagonDevice::Create);

}  // namespace
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// A Hexagon DSP as a device of the engine.

#ifndef MACE_RUNTIMES_HEXAGON_HEXAGON_DEVICE_H_
#define MACE_RUNTIMES_HEXAGON_HEXAGON_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/base/thread_pool.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/engine_options.h"
#include "mace/runtimes/hexagon/hexagon_plan.h"
#include "mace/runtimes/hexagon/transport.h"

namespace mace {

class HexagonDevice final : public Device {
 public:
  static Result<std::unique_ptr<Device>> Create(const EngineOptions &options);

  DeviceType type() const override { return DeviceType::HEXAGON; }
  MaceStatus Start(const Graph &graph,
                   const std::vector<Shape> &shapes,
                   const std::vector<std::vector<DeviceType>> &wishes,
                   HostDevice *host) override;
  Support Supports(const Graph &graph,
                   size_t node,
                   const GraphShapes *shapes) const override;
  double CopyNanos(int64_t bytes) const override;
  Result<std::unique_ptr<Partition>> Compile(const Graph &graph,
                                             PartitionSpec spec) override;

 private:
  HexagonDevice() = default;
  MaceStatus Open();

  HexagonOptions options_;
  std::shared_ptr<HexagonTransport> transport_;
  // Of the engine's model, which is that of all its graphs.
  std::shared_ptr<HexagonOnce> once_ = std::make_shared<HexagonOnce>();
  std::unique_ptr<ThreadPool> pool_;  // of the calling thread alone
};

}  // namespace mace

#endif  // MACE_RUNTIMES_HEXAGON_HEXAGON_DEVICE_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A GPU as a device of the engine.

#ifndef MACE_RUNTIMES_OPENCL_OPENCL_DEVICE_H_
#define MACE_RUNTIMES_OPENCL_OPENCL_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/runtimes/opencl/run/gpu_partition.h"
#include "mace/runtimes/opencl/run/gpu_session.h"
#include "mace/runtimes/opencl/selftest/selftest.h"
#include "mace/runtimes/opencl_options/opencl_options.h"

namespace mace {

class OpenclDevice final : public Device {
 public:
  static Result<std::unique_ptr<Device>> Create(const EngineOptions &options);

  DeviceType type() const override { return DeviceType::GPU; }
  MaceStatus CheckHints(const DeploymentHints &hints) const override {
    return ReadOpenclHints(hints).status();
  }
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

  const OpenclRuntime &runtime() const { return *session_.runtime(); }

 private:
  explicit OpenclDevice(OpenclOptions options) : session_(std::move(options)) {}

  GpuSession session_;
  // Null unless the kernels of a run have to be tested.
  std::unique_ptr<SelfTest> self_test_;
  bool place_all_ = false;  // whatever the host would take
};

// The operators of a graph that run on the GPU, as the engine knows them.

class OpenclPartition final : public Partition {
 public:
  // All must outlive the object. `test`: null unless kernels have to be tested
  // before they run.
  OpenclPartition(const Graph &graph,
                  PartitionSpec spec,
                  GpuSession *session,
                  SelfTest *test)
      : partition_(graph, std::move(spec), session), test_(test) {}

  Result<std::unique_ptr<PreparedPartition>> Prepare(
      const GraphShapes &shapes) override;
  size_t PreparedBytes() const override { return partition_.constants.bytes(); }
  size_t OperatorCount() const override;

 private:
  GpuPartition partition_;
  SelfTest *test_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_OPENCL_DEVICE_H_

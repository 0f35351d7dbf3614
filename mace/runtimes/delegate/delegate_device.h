// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A delegate as a device of the engine: one class for all accelerators.

#ifndef MACE_RUNTIMES_DELEGATE_DELEGATE_DEVICE_H_
#define MACE_RUNTIMES_DELEGATE_DELEGATE_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "mace/core/base/status.h"
#include "mace/core/base/thread_pool.h"
#include "mace/core/graph/device.h"
#include "mace/public/mace_delegate.h"
#include "mace/runtimes/delegate/compiled_cache.h"
#include "mace/runtimes/delegate/plain_constants.h"
#include "mace/runtimes/delegate/segment_description.h"

namespace mace {

class DelegateDevice final : public Device {
 public:
  static Result<std::unique_ptr<Device>> Create(DeviceType type,
                                                DelegateFactory factory,
                                                const EngineOptions &options);

  DeviceType type() const override { return type_; }
  // Says yes where shapes are not known: Prepare of the partition asks again.
  Support Supports(const Graph &graph,
                   size_t node,
                   const GraphShapes *shapes) const override;
  double CopyNanos(int64_t bytes) const override {
    return place_all_ ? 0 : delegate_->CopyNanos(bytes);
  }
  Result<std::unique_ptr<Partition>> Compile(const Graph &graph,
                                             PartitionSpec spec) override;

  // Why the delegate does not compute the node, for these shapes; empty if it
  // does.
  std::string Refusal(const Graph &graph,
                      size_t node,
                      const GraphShapes &shapes) const;

  Delegate *delegate() const { return delegate_.get(); }
  CompiledCache *cache() const { return cache_.get(); }
  PlainConstants *constants() const { return &constants_; }
  ThreadPool *pool() const { return pool_.get(); }
  bool check_numerics() const { return check_numerics_; }

 private:
  DelegateDevice() = default;

  Support Ask(const Graph &graph,
              const GraphShapes &shapes,
              const SegmentNodes &one) const;

  DeviceType type_ = NPU;
  bool check_numerics_ = false;
  bool place_all_ = false;  // whatever the delegate says of times
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<CompiledCache> cache_;
  std::unique_ptr<Delegate> delegate_;
  mutable PlainConstants constants_;
  // By operator and shapes, so that a delegate is asked once.
  mutable std::map<std::string, Support> verdicts_;
};

// Makes a delegate of MACE the default one of its type; at namespace scope in a
// .cc file.
class DelegateRegistration {
 public:
  DelegateRegistration(RuntimeType type, DelegateFactory factory);
};

}  // namespace mace

#endif  // MACE_RUNTIMES_DELEGATE_DELEGATE_DEVICE_H_

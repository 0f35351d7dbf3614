// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/delegate/delegate_device.h"

#include <mutex>
#include <utility>
#include <vector>

#include "mace/core/base/environment.h"
#include "mace/runtimes/delegate/accelerator_options.h"
#include "mace/runtimes/delegate/delegate_partition.h"
#include "mace/runtimes/delegate/segment_description.h"

namespace mace {
namespace {

// Tensors that no accelerator's interface takes.
std::string ProblemWithTensors(const DelegateSegment &segment) {
  for (const DelegateTensor &tensor : segment.tensors) {
    for (int64_t dim : tensor.shape) {
      if (dim == 0) {
        return MakeString("it takes no tensor without elements ('", tensor.name,
                          "')");
      }
    }
  }
  return std::string();
}

}  // namespace

Result<std::unique_ptr<Device>> DelegateDevice::Create(
    DeviceType type, DelegateFactory factory, const EngineOptions &options) {
  const auto given = options.device_options.Get(kAcceleratorOptions);
  const AcceleratorOptions asked =
      given == nullptr ? AcceleratorOptions() : *given;
  std::unique_ptr<DelegateDevice> device(new DelegateDevice());
  device->type_ = type;
  device->check_numerics_ = options.check_numerics;
  device->place_all_ = EnvironmentIs("MACE_DELEGATE_PLACE_ALL", "1");
  MACE_RETURN_IF_ERROR(factory(asked.delegate, &device->delegate_));
  if (device->delegate_ == nullptr) {
    return RuntimeError("the factory of the delegate made none");
  }
  device->pool_ = ThreadPool::CreateUnbound(1);
  if (device->pool_ == nullptr) {
    return OutOfResources("no memory for the ", DeviceName(type), " runtime");
  }
  device->cache_ = std::make_unique<CompiledCache>(asked);
  return std::unique_ptr<Device>(std::move(device));
}

Support DelegateDevice::Supports(const Graph &graph,
                                 size_t node,
                                 const GraphShapes *shapes) const {
  if (shapes == nullptr) return Support::Yes(0);
  const SegmentNodes one = NodesOf(graph, *shapes, {static_cast<int>(node)});
  if (one.nodes.empty()) return Support::Yes(0);
  Result<DelegateSegment> outline =
      Describe(graph, *shapes, one, nullptr, DescribedElements::kNone);
  if (!outline.ok()) return Support::No(StatusMessage(outline.status()));
  const std::string key = MakeString(node, " ", Fingerprint(outline.value()));
  const auto found = verdicts_.find(key);
  if (found != verdicts_.end()) return found->second;
  const Support support = Ask(graph, *shapes, one);
  constants_.DropSamples();
  return verdicts_.emplace(key, support).first->second;
}

Support DelegateDevice::Ask(const Graph &graph,
                            const GraphShapes &shapes,
                            const SegmentNodes &one) const {
  Result<DelegateSegment> segment =
      Describe(graph, shapes, one, constants(), DescribedElements::kSample);
  if (!segment.ok()) return Support::No(StatusMessage(segment.status()));
  std::string reason = ProblemWithTensors(segment.value());
  if (reason.empty()) reason = delegate_->Refusal(segment.value());
  if (!reason.empty()) return Support::No(reason);
  return Support::Yes(place_all_ ? 0
                                 : delegate_->EstimateNanos(segment.value()));
}

std::string DelegateDevice::Refusal(const Graph &graph,
                                    size_t node,
                                    const GraphShapes &shapes) const {
  const Support support = Supports(graph, node, &shapes);
  return support.supported ? std::string() : support.reason;
}

Result<std::unique_ptr<Partition>> DelegateDevice::Compile(const Graph &graph,
                                                           PartitionSpec spec) {
  return std::unique_ptr<Partition>(
      std::make_unique<DelegatePartition>(graph, std::move(spec), this));
}

namespace {

constexpr RuntimeType kTypes[] = {RT_HTA, RT_APU, RT_HTP, RT_NPU};
constexpr size_t kTypeCount = sizeof(kTypes) / sizeof(kTypes[0]);

// Static, so that it is there before the first registration and after the last
// engine.
struct Factories {
  std::mutex mutex;
  DelegateFactory factories[kTypeCount] = {};
};
Factories &AllFactories() {
  static auto *factories = new Factories;
  return *factories;
}

template <size_t kIndex>
Result<std::unique_ptr<Device>> CreateDevice(const EngineOptions &options) {
  DelegateFactory factory = nullptr;
  {
    Factories &all = AllFactories();
    const std::lock_guard<std::mutex> lock(all.mutex);
    factory = all.factories[kIndex];
  }
  return DelegateDevice::Create(static_cast<DeviceType>(kTypes[kIndex]),
                                factory, options);
}

constexpr DeviceRegistration::Factory kCreate[kTypeCount] = {
    CreateDevice<0>, CreateDevice<1>, CreateDevice<2>, CreateDevice<3>};

// Registrations of devices are never removed.
void SetFactory(size_t index, DelegateFactory factory, bool may_replace) {
  Factories &all = AllFactories();
  const std::lock_guard<std::mutex> lock(all.mutex);
  DelegateFactory &current = all.factories[index];
  if (current == nullptr) {
    // Part of a list that lives as long as the process.
    new DeviceRegistration(static_cast<DeviceType>(kTypes[index]),
                           kCreate[index]);
  } else if (!may_replace) {
    return;
  }
  current = factory;
}

}  // namespace

DelegateRegistration::DelegateRegistration(RuntimeType type,
                                           DelegateFactory factory) {
  for (size_t i = 0; i < kTypeCount; ++i) {
    if (kTypes[i] == type) SetFactory(i, factory, false);
  }
}

namespace accelerator {

MaceStatus RegisterFactory(RuntimeType runtime_type, DelegateFactory factory) {
  if (factory == nullptr) return InvalidArgs("the delegate's factory is null");
  for (size_t i = 0; i < kTypeCount; ++i) {
    if (kTypes[i] != runtime_type) continue;
    try {
      SetFactory(i, factory, true);
      return MaceStatus();
    } catch (...) {
      return CurrentExceptionStatus();
    }
  }
  return InvalidArgs("no delegate can be registered for runtime ",
                     static_cast<int>(runtime_type),
                     "; accepted: RT_HTA, RT_APU, RT_HTP, RT_NPU");
}

}  // namespace accelerator
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/testing/fake_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include "mace/core/base/pages.h"
#include "mace/core/graph/device.h"
#include "mace/runtimes/cpu/cpu_device.h"
#include "mace/runtimes/cpu/cpu_partition.h"

namespace mace {
namespace core_test {
namespace {

FakeDeviceSettings g_settings;
int64_t g_calls = 0;

// Every call of a device calls this.
MaceStatus Called(const char *what) {
  ++g_calls;
  if (g_calls != g_settings.failing_call) return MaceStatus();
  return RuntimeError("the fake device fails call ", g_calls, " (", what, ")");
}

bool Fits(const GraphNode &node, const GraphShapes &shapes) {
  return g_settings.fits == nullptr ||
         g_settings.fits(shapes.tensors[node.outputs[0]].shape);
}

// Access faults except while a MemoryAccess exists.
class FakeMemory final : public CpuMemory {
 public:
  ~FakeMemory() override { Unmap(); }
  size_t bytes() const override { return bytes_; }
  void *data() const override { return data_; }
  bool Allocate(size_t bytes) override {
    Unmap();
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    mapped_ = (bytes + page - 1) / page * page;
    if (mapped_ == 0) return true;
    void *data = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return false;
    data_ = data;
    bytes_ = bytes;
    return true;
  }
  void Protect(bool on) {
    if (data_ == nullptr) return;
    mprotect(data_, mapped_, on ? PROT_NONE : PROT_READ | PROT_WRITE);
  }

 private:
  void Unmap() {
    if (data_ != nullptr) munmap(data_, mapped_);
    data_ = nullptr;
    bytes_ = 0;
  }

  void *data_ = nullptr;
  size_t bytes_ = 0;
  size_t mapped_ = 0;
};

class MemoryAccess {
 public:
  explicit MemoryAccess(Arena *arena)
      : memory_(static_cast<FakeMemory *>(arena->MemoryOf(APU).get())) {
    if (memory_ != nullptr) memory_->Protect(false);
  }
  ~MemoryAccess() {
    if (memory_ != nullptr) memory_->Protect(true);
  }

 private:
  FakeMemory *memory_;
};

class FakePrepared final : public PreparedPartition {
 public:
  explicit FakePrepared(std::unique_ptr<PreparedPartition> cpu)
      : cpu_(std::move(cpu)) {}

  MaceStatus Bind(const std::vector<CallerTensor> &, Arena *arena) override {
    MACE_RETURN_IF_ERROR(Called("Bind"));
    queue_.clear();
    arena_ = arena;
    MemoryAccess access(arena);
    const MaceStatus status = cpu_->Bind({}, arena);
    // Newly allocated memory is still accessible.
    MemoryAccess again(arena);
    return status;
  }
  MaceStatus CopyIn(int tensor, const HostTensor &from) override {
    MACE_RETURN_IF_ERROR(Called("CopyIn"));
    MACE_RETURN_IF_ERROR(Finish());
    MemoryAccess access(arena_);
    return cpu_->CopyIn(tensor, from);
  }
  MaceStatus CopyOut(int tensor, const HostTensor &to) override {
    MACE_RETURN_IF_ERROR(Called("CopyOut"));
    MemoryAccess access(arena_);
    return cpu_->CopyOut(tensor, to);
  }
  MaceStatus Enqueue(size_t segment, const RunTrace *trace) override {
    MACE_RETURN_IF_ERROR(Called("Enqueue"));
    queue_.emplace_back(segment, trace);
    return MaceStatus();
  }
  MaceStatus Wait() override {
    MACE_RETURN_IF_ERROR(Called("Wait"));
    return Finish();
  }
  const Shape *RunShape(int tensor) const override {
    return cpu_->RunShape(tensor);
  }
  std::vector<OperatorNote> Explain() const override { return cpu_->Explain(); }
  size_t TensorBytes() const override { return cpu_->TensorBytes(); }

 private:
  MaceStatus Finish() {
    const auto queue = std::move(queue_);
    queue_.clear();
    MemoryAccess access(arena_);
    for (const auto &[segment, trace] : queue) {
      MACE_RETURN_IF_ERROR(cpu_->Enqueue(segment, trace));
    }
    return MaceStatus();
  }

  std::unique_ptr<PreparedPartition> cpu_;
  Arena *arena_ = nullptr;
  std::vector<std::pair<size_t, const RunTrace *>> queue_;
};

class FakePartition final : public Partition {
 public:
  FakePartition(const Graph &graph,
                PartitionSpec spec,
                std::unique_ptr<Partition> cpu)
      : graph_(graph), spec_(std::move(spec)), cpu_(std::move(cpu)) {}

  Result<std::unique_ptr<PreparedPartition>> Prepare(
      const GraphShapes &shapes) override {
    MACE_RETURN_IF_ERROR(Called("Prepare"));
    for (const std::vector<int> &segment : spec_.segments) {
      for (int node : segment) {
        if (!Fits(graph_.nodes()[node], shapes)) {
          return Unsupported("the fake device does not take such a shape");
        }
      }
    }
    MACE_ASSIGN_OR_RETURN(std::unique_ptr<PreparedPartition> prepared,
                          cpu_->Prepare(shapes));
    return std::unique_ptr<PreparedPartition>(
        std::make_unique<FakePrepared>(std::move(prepared)));
  }
  size_t OperatorCount() const override { return cpu_->OperatorCount(); }

 private:
  const Graph &graph_;
  PartitionSpec spec_;
  std::unique_ptr<Partition> cpu_;
};

class FakeDevice final : public Device {
 public:
  static Result<std::unique_ptr<Device>> Create(const EngineOptions &options) {
    MACE_RETURN_IF_ERROR(Called("Create"));
    MACE_ASSIGN_OR_RETURN(std::unique_ptr<Device> cpu,
                          CpuDevice::Create(options));
    return std::unique_ptr<Device>(
        std::make_unique<FakeDevice>(std::move(cpu)));
  }
  explicit FakeDevice(std::unique_ptr<Device> cpu) : cpu_(std::move(cpu)) {}

  DeviceType type() const override { return APU; }
  Support Supports(const Graph &graph,
                   size_t node,
                   const GraphShapes *shapes) const override {
    if (g_settings.takes == nullptr ||
        !g_settings.takes(node, graph.nodes()[node])) {
      return Support::No("the test leaves it to the host");
    }
    if (shapes != nullptr && !Fits(graph.nodes()[node], *shapes)) {
      return Support::No("the shape does not fit");
    }
    return Support::Yes(g_settings.operator_nanos);
  }
  double CopyNanos(int64_t) const override { return g_settings.copy_nanos; }
  Result<std::unique_ptr<Partition>> Compile(const Graph &graph,
                                             PartitionSpec spec) override {
    MACE_RETURN_IF_ERROR(Called("Compile"));
    CpuPartitionOptions options =
        static_cast<CpuDevice *>(cpu_.get())->PartitionOptions(graph);
    options.device = APU;
    options.make_memory = []() -> std::unique_ptr<CpuMemory> {
      return std::make_unique<FakeMemory>();
    };
    MACE_ASSIGN_OR_RETURN(std::unique_ptr<Partition> partition,
                          CpuPartition::Create(graph, spec, options));
    return std::unique_ptr<Partition>(std::make_unique<FakePartition>(
        graph, std::move(spec), std::move(partition)));
  }

 private:
  std::unique_ptr<Device> cpu_;
};

const DeviceRegistration registration(APU, FakeDevice::Create);

}  // namespace

FakeDeviceControl::FakeDeviceControl(const FakeDeviceSettings &settings) {
  g_settings = settings;
  g_calls = 0;
}

FakeDeviceControl::~FakeDeviceControl() { g_settings = FakeDeviceSettings(); }

int64_t FakeDeviceControl::calls() { return g_calls; }

void FakeDeviceControl::FailCall(int64_t number) {
  g_calls = 0;
  g_settings.failing_call = number;
}

FakeDeviceSettings Taking(bool (*takes)(size_t, const GraphNode &)) {
  FakeDeviceSettings settings;
  settings.takes = takes;
  return settings;
}

bool TakesEverySecond(size_t index, const GraphNode &) {
  return index % 2 == 0;
}

bool TakesAll(size_t, const GraphNode &) { return true; }

}  // namespace core_test
}  // namespace mace

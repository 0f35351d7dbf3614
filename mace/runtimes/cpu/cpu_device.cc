// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/cpu/cpu_device.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "mace/core/base/cpu_topology.h"
#include "mace/core/base/heap_sort.h"
#include "mace/core/base/logging.h"
#include "mace/core/base/pages.h"
#include "mace/core/base/subnormals.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/kernels/cpu/half_arithmetic.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/plan_record.h"

namespace mace {
namespace {

// Constants that are at most this far apart are mapped together.
constexpr ptrdiff_t kMaxGap = 4096;

// A rough figure for the choice between devices: the multiply-adds per
// nanosecond of one core of a phone that is several years old.
constexpr double kMacsPerNano = 8;
constexpr double kBytesPerNano = 8;
constexpr double kOperatorNanos = 500;

// Maps the pages of constants that operators of this graph read, and not those
// of other constants.
void MapConstants(const Graph &graph, ThreadPool *pool) {
  using Range = std::pair<const char *, const char *>;
  std::vector<Range> ranges;
  for (const GraphTensor &entry : graph.tensors()) {
    if (!entry.tensor.is_constant || entry.stored_bytes <= 0) continue;
    const char *begin = static_cast<const char *>(entry.tensor.data);
    ranges.emplace_back(begin, begin + entry.stored_bytes);
  }
  HeapSort(ranges.begin(), ranges.end());
  if (ranges.empty()) return;
  Range joined = ranges.front();
  const auto map = [&] {
    MapPagesToRead(joined.first,
                   static_cast<size_t>(joined.second - joined.first), pool);
  };
  for (const Range &range : ranges) {
    if (range.first - joined.second < kMaxGap) {
      joined.second = std::max(joined.second, range.second);
    } else {
      map();
      joined = range;
    }
  }
  map();
}

// The context of an operator that is computed before the run.
class KnownPlanContext final : public RecordingPlanContext {
 public:
  KnownPlanContext(const GraphNode &node,
                   std::vector<Tensor> *tensors,
                   ThreadPool *pool,
                   PlanRecord *record)
      : RecordingPlanContext(pool, record), node_(node), tensors_(tensors) {}

  size_t input_count() const override { return node_.inputs.size(); }
  size_t output_count() const override { return node_.outputs.size(); }
  const Tensor *input(size_t index) const override {
    return TensorAt(*tensors_, node_.inputs, index);
  }
  const Tensor *output(size_t index) const override {
    return TensorAt(*tensors_, node_.outputs, index);
  }

 private:
  const GraphNode &node_;
  std::vector<Tensor> *tensors_;
};

class KnownRunContext final : public RunContext {
 public:
  KnownRunContext(const GraphNode &node,
                  std::vector<Tensor> *tensors,
                  const OpPlan *plan,
                  void *scratch,
                  ThreadPool *pool)
      : node_(node),
        tensors_(tensors),
        plan_(plan),
        scratch_(scratch),
        pool_(pool) {}

  size_t input_count() const override { return node_.inputs.size(); }
  size_t output_count() const override { return node_.outputs.size(); }
  const Tensor *input(size_t index) const override {
    return TensorAt(*tensors_, node_.inputs, index);
  }
  Tensor *output(size_t index) const override {
    return TensorAt(*tensors_, node_.outputs, index);
  }
  void *scratch() const override { return scratch_; }
  ThreadPool *thread_pool() const override { return pool_; }
  const OpPlan *plan() const override { return plan_; }

 private:
  const GraphNode &node_;
  std::vector<Tensor> *tensors_;
  const OpPlan *plan_;
  void *scratch_;
  ThreadPool *pool_;
};

}  // namespace

class CpuInitContext final : public InitContext {
 public:
  CpuInitContext(CpuDevice *device,
                 const Graph &graph,
                 const OperatorDef &def,
                 const OpAttributes &attributes,
                 const std::vector<int> &inputs)
      : device_(device),
        graph_(graph),
        def_(def),
        attributes_(attributes),
        inputs_(inputs) {}

  const OperatorDef &def() const override { return def_; }
  const OpAttributes &attributes() const override { return attributes_; }
  const DeploymentHints &hints() const override { return graph_.hints(); }
  size_t input_count() const override { return inputs_.size(); }
  const Tensor *constant(size_t index) const override {
    if (!has_input(index)) return nullptr;
    const auto id = static_cast<size_t>(inputs_[index]);
    if (id >= graph_.tensors().size()) return nullptr;
    const Tensor &tensor = graph_.tensors()[id].tensor;
    return tensor.is_constant ? &tensor : nullptr;
  }
  bool has_input(size_t index) const override {
    return index < inputs_.size() && inputs_[index] >= 0;
  }
  CpuIsa isa() const override { return device_->isa_; }
  ThreadPool *thread_pool() const override { return device_->pool_.get(); }
  void *AllocatePrepared(size_t bytes) override {
    return graph_.prepared()->Allocate(bytes, bytes);
  }

 private:
  CpuDevice *device_;
  const Graph &graph_;
  const OperatorDef &def_;
  const OpAttributes &attributes_;
  const std::vector<int> &inputs_;
};

Result<std::unique_ptr<Device>> CpuDevice::Create(
    const EngineOptions &options) {
  const CpuIsaChoice choice = ChooseCpuIsaFromEnv();
  if (choice.isa == CpuIsa::kNone) {
    return Unsupported(
        "this processor has none of the instruction sets that the library was "
        "built for: ",
        kCpuIsaNames);
  }
  if (choice.request == CpuIsaRequest::kUnknown ||
      choice.request == CpuIsaRequest::kUnsupported) {
    LOG(WARNING) << "MACE_CPU_ISA=" << std::getenv("MACE_CPU_ISA")
                 << (choice.request == CpuIsaRequest::kUnknown
                         ? " is not known"
                         : " can't run on this processor")
                 << " (known: " << kCpuIsaNames << "); "
                 << CpuIsaName(choice.isa) << " is used";
  }
  VLOG(1) << "CPU runtime: " << CpuIsaName(choice.isa);
  int threads = options.num_threads;
  if (!options.has_thread_policy) {
    threads = PlaceThreadsHere(0, AFFINITY_BIG_ONLY).threads;
  }
  std::unique_ptr<ThreadPool> pool =
      ThreadPool::Create(threads, options.affinity);
  if (pool == nullptr) {
    return OutOfResources("the threads of the engine can't be started");
  }
  std::unique_ptr<CpuDevice> device(new CpuDevice(choice.isa, std::move(pool)));
  device->row_bands_ = options.row_bands;
  device->check_numerics_ = options.check_numerics;
  return std::unique_ptr<Device>(std::move(device));
}

MaceStatus CpuDevice::CheckHints(const DeploymentHints &hints) const {
  const bool bf16 = hints.precision == Precision::kBfloat16;
  const bool fp16 = hints.precision == Precision::kFloat16;
  const char *lacks = nullptr;
  if (bf16 && !HasBf16(isa_)) lacks = "bf16";
  if (fp16 && !HasFp16(isa_)) lacks = "fp16";
  if (lacks != nullptr) {
    LOG(WARNING) << "the model asks for " << lacks << " arithmetic, which "
                 << CpuIsaName(isa_)
                 << " lacks: it computes in float32 with the " << lacks
                 << " weights";
  } else if (fp16 && !HalfKernelsAreLinked()) {
    LOG(WARNING) << "the model asks for fp16 arithmetic, but this library was "
                    "built without the operator Cast, which that needs: it "
                    "computes in float32 with the fp16 weights";
  }
  if (bf16 && PermittedIsa(isa_) != isa_) {
    LOG(WARNING) << "the operating system refuses the registers of "
                 << CpuIsaName(isa_) << ", which a thread's alternate signal "
                 << "stack may be too small for: bf16 products run with "
                 << CpuIsaName(PermittedIsa(isa_));
  }
  return MaceStatus();
}

Support CpuDevice::Supports(const Graph &graph,
                            size_t node,
                            const GraphShapes *shapes) const {
  if (shapes == nullptr) return Support::Yes(0);
  const NodeCost cost = EstimateCost(graph, node, *shapes);
  const auto threads = static_cast<double>(pool_->thread_count());
  return Support::Yes(kOperatorNanos +
                      std::max(cost.macs / (kMacsPerNano * threads),
                               cost.bytes / kBytesPerNano));
}

Result<std::unique_ptr<Partition>> CpuDevice::Compile(const Graph &graph,
                                                      PartitionSpec spec) {
  return CpuPartition::Create(graph, spec, PartitionOptions(graph));
}

CpuPartitionOptions CpuDevice::PartitionOptions(const Graph &graph) {
  CpuPartitionOptions options;
  options.pool = pool_.get();
  options.row_bands = row_bands_;
  options.check_numerics = check_numerics_;
  options.make_op =
      [this, &graph](const OperatorDef &def) -> Result<std::unique_ptr<Op>> {
    const OpRegistration *entry = OpRegistration::Find(def.type, CPU);
    if (entry == nullptr) {
      return Unsupported("the model computes in ",
                         DataTypeName(StorageType(graph.hints().precision)),
                         ", for which this library lacks the operator ",
                         def.type, "; build it with that operator too");
    }
    ParsedAttributes attributes;
    MACE_RETURN_IF_ERROR(attributes.Parse(*entry->schema(), def));
    // The operator reads one tensor, which is not a constant.
    return MakeOp(graph, def, attributes.get(),
                  {static_cast<int>(graph.tensors().size())});
  };
  return options;
}

Result<std::unique_ptr<Op>> CpuDevice::MakeOp(const Graph &graph,
                                              const OperatorDef &def,
                                              const OpAttributes &attributes,
                                              const std::vector<int> &inputs) {
  const OpRegistration &registration = *OpRegistration::For(def, CPU);
  std::unique_ptr<Op> op = registration.factory()();
  CpuInitContext context(this, graph, def, attributes, inputs);
  // All operators that are registered for the CPU are CpuOps.
  MACE_RETURN_IF_ERROR(AtOperator(def, static_cast<CpuOp *>(op.get())->Init(
                                           *registration.schema(), &context)));
  return op;
}

MaceStatus CpuDevice::MakeOps(Graph *graph) {
  const FlushSubnormals flush;
  MapConstants(*graph, pool_.get());
  for (GraphNode &node : graph->nodes()) {
    MACE_ASSIGN_OR_RETURN(
        node.op, MakeOp(*graph, *node.def, node.attributes.get(), node.inputs));
  }
  return MaceStatus::MACE_SUCCESS;
}

bool CpuDevice::CanCompute(const GraphNode &node) const {
  const OpSignature *signature =
      static_cast<const CpuOp *>(node.op.get())->signature();
  return signature == nullptr || signature->follows_inputs;
}

MaceStatus CpuDevice::Compute(const Graph &graph,
                              size_t node_index,
                              std::vector<Tensor> *tensors) {
  const FlushSubnormals flush;
  const GraphNode &node = graph.nodes()[node_index];
  auto *op = static_cast<CpuOp *>(node.op.get());
  PlanRecord record;
  KnownPlanContext planned(node, tensors, pool_.get(), &record);
  MACE_RETURN_IF_ERROR(op->Plan(&planned));
  for (auto &[bytes, fill] : record.prepared) {
    MACE_RETURN_IF_ERROR(fill(graph.prepared()->Allocate(bytes, bytes)));
  }
  AlignedMemory scratch;
  if (!scratch.Allocate(record.scratch_bytes)) {
    return OutOfResources("no memory for ", record.scratch_bytes,
                          " bytes of scratch");
  }
  KnownRunContext context(node, tensors, record.plan.get(), scratch.data(),
                          pool_.get());
  return op->Run(&context);
}

namespace {

const DeviceRegistration registration(CPU, CpuDevice::Create);

}  // namespace
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/selftest/kernel_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "mace/core/base/half.h"
#include "mace/core/base/logging.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/core/graph/placement.h"
#include "mace/runtimes/opencl/driver/gpu_program.h"
#include "mace/runtimes/opencl/run/opencl_memory.h"
#include "mace/runtimes/opencl/run/tensor_copy.h"
#include "mace/runtimes/opencl/tune/model_tuning.h"

namespace mace {
namespace {

constexpr double kFloatError = 1e-3;
constexpr double kHalfStorageError = 1e-2;
constexpr double kCoarseError = 5e-2;
// Of results near 0.
constexpr double kLeastError = 1e-6;
// Results of half storage beyond it may be infinite.
constexpr double kMostInHalf = 60000;
// Each round moves operators to the CPU, and so changes the borders of others.
constexpr int kMaxRounds = 8;

// Begins the variant of a compilation.
constexpr char kCompilation[] = "compile ";

// Launches of one operator, of two that are fused, or of several that run band
// by band.
struct Group {
  size_t begin;
  size_t end;
  std::string variant;
  double work;
};

class Generator {
 public:
  float Float() {  // [-1, 1)
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<int32_t>(state_ >> 32)) * 0x1p-31f;
  }

 private:
  uint64_t state_ = 1;
};

bool IsHalf(GpuStorage storage) {
  return StorageElement(storage) == DataType::kFloat16;
}

// What a test reads and writes on the host.
class HostTensors {
 public:
  explicit HostTensors(const GraphShapes &shapes) : tensors_(shapes.tensors) {}

  bool Allocate(int id) {
    Tensor &tensor = tensors_[static_cast<size_t>(id)];
    AlignedMemory memory;
    // Kernels of the CPU may read up to a whole vector.
    if (!memory.Allocate(AlignUp(static_cast<size_t>(tensor.bytes()) + 1))) {
      return false;
    }
    tensor.data = memory.data();
    memory_.push_back(std::move(memory));
    return true;
  }
  void Fill(int id, bool to_half, bool zeros) {
    Tensor &tensor = tensors_[static_cast<size_t>(id)];
    Generator generator;
    const auto bytes = static_cast<size_t>(tensor.bytes());
    if (tensor.data_type == DataType::kFloat32) {
      for (int64_t i = 0; i < tensor.elements(); ++i) {
        const float value = generator.Float();
        tensor.MutableAs<float>()[i] =
            to_half ? HalfToFloat(FloatToHalf(value)) : value;
      }
      return;
    }
    std::memset(tensor.data, 0, bytes);
    const size_t size = DataTypeSize(tensor.data_type);
    for (size_t i = 0; !zeros && i < bytes; i += size) {
      tensor.MutableAs<uint8_t>()[i] = generator.Float() < 0 ? 1 : 0;
    }
  }
  std::vector<Tensor> *all() { return &tensors_; }
  const Tensor &at(int id) const { return tensors_[static_cast<size_t>(id)]; }
  std::vector<uint8_t> BytesOf(int id) const {
    const Tensor &tensor = at(id);
    return std::vector<uint8_t>(tensor.As<uint8_t>(),
                                tensor.As<uint8_t>() + tensor.bytes());
  }

 private:
  std::vector<Tensor> tensors_;
  std::vector<AlignedMemory> memory_;
};

// Why the result is wrong; empty if it is right.
std::string CompareFloats(const Tensor &wanted,
                          const std::vector<uint8_t> &bytes,
                          double error,
                          bool half) {
  const auto count = static_cast<size_t>(wanted.elements());
  const auto *values = wanted.As<float>();
  double largest = 0;
  for (size_t i = 0; i < count; ++i) {
    if (std::isfinite(values[i])) {
      largest = std::max(largest, std::fabs(static_cast<double>(values[i])));
    }
  }
  if (half && largest > kMostInHalf) return std::string();
  const double most = error * largest + kLeastError;
  for (size_t i = 0; i < count; ++i) {
    if (!std::isfinite(values[i])) continue;
    float found = 0;
    std::memcpy(&found, &bytes[i * sizeof(found)], sizeof(found));
    // Also false for NaN.
    if (std::fabs(static_cast<double>(found) - values[i]) <= most) continue;
    return MakeString(
        "it gives ", std::isnan(found) ? std::string("NaN") : MakeString(found),
        " instead of ", values[i], " for element ", i, " of '", wanted.name,
        "' ", wanted.shape.ToString());
  }
  return std::string();
}

std::string CompareIntegers(const Tensor &wanted,
                            const std::vector<uint8_t> &bytes) {
  const auto value = [&](const uint8_t *data, size_t i) -> int64_t {
    switch (wanted.data_type) {
      case DataType::kInt8:
        return reinterpret_cast<const int8_t *>(data)[i];
      case DataType::kInt32: {
        int32_t number = 0;
        std::memcpy(&number, data + i * sizeof(number), sizeof(number));
        return number;
      }
      default:
        return data[i];
    }
  };
  const bool rounded = wanted.data_type == DataType::kInt8 ||
                       wanted.data_type == DataType::kUint8;
  for (size_t i = 0; i < static_cast<size_t>(wanted.elements()); ++i) {
    const int64_t found = value(bytes.data(), i);
    const int64_t right = value(wanted.As<uint8_t>(), i);
    if (std::llabs(found - right) <= (rounded ? 1 : 0)) continue;
    return MakeString("it gives ", found, " instead of ", right,
                      " for element ", i, " of '", wanted.name, "' ",
                      wanted.shape.ToString());
  }
  return std::string();
}

void Refuse(const GpuDevice &gpu,
            const std::vector<int> &nodes,
            const std::string &reason,
            GpuVerdict *verdict) {
  for (int node : nodes) {
    verdict->refusals.emplace(
        node, MakeString("self-test: ", reason, " (", gpu.name, ", driver ",
                         gpu.driver_version, ")"));
  }
}

// The test of a plan that is bound to memory.
class PlanTest {
 public:
  PlanTest(BoundPlan *bound,
           const TestedModel &model,
           KernelResults *results,
           TestProgress *progress)
      : queues_(*bound->partition()->queues()),
        model_(model),
        results_(results),
        progress_(progress),
        bound_(*bound) {}

  MaceStatus Run(GpuVerdict *verdict, size_t *wrong) {
    for (const Group &group : FindGroups()) {
      const PlannedLaunch &launch = bound_.plan().launches[group.begin];
      auto known = results_->variants.find(group.variant);
      if (known == results_->variants.end()) {
        const std::string what = LaunchText(model_.graph, launch);
        std::string reason = CrashOf(group);
        if (reason.empty()) {
          progress_->Begin(group.variant, launch.launch.kernel(), what);
          reason = Test(group);
          if (!reason.empty()) reason = what + " failed: " + reason;
          progress_->End(group.variant, reason);
        }
        known = results_->variants.emplace(group.variant, reason).first;
      }
      if (known->second.empty()) {
        verdict->good.insert(group.variant);
        continue;
      }
      // All that use the variant, not only the one of least work.
      for (const auto &[variant, nodes] : users_) {
        if (variant != group.variant) continue;
        Refuse(queues_.device(), nodes, known->second, verdict);
        ++*wrong;
      }
    }
    return MaceStatus();
  }

 private:
  // How one of its kernels ended an earlier process; empty if none did.
  std::string CrashOf(const Group &group) const {
    for (size_t i = group.begin; i < group.end; ++i) {
      const auto crash =
          results_->crashes.find(bound_.plan().launches[i].launch.kernel());
      if (crash != results_->crashes.end()) return crash->second;
    }
    return std::string();
  }

  // One for each variant, and users_.
  std::vector<Group> FindGroups() {
    const OpenclPlan &plan = bound_.plan();
    std::map<std::string, Group> groups;
    for (size_t i = 0; i < plan.launches.size();) {
      Group group = {i, i, std::string(), 0};
      const std::vector<int> &nodes = plan.launches[i].group;
      for (; i < plan.launches.size() && plan.launches[i].group == nodes; ++i) {
        const PlannedLaunch &launch = plan.launches[i];
        group.variant += ProgramId(launch.program) + " ";
        group.variant += launch.launch.kernel();
        // Several can share a program.
        for (const LaunchActivation &entry : launch.launch.activations()) {
          group.variant += MakeString(" ", entry.kind);
        }
        if (launch.launch.reads_residual_in_output()) {
          group.variant += " in place";
        }
        // Images of half and of float have one program.
        for (int tensor : launch.tensors) {
          if (tensor < 0) continue;
          group.variant +=
              MakeString(" ", static_cast<int>(plan.Root(tensor).storage));
        }
      }
      group.end = i;
      group.variant = HashDigits(HashText(group.variant));
      for (int node : nodes) {
        const NodeCost cost = EstimateCost(
            model_.graph, static_cast<size_t>(node), model_.shapes);
        group.work += cost.macs + cost.bytes;
      }
      users_.emplace_back(group.variant, nodes);
      const auto [found, added] = groups.emplace(group.variant, group);
      if (!added && group.work < found->second.work) found->second = group;
    }
    std::vector<Group> result;
    for (const auto &[variant, group] : groups) result.push_back(group);
    return result;
  }

  // The CPU's results for inputs of the operators that others compute. False
  // if the CPU can't compute them.
  bool ComputeOnHost(const std::vector<int> &nodes,
                     bool zeros,
                     std::vector<int> *inputs,
                     HostTensors *tensors) {
    const OpenclPlan &plan = bound_.plan();
    inputs->clear();
    for (int node : nodes) {
      const GraphNode &entry = model_.graph.nodes()[node];
      for (int id : entry.inputs) {
        if (id < 0 || tensors->at(id).data != nullptr) continue;
        if (!tensors->Allocate(id)) return false;
        const int index = plan.tensor_of[id];
        tensors->Fill(id, index >= 0 && IsHalf(plan.Root(index).storage),
                      zeros);
        inputs->push_back(id);
      }
      for (int id : entry.outputs) {
        if (id >= 0 && !tensors->Allocate(id)) return false;
      }
      if (!IsOk(model_.host->Compute(model_.graph, static_cast<size_t>(node),
                                     tensors->all()))) {
        return false;
      }
    }
    return true;
  }

  // Why the results of a group are wrong; empty if they are right.
  std::string Test(const Group &group) {
    const std::vector<int> &nodes = bound_.plan().launches[group.begin].group;
    std::vector<int> inputs;
    for (const bool zeros : {false, true}) {
      HostTensors tensors(model_.shapes);
      if (!ComputeOnHost(nodes, zeros, &inputs, &tensors)) continue;
      std::string reason;
      const MaceStatus status =
          RunOnGpu(group, nodes, inputs, &tensors, &reason);
      return IsOk(status) ? reason : StatusMessage(status);
    }
    VLOG(1) << "not tested: the CPU refuses random inputs of "
            << LaunchText(model_.graph, bound_.plan().launches[group.begin]);
    return std::string();
  }

  StoredTensor StoredAt(int id) const {
    const int index = bound_.plan().tensor_of[id];
    return index < 0 ? StoredTensor() : bound_.StoredAt(index);
  }

  MaceStatus RunOnGpu(const Group &group,
                      const std::vector<int> &nodes,
                      const std::vector<int> &inputs,
                      HostTensors *tensors,
                      std::string *reason) {
    const ClApi &api = queues_.api();
    const cl_command_queue queue = queues_.queue();
    for (int node : nodes) {
      for (int id : model_.graph.nodes()[node].outputs) {
        if (id < 0) continue;
        const StoredTensor stored = StoredAt(id);
        if (stored.memory == nullptr) continue;
        const std::vector<uint8_t> nan(
            static_cast<size_t>(tensors->at(id).bytes()), 0xff);
        MACE_RETURN_IF_ERROR(WriteTensor(api, queue, stored, nan));
      }
    }
    for (int id : inputs) {
      const StoredTensor stored = StoredAt(id);
      if (stored.memory == nullptr) continue;
      MACE_RETURN_IF_ERROR(
          WriteTensor(api, queue, stored, tensors->BytesOf(id)));
    }
    for (size_t i = group.begin; i < group.end; ++i) {
      MACE_RETURN_IF_ERROR(bound_.commands()->RunLaunch(i));
    }
    for (int node : nodes) {
      for (int id : model_.graph.nodes()[node].outputs) {
        if (id < 0 || !reason->empty()) continue;
        const StoredTensor stored = StoredAt(id);
        if (stored.memory == nullptr) continue;
        std::vector<uint8_t> bytes;
        MACE_RETURN_IF_ERROR(ReadTensor(api, queue, stored, &bytes));
        const Tensor &wanted = tensors->at(id);
        *reason = wanted.data_type == DataType::kFloat32
                      ? CompareFloats(wanted, bytes, ErrorOf(group),
                                      IsHalf(stored.storage))
                      : CompareIntegers(wanted, bytes);
      }
    }
    return MaceStatus();
  }

  double ErrorOf(const Group &group) const {
    if (bound_.partition()->options().traits.half_arithmetic)
      return kCoarseError;
    const OpenclPlan &plan = bound_.plan();
    double error = kFloatError;
    for (size_t i = group.begin; i < group.end; ++i) {
      for (int tensor : plan.launches[i].tensors) {
        if (tensor < 0) continue;
        const GpuStorage storage = plan.Root(tensor).storage;
        if (storage == GpuStorage::kScaledInt8) return kCoarseError;
        if (IsHalf(storage)) error = kHalfStorageError;
      }
    }
    return error;
  }

  const GpuQueues &queues_;
  const TestedModel &model_;
  KernelResults *results_;
  TestProgress *progress_;
  BoundPlan &bound_;
  // The operators of every launch, by variant.
  std::vector<std::pair<std::string, std::vector<int>>> users_;
};

MaceStatus CompileOneByOne(GpuSession *session,
                           const Graph &graph,
                           const OpenclPlan &plan,
                           KernelResults *results,
                           TestProgress *progress) {
  for (const PlannedLaunch &launch : plan.launches) {
    const std::string id = kCompilation + ProgramId(launch.program);
    if (results->variants.count(id) > 0) continue;
    progress->Begin(id, launch.launch.kernel(),
                    "the compilation of " + LaunchText(graph, launch));
    MACE_RETURN_IF_ERROR(
        session->runtime()->Build({launch.program}, session->stores()));
    progress->End(id, std::string());
    results->variants[id];
  }
  return MaceStatus();
}

// The test of one placement.
MaceStatus TestPlacement(GpuSession *session,
                         const TestedModel &model,
                         const PartitionSpec &spec,
                         bool one_by_one,
                         KernelResults *results,
                         TestProgress *progress,
                         GpuVerdict *verdict,
                         size_t *wrong) {
  GpuPartition partition(model.graph, spec, session);
  ShapedPartition shaped(&partition, model.shapes);
  MACE_ASSIGN_OR_RETURN(const std::vector<BorderStorage> border,
                        shaped.DeclaredBorder());
  MACE_ASSIGN_OR_RETURN(
      const OpenclPlan plan,
      PlanOpencl(model.graph, spec, model.shapes, partition.options, border));
  bool crashes = false;
  for (const PlannedLaunch &launch : plan.launches) {
    const auto crash = results->crashes.find(launch.launch.kernel());
    if (crash == results->crashes.end()) continue;
    Refuse(session->queues()->device(), launch.group, crash->second, verdict);
    crashes = true;
  }
  // Nothing of this plan is compiled or run.
  if (crashes) return MaceStatus();
  if (one_by_one) {
    MACE_RETURN_IF_ERROR(
        CompileOneByOne(session, model.graph, plan, results, progress));
  } else {
    progress->BeginCompiling();
  }
  TuneIfAsked(&shaped, border);
  OpenclMemory memory(session->queues()->shared_runtime());
  MACE_ASSIGN_OR_RETURN(
      const std::unique_ptr<BoundPlan> bound,
      BoundPlan::Make(&shaped, border, BindingOptions(shaped)));
  MACE_RETURN_IF_ERROR(memory.Take(bound->plan()));
  MACE_RETURN_IF_ERROR(bound->Bind(memory));
  return TestVariants(bound.get(), model, results, progress, verdict, wrong);
}

// Until the plan has no kernel that failed. `wrong`: operators with wrong
// results.
MaceStatus TestUntilClean(GpuSession *session,
                          const TestedModel &model,
                          bool one_by_one,
                          KernelResults *results,
                          TestProgress *progress,
                          GpuVerdict *verdict,
                          size_t *wrong) {
  for (int round = 0; round < kMaxRounds; ++round) {
    session->SetVerdict(*verdict);
    const Placement placement = Place(model.graph, {model.device, model.host},
                                      model.wishes, &model.shapes);
    if (placement.partitions[0].segments.empty()) return MaceStatus();
    const size_t before = verdict->refusals.size();
    MACE_RETURN_IF_ERROR(TestPlacement(session, model, placement.partitions[0],
                                       one_by_one, results, progress, verdict,
                                       wrong));
    if (verdict->refusals.size() == before) return MaceStatus();
  }
  verdict->refused = "self-test: kernels fail on and on";
  return MaceStatus();
}

}  // namespace

MaceStatus TestVariants(BoundPlan *bound,
                        const TestedModel &model,
                        KernelResults *results,
                        TestProgress *progress,
                        GpuVerdict *verdict,
                        size_t *wrong) {
  return PlanTest(bound, model, results, progress).Run(verdict, wrong);
}

bool IsCompilation(const std::string &variant) {
  return variant.rfind(kCompilation, 0) == 0;
}

Result<GpuVerdict> TestKernels(GpuSession *session,
                               const TestedModel &model,
                               bool one_by_one,
                               KernelResults *results,
                               TestProgress *progress) {
  session->SetVerdict(GpuVerdict());
  const GpuTraits traits = session->PlanOptions(model.graph.hints()).traits;
  std::vector<GpuVerdict> steps(1);
  if (traits.half_storage) {
    steps.push_back(steps.back());
    steps.back().in_float = true;
  }
  if (traits.images) {
    steps.push_back(steps.back());
    steps.back().in_buffers = true;
  }
  GpuVerdict best;
  size_t least = 0;
  std::string why;
  for (size_t i = 0; i < steps.size(); ++i) {
    GpuVerdict &verdict = steps[i];
    size_t wrong = 0;
    MACE_RETURN_IF_ERROR(TestUntilClean(session, model, one_by_one, results,
                                        progress, &verdict, &wrong));
    if (i == 0 && wrong > 0) why = verdict.refusals.begin()->second;
    if (i > 0) verdict.why = why;
    if (i == 0 || wrong < least) {
      best = verdict;
      least = wrong;
    }
    if (wrong == 0) break;
  }
  session->SetVerdict(best);
  return best;
}

MaceStatus TestDriver(GpuQueues *queues) {
  static constexpr ClSource kProbe = {
      "self_test",
      "__kernel void self_test(__global int *x) { x[get_global_id(0)] = 42; }",
      nullptr, 0};
  OpenclRuntime *runtime = queues->runtime();
  const ClApi &api = runtime->api();
  const ProgramKey key = {&kProbe, std::string()};
  MACE_RETURN_IF_ERROR(runtime->Build({key}, ProgramStores()));
  MACE_ASSIGN_OR_RETURN(const ClKernel kernel,
                        runtime->MakeKernel(key, "self_test"));
  cl_int number = 0;
  MACE_ASSIGN_OR_RETURN(
      const ClMemory memory,
      runtime->MakeBuffer(CL_MEM_READ_WRITE, sizeof(number), "self-test"));
  const cl_mem object = memory.get();
  MACE_CL_CHECK(
      "clSetKernelArg", "self-test",
      api.clSetKernelArg(kernel.get(), 0, sizeof(cl_mem),
                         static_cast<const void *>(&object)));  // NOLINT
  const size_t one = 1;
  MACE_CL_CHECK(
      "clEnqueueNDRangeKernel", "self-test",
      api.clEnqueueNDRangeKernel(queues->queue(), kernel.get(), 1, nullptr,
                                 &one, &one, 0, nullptr, nullptr));
  MACE_CL_CHECK(
      "clEnqueueReadBuffer", "self-test",
      api.clEnqueueReadBuffer(queues->queue(), object, CL_TRUE, 0,
                              sizeof(number), &number, 0, nullptr, nullptr));
  if (number == 42) return MaceStatus();
  return RuntimeError("a kernel that stores 42 gives ", number);
}

}  // namespace mace

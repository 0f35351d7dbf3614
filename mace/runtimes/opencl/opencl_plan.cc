// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/opencl_plan.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "mace/core/model/op.h"

namespace mace {
namespace {

// Kernels count elements in int.
constexpr int64_t kMaxElements = std::numeric_limits<int32_t>::max();

bool TypeFits(DataType type, bool integers) {
  return type == DataType::kFloat32 || (integers && type == DataType::kInt32);
}

MaceStatus WrongType(const char *verb, bool integers, DataType type) {
  return Unsupported("it ", verb, integers ? " float32 and int32" : " float32",
                     ", not ", DataTypeName(type));
}

// A constant or a value that is known before the run, as kernels read it.
Result<GpuStorage> StorageOfConstant(const Tensor &tensor) {
  switch (tensor.data_type) {
    case DataType::kFloat32:
    case DataType::kBfloat16:  // widened when it is copied
      return GpuStorage::kDenseFloat;
    case DataType::kFloat16:
      return GpuStorage::kDenseHalf;
    case DataType::kInt32:
      return GpuStorage::kDenseInt;
    default:
      return Unsupported("it reads no constants of ",
                         DataTypeName(tensor.data_type));
  }
}

// Plans the operators of a partition one after the other.
class Planner final : public OpenclPlanContext {
 public:
  Planner(const Graph &graph,
          const GraphShapes &shapes,
          const OpenclPlanOptions &options)
      : graph_(graph), shapes_(shapes), options_(options) {
    plan_.tensor_of.assign(graph.tensors().size(), -1);
  }

  // Before any operator.
  void SetBorder(const std::vector<BorderStorage> &border) {
    for (const BorderStorage &entry : border) {
      const int tensor = AddTensor(entry.tensor);
      plan_.tensors[tensor].storage = entry.storage;
      plan_.tensors[tensor].at_border = true;
    }
  }
  MaceStatus PlanNode(size_t node, size_t segment);
  OpenclPlan &plan() { return plan_; }

  const OperatorDef &def() const override { return *node().def; }
  const OpAttributes &attributes() const override {
    return node().attributes.get();
  }
  const DeploymentHints &hints() const override { return graph_.hints(); }
  const GpuTraits &gpu() const override { return options_.traits; }
  size_t input_count() const override { return node().inputs.size(); }
  size_t output_count() const override { return node().outputs.size(); }
  const Tensor *input(size_t port) const override {
    return TensorAt(shapes_.tensors, node().inputs, port);
  }
  const Tensor *output(size_t port) const override {
    return TensorAt(shapes_.tensors, node().outputs, port);
  }
  bool CanAlias(size_t output, size_t input) const override;
  void Alias(size_t output, size_t input) override;
  size_t Scratch(const GpuDims &dims, bool in_float) override;
  void Add(Launch launch) override { added_.push_back(std::move(launch)); }

 private:
  const GraphNode &node() const { return graph_.nodes()[node_]; }
  GpuStorage Preferred(const GpuDims &dims, bool in_float) const;
  std::optional<GpuStorage> AliasStorage(size_t output, size_t input) const;
  size_t ReadersOf(int root) const;
  bool AtBorder(int root) const;
  void SetStorage(int tensor, GpuStorage storage);
  int AddTensor(int id);
  MaceStatus CheckTypes(const OpenclOp &op) const;
  MaceStatus AddPorts();
  Result<int> TensorOf(const LaunchArgument &argument) const;
  MaceStatus Finish(Launch launch, size_t segment);

  const Graph &graph_;
  const GraphShapes &shapes_;
  const OpenclPlanOptions &options_;
  OpenclPlan plan_;
  size_t node_ = 0;
  std::vector<int> scratch_;  // of this operator
  std::vector<Launch> added_;
};

// Images where the device prefers them and they are not too large.
GpuStorage Planner::Preferred(const GpuDims &dims, bool in_float) const {
  const bool half = options_.traits.half_storage && !in_float;
  GpuTensor tensor;
  tensor.dims = dims;
  if (options_.traits.images &&
      tensor.Width() <= options_.device->image_width &&
      tensor.Height() <= options_.device->image_height) {
    return half ? GpuStorage::kImageHalf : GpuStorage::kImageFloat;
  }
  return half ? GpuStorage::kBufferHalf : GpuStorage::kBufferFloat;
}

int Planner::AddTensor(int id) {
  int &index = plan_.tensor_of[static_cast<size_t>(id)];
  if (index >= 0) return index;
  index = static_cast<int>(plan_.tensors.size());
  const Tensor &tensor = shapes_.tensors[static_cast<size_t>(id)];
  GpuTensor added;
  added.id = id;
  added.dims = GpuDims::Of(tensor.shape);
  added.storage = tensor.data_type == DataType::kInt32
                      ? GpuStorage::kBufferInt
                      : Preferred(added.dims, false);
  plan_.tensors.push_back(added);
  return index;
}

MaceStatus Planner::CheckTypes(const OpenclOp &op) const {
  const bool integers = op.TakesIntegers();
  const auto check = [&](const Tensor *tensor, const char *verb) -> MaceStatus {
    if (tensor == nullptr) return MaceStatus();
    if (tensor->shape.CheckedElements(kMaxElements) < 0) {
      return Unsupported("'", tensor->name, "' has more than ", kMaxElements,
                         " elements");
    }
    const bool known = tensor->data != nullptr;
    if (known || TypeFits(tensor->data_type, integers)) return MaceStatus();
    return WrongType(verb, integers, tensor->data_type);
  };
  for (size_t i = 0; i < input_count(); ++i) {
    MACE_RETURN_IF_ERROR(check(input(i), "takes"));
  }
  for (size_t i = 0; i < output_count(); ++i) {
    MACE_RETURN_IF_ERROR(check(output(i), "gives"));
  }
  return MaceStatus();
}

// The tensors of the operator.
MaceStatus Planner::AddPorts() {
  for (const std::vector<int> *ports : {&node().inputs, &node().outputs}) {
    for (int id : *ports) {
      if (id < 0) continue;
      const Tensor &tensor = shapes_.tensors[static_cast<size_t>(id)];
      const int index = AddTensor(id);
      if (tensor.data == nullptr) continue;
      plan_.tensors[index].is_constant = true;
    }
  }
  return MaceStatus();
}

MaceStatus Planner::PlanNode(size_t index, size_t segment) {
  node_ = index;
  scratch_.clear();
  added_.clear();
  const OpRegistration *registration =
      OpRegistration::Find(def().type, DeviceType::GPU);
  if (registration == nullptr) {
    return Unsupported("this library has no GPU kernels for ", def().type);
  }
  const std::unique_ptr<Op> made = registration->factory()();
  const auto &op = static_cast<const OpenclOp &>(*made);
  MACE_RETURN_IF_ERROR(CheckTypes(op));
  MACE_RETURN_IF_ERROR(AddPorts());
  bool empty = true;
  for (size_t i = 0; i < output_count(); ++i) {
    if (output(i) != nullptr && output(i)->elements() > 0) empty = false;
  }
  if (empty) return MaceStatus();
  MACE_RETURN_IF_ERROR(op.Plan(this));
  for (int id : node().outputs) {
    if (id >= 0) plan_.tensors[plan_.tensor_of[id]].segment = segment;
  }
  std::vector<Launch> added = std::move(added_);
  for (Launch &launch : added) {
    MACE_RETURN_IF_ERROR(Finish(std::move(launch), segment));
  }
  return MaceStatus();
}

bool Planner::CanAlias(size_t output, size_t input) const {
  return AliasStorage(output, input).has_value();
}

void Planner::Alias(size_t output, size_t input) {
  const GpuStorage storage = *AliasStorage(output, input);
  const int to = plan_.tensor_of[node().outputs[output]];
  plan_.tensors[to].alias_of =
      plan_.RootIndex(plan_.tensor_of[node().inputs[input]]);
  SetStorage(to, storage);
}

// Launches find the storage of a tensor and of its aliases when all of them are
// planned.
void Planner::SetStorage(int tensor, GpuStorage storage) {
  const int root = plan_.RootIndex(tensor);
  for (GpuTensor &entry : plan_.tensors) {
    if (entry.alias_of == root) entry.storage = storage;
  }
  plan_.tensors[root].storage = storage;
}

// How many operators read the memory of the tensor, without those whose output
// is the same memory, which do not run.
size_t Planner::ReadersOf(int root) const {
  const auto is_root = [&](int id) {
    const int tensor = id < 0 ? -1 : plan_.tensor_of[id];
    return tensor >= 0 && plan_.RootIndex(tensor) == root;
  };
  size_t readers = 0;
  for (const GraphNode &reader : graph_.nodes()) {
    if (std::any_of(reader.inputs.begin(), reader.inputs.end(), is_root) &&
        std::none_of(reader.outputs.begin(), reader.outputs.end(), is_root)) {
      ++readers;
    }
  }
  return readers;
}

// How the output and the input must be stored to be the same memory, if they
// can be.
//
// A storage fits both if the elements of both are in the same places: always in
// dense tensors, in padded ones if their channels are whole blocks or as many,
// in others if the dimensions are equal. Of those that fit, the input keeps the
// one that it has. Otherwise it is stored in another way, if nobody but this
// operator reads it: then the launch of a copy is saved, and the reads and
// writes of all elements, for the price that one kernel writes a buffer instead
// of an image, or channels that are not aligned, and the next ones read them.
// If others read it too, they would all be slower, and a copy is not worse.
std::optional<GpuStorage> Planner::AliasStorage(size_t output,
                                                size_t input) const {
  const int from_id = node().inputs[input];
  const int to_id = node().outputs[output];
  if (from_id < 0 || to_id < 0) return std::nullopt;
  const int from = plan_.tensor_of[from_id];
  const GpuTensor &source = plan_.tensors[from];
  const GpuTensor &target = plan_.tensors[plan_.tensor_of[to_id]];
  if (source.is_constant || target.alias_of >= 0) return std::nullopt;
  const auto fits = [&](GpuStorage storage) {
    if (IsDense(storage)) return true;
    if (IsPadded(storage)) {
      return source.dims.c == target.dims.c ||
             (source.dims.c % 4 == 0 && target.dims.c % 4 == 0);
    }
    return source.dims == target.dims;
  };
  const GpuStorage now = source.storage;
  const bool kept = !target.at_border || target.storage == now;
  if (kept && fits(now)) return now;
  const int root = plan_.RootIndex(from);
  if (AtBorder(root) || ReadersOf(root) > 1) return std::nullopt;
  if (target.at_border) {
    if (!IsDense(target.storage)) return std::nullopt;
    return target.storage;
  }
  const GpuStorage padded = PaddedOf(StorageElement(now));
  if (IsImage(now) && fits(padded)) return padded;
  return DenseOf(StorageElement(now));
}

// Whether the host chose the storage of the tensor or of an alias.
bool Planner::AtBorder(int root) const {
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    const GpuTensor &tensor = plan_.tensors[i];
    if (tensor.at_border && plan_.RootIndex(static_cast<int>(i)) == root) {
      return true;
    }
  }
  return false;
}

size_t Planner::Scratch(const GpuDims &dims, bool in_float) {
  GpuTensor tensor;
  tensor.dims = dims;
  tensor.storage = Preferred(dims, in_float);
  scratch_.push_back(static_cast<int>(plan_.tensors.size()));
  plan_.tensors.push_back(tensor);
  return scratch_.size() - 1;
}

// The tensor of an argument; -1 if it has none.
Result<int> Planner::TensorOf(const LaunchArgument &argument) const {
  const auto at = [&](const std::vector<int> &ports) -> Result<int> {
    if (argument.index >= ports.size() || ports[argument.index] < 0) {
      return RuntimeError("kernel argument '", argument.name, "' is of port ",
                          argument.index, ", which is absent");
    }
    return plan_.tensor_of[static_cast<size_t>(ports[argument.index])];
  };
  switch (argument.kind) {
    case LaunchArgument::Kind::kInput:
    case LaunchArgument::Kind::kConstant:
      return at(node().inputs);
    case LaunchArgument::Kind::kOutput:
      return at(node().outputs);
    case LaunchArgument::Kind::kScratch:
      return scratch_[argument.index];
    default:
      return -1;
  }
}

MaceStatus Planner::Finish(Launch launch, size_t segment) {
  PlannedLaunch planned = {
      std::move(launch), static_cast<int>(node_), segment, {}, {}};
  const int step = static_cast<int>(plan_.launches.size());
  for (const LaunchArgument &argument : planned.launch.arguments()) {
    MACE_ASSIGN_OR_RETURN(const int index, TensorOf(argument));
    planned.tensors.push_back(index);
    if (index < 0) continue;
    GpuTensor &root = plan_.tensors[plan_.RootIndex(index)];
    if (root.is_constant) {
      const Tensor &tensor = shapes_.tensors[static_cast<size_t>(root.id)];
      MACE_ASSIGN_OR_RETURN(root.storage, StorageOfConstant(tensor));
    }
    if (root.first < 0) root.first = step;
    root.last = step;
  }
  planned.program.source = &planned.launch.source();
  plan_.launches.push_back(std::move(planned));
  return MaceStatus();
}

// The macros of a launch, once the storage of all tensors is final.
std::string OptionsOf(const OpenclPlan &plan,
                      const PlannedLaunch &planned,
                      bool half_arithmetic) {
  std::string options = MakeString(" -D KERNEL_", planned.launch.kernel(),
                                   planned.launch.defines());
  if (half_arithmetic) options += " -D REAL_HALF";
  const auto &arguments = planned.launch.arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (planned.tensors[i] < 0) continue;
    const GpuTensor &tensor = plan.tensors[planned.tensors[i]];
    const bool constant = arguments[i].kind == LaunchArgument::Kind::kConstant;
    const bool half = tensor.storage == GpuStorage::kDenseHalf;
    options += std::string(" -D T_") + arguments[i].name + "=" +
               (constant ? (half ? "CH" : "CF") : StorageCode(tensor.storage));
  }
  return options;
}

// Widens the spans of tensors that are copied to the GPU before a segment, or
// to the host after one.
void ExtendBorder(const PartitionSpec &spec, OpenclPlan *plan) {
  const auto extend = [plan](int index, size_t step) {
    GpuTensor &root = plan->tensors[plan->RootIndex(index)];
    const auto s = static_cast<int>(step);
    root.first = root.first < 0 ? s : std::min(root.first, s);
    root.last = std::max(root.last, s);
  };
  for (const PartitionSpec::Border &border : spec.imports) {
    const int index = plan->tensor_of[border.tensor];
    if (index < 0) continue;
    plan->tensors[index].segment = border.segment;
    extend(index, plan->begin[border.segment]);
  }
  for (const PartitionSpec::Border &border : spec.exports) {
    const int index = plan->tensor_of[border.tensor];
    if (index < 0) continue;
    const size_t segment = plan->tensors[index].segment;
    const size_t end = plan->begin[segment + 1];
    extend(index, std::max(end, plan->begin[segment] + 1) - 1);
  }
}

// Buffers share one block of memory, images are used again by others of their
// type.
MaceStatus PlanMemoryOf(const GpuDevice &device, OpenclPlan *plan) {
  plan->request_of.assign(plan->tensors.size(), -1);
  plan->image_of.assign(plan->tensors.size(), -1);
  std::vector<int> images;
  for (size_t i = 0; i < plan->tensors.size(); ++i) {
    const GpuTensor &tensor = plan->tensors[i];
    if (tensor.alias_of >= 0 || tensor.is_constant || tensor.first < 0) {
      continue;
    }
    if (IsImage(tensor.storage)) {
      images.push_back(static_cast<int>(i));
      continue;
    }
    PlanRequest request;
    const size_t a = device.alignment;
    // A kernel's argument has memory even if the tensor has no elements.
    request.bytes = (std::max<size_t>(tensor.Bytes(), 1) + a - 1) / a * a;
    request.first = tensor.first;
    request.last = tensor.last;
    plan->request_of[i] = static_cast<int>(plan->requests.size());
    plan->requests.push_back(request);
  }
  MACE_ASSIGN_OR_RETURN(plan->memory, PlanMemory(plan->requests));
  MACE_RETURN_IF_ERROR(VerifyPlan(plan->requests, plan->memory));

  std::sort(images.begin(), images.end(), [&](int a, int b) {
    const int first_a = plan->tensors[a].first;
    const int first_b = plan->tensors[b].first;
    return first_a != first_b ? first_a < first_b : a < b;
  });
  std::vector<int> free_after;  // per image: the last step of its last tensor
  for (int index : images) {
    const GpuTensor &tensor = plan->tensors[index];
    const DataType element = StorageElement(tensor.storage);
    const size_t width = std::max<size_t>(tensor.Width(), 1);
    const size_t height = std::max<size_t>(tensor.Height(), 1);
    int best = -1;
    size_t best_growth = 0;
    for (size_t slot = 0; slot < plan->images.size(); ++slot) {
      const ImageSlot &image = plan->images[slot];
      if (image.element != element || free_after[slot] >= tensor.first) {
        continue;
      }
      const size_t growth =
          std::max(image.width, width) * std::max(image.height, height) -
          image.width * image.height;
      if (growth >= width * height) continue;  // one of its own is as good
      if (best < 0 || growth < best_growth) {
        best = static_cast<int>(slot);
        best_growth = growth;
      }
    }
    if (best < 0) {
      best = static_cast<int>(plan->images.size());
      plan->images.push_back({element, 0, 0});
      free_after.push_back(-1);
    }
    ImageSlot &image = plan->images[best];
    image.width = std::max(image.width, width);
    image.height = std::max(image.height, height);
    free_after[best] = tensor.last;
    plan->image_of[index] = best;
  }
  return MaceStatus();
}

}  // namespace

Result<OpenclPlan> PlanOpencl(const Graph &graph,
                              const PartitionSpec &spec,
                              const GraphShapes &shapes,
                              const OpenclPlanOptions &options,
                              const std::vector<BorderStorage> &border) {
  Planner planner(graph, shapes, options);
  planner.SetBorder(border);
  OpenclPlan &plan = planner.plan();
  for (size_t segment = 0; segment < spec.segments.size(); ++segment) {
    plan.begin.push_back(plan.launches.size());
    for (int node : spec.segments[segment]) {
      if (shapes.known_node[static_cast<size_t>(node)]) continue;
      const MaceStatus status =
          planner.PlanNode(static_cast<size_t>(node), segment);
      if (!IsOk(status)) {
        return AtOperator(*graph.nodes()[static_cast<size_t>(node)].def,
                          status);
      }
    }
  }
  plan.begin.push_back(plan.launches.size());
  ExtendBorder(spec, &plan);
  for (PlannedLaunch &launch : plan.launches) {
    launch.program.options =
        OptionsOf(plan, launch, options.traits.half_arithmetic);
  }
  MACE_RETURN_IF_ERROR(PlanMemoryOf(*options.device, &plan));
  return std::move(plan);
}

namespace {

// What is known of an operator before the shapes: its type, and the types of
// the model's inputs.
MaceStatus CheckWithoutShapes(const Graph &graph, const GraphNode &node) {
  const OpRegistration *registration =
      OpRegistration::Find(node.def->type, DeviceType::GPU);
  if (registration == nullptr) {
    return Unsupported("this library has no GPU kernels for ", node.def->type);
  }
  const std::unique_ptr<Op> made = registration->factory()();
  const bool integers = static_cast<const OpenclOp &>(*made).TakesIntegers();
  for (int id : node.inputs) {
    if (id < 0) continue;
    const GraphTensor &entry = graph.tensors()[static_cast<size_t>(id)];
    if (entry.source != TensorSource::kInput) continue;
    const DataType type = graph.model().inputs[entry.input_index].data_type;
    if (!TypeFits(type, integers)) return WrongType("takes", integers, type);
  }
  return MaceStatus();
}

}  // namespace

Result<std::vector<Launch>> TryOpenclNode(const Graph &graph,
                                          size_t node,
                                          const GraphShapes *shapes,
                                          const OpenclPlanOptions &options) {
  std::vector<Launch> launches;
  if (shapes == nullptr) {
    MACE_RETURN_IF_ERROR(CheckWithoutShapes(graph, graph.nodes()[node]));
    return launches;
  }
  Planner planner(graph, *shapes, options);
  MACE_RETURN_IF_ERROR(planner.PlanNode(node, 0));
  for (PlannedLaunch &planned : planner.plan().launches) {
    launches.push_back(std::move(planned.launch));
  }
  return launches;
}

}  // namespace mace

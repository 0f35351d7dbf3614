// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/opencl_planner.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "mace/core/model/op.h"
#include "mace/runtimes/opencl/driver/gpu_program.h"
#include "mace/runtimes/opencl/plan/float_tensors.h"
#include "mace/runtimes/opencl/plan/plan_parts.h"
#include "mace/runtimes/opencl/plan/row_bands.h"

namespace mace {
namespace {

// Kernels count elements in int.
constexpr int64_t kMaxElements = std::numeric_limits<int32_t>::max();

// An OpenclOp.
Result<std::unique_ptr<Op>> MakeOp(const OperatorDef &def) {
  const OpRegistration *registration =
      OpRegistration::For(def, DeviceType::GPU);
  if (registration == nullptr) {
    const bool floats =
        OpRegistration::Find(def.type, DeviceType::GPU) != nullptr;
    return Unsupported("this library has no GPU kernels for ",
                       floats ? "quantized " : "", def.type);
  }
  return registration->factory()();
}

// DataTypeBit of the types that an operator may compute or take computed.
uint32_t ComputedTypes(const OpenclOp &op) {
  uint32_t types = DataTypeBit(DataType::kFloat32);
  if (op.TakesIntegers()) types |= DataTypeBit(DataType::kInt32);
  if (op.TakesBytes()) {
    types |= DataTypeBit(DataType::kInt8) | DataTypeBit(DataType::kUint8) |
             DataTypeBit(DataType::kBool);
  }
  return types;
}

// "float32, int32"
std::string NamesOf(uint32_t types) {
  std::string names;
  for (int i = 0; i < kDataTypeCount; ++i) {
    const auto type = static_cast<DataType>(i);
    if ((types & DataTypeBit(type)) == 0) continue;
    if (!names.empty()) names += ", ";
    names += DataTypeName(type);
  }
  return names;
}

MaceStatus WrongType(const char *verb, uint32_t types, DataType type) {
  return Unsupported("it ", verb, " ", NamesOf(types), ", not ",
                     DataTypeName(type));
}

// A constant or a value that is known before the run, as kernels read it: `raw`
// if by CONST, otherwise as a tensor.
Result<GpuStorage> StorageOfConstant(const Tensor &tensor, bool raw) {
  if (raw && tensor.layout == ConstantLayout::kPackedO16Scaled) {
    return GpuStorage::kScaledInt8;
  }
  // Bfloat16 is widened when it is copied.
  const DataType type = tensor.data_type == DataType::kBfloat16
                            ? DataType::kFloat32
                            : tensor.data_type;
  const bool floats = type == DataType::kFloat32 || type == DataType::kFloat16;
  if (raw && !floats) {
    return Unsupported("it reads no constants of ", DataTypeName(type));
  }
  return StorageOf(GpuLayout::kDense, type);
}

// Some rows of an operator, with its tensors at port 0.
struct NodeBand {
  RowBand rows;
  Tensor input;
  Tensor output;
};

}  // namespace

// One operator, as it sees its tensors.
class NodeContext final : public OpenclPlanContext {
 public:
  NodeContext(Planner *planner, size_t node);
  NodeContext(Planner *planner, size_t node, NodeBand band)
      : NodeContext(planner, node) {
    band_ = std::move(band);
  }

  const OperatorDef &def() const override { return *node().def; }
  const OpAttributes &attributes() const override {
    return node().attributes.get();
  }
  const DeploymentHints &hints() const override;
  const GpuTraits &gpu() const override;
  size_t input_count() const override { return node().inputs.size(); }
  size_t output_count() const override { return node().outputs.size(); }
  const Tensor *input(size_t port) const override;
  const Tensor *output(size_t port) const override;
  const RowBand *band() const override {
    return band_.has_value() ? &band_->rows : nullptr;
  }
  const Shape &WholeInput(size_t port) const override;
  bool CanAlias(size_t output, size_t input) const override;
  void Alias(size_t output, size_t input) override;
  bool JoinInPlace(bool channels) override;
  size_t Scratch(const GpuDims &dims, bool in_float) override;
  void Add(Launch launch) override { launches_.push_back(std::move(launch)); }
  int Choose(const ClSource &source,
             const char *what,
             const std::vector<int> &values,
             int guess) const override;

  const GraphNode &node() const;
  size_t index() const { return node_; }
  // Whether it computes in float, and stores so what is between its launches,
  // as it has a tensor that is kept in float.
  bool in_float() const { return in_float_; }
  void SetInFloat(bool in_float) { in_float_ = in_float; }
  // The operators before it that are computed with this one.
  void SetBefore(std::vector<const NodeContext *> before) {
    before_ = std::move(before);
  }
  std::vector<Launch> TakeLaunches() { return std::move(launches_); }
  // The tensor of the plan of each scratch tensor.
  const std::vector<int> &scratch() const { return scratch_; }

 private:
  Planner *planner_;
  size_t node_;
  bool in_float_ = false;
  std::optional<NodeBand> band_;
  std::vector<const NodeContext *> before_;
  std::vector<int> scratch_;
  std::vector<Launch> launches_;
};

NodeContext::NodeContext(Planner *planner, size_t node)
    : planner_(planner), node_(node) {
  const auto is_float = [planner](int id) { return planner->IsFloat(id); };
  const GraphNode &entry = this->node();
  in_float_ = std::any_of(entry.inputs.begin(), entry.inputs.end(), is_float) ||
              std::any_of(entry.outputs.begin(), entry.outputs.end(), is_float);
}

const GraphNode &NodeContext::node() const {
  return planner_->graph_.nodes()[node_];
}

const DeploymentHints &NodeContext::hints() const {
  return planner_->graph_.hints();
}

const GpuTraits &NodeContext::gpu() const {
  return in_float_ ? planner_->float_traits_ : planner_->options_.traits;
}

const Tensor *NodeContext::input(size_t port) const {
  if (band_.has_value() && port == 0) return &band_->input;
  return TensorAt(planner_->shapes_.tensors, node().inputs, port);
}

const Tensor *NodeContext::output(size_t port) const {
  if (band_.has_value() && port == 0) return &band_->output;
  return TensorAt(planner_->shapes_.tensors, node().outputs, port);
}

const Shape &NodeContext::WholeInput(size_t port) const {
  return TensorAt(planner_->shapes_.tensors, node().inputs, port)->shape;
}

// Images where the device prefers them and they are not too large. A few
// vectors (pooled features, logits) are float in any case: they take no time to
// read, and an error of a logit is one of all probabilities.
GpuStorage Planner::Preferred(const GpuDims &dims, bool in_float) const {
  constexpr int64_t kFewPixels = 4;
  const bool half =
      options_.traits.half_storage && !in_float && dims.pixels() > kFewPixels;
  GpuTensor tensor;
  tensor.dims = dims;
  if (options_.traits.images &&
      tensor.Width() <= options_.device->image_width &&
      tensor.Height() <= options_.device->image_height) {
    return half ? GpuStorage::kImageHalf : GpuStorage::kImageFloat;
  }
  return half ? GpuStorage::kBufferHalf : GpuStorage::kBufferFloat;
}

Result<int> Planner::AddTensor(int id) {
  int &index = plan_.tensor_of[static_cast<size_t>(id)];
  if (index >= 0) return index;
  index = static_cast<int>(plan_.tensors.size());
  const Tensor &tensor = shapes_.tensors[static_cast<size_t>(id)];
  GpuTensor added;
  added.id = id;
  added.dims = GpuDims::Of(tensor.shape);
  added.kept_in_float = IsFloat(id);
  added.storage = Preferred(added.dims, added.kept_in_float);
  // How a constant is stored is decided when a kernel reads it.
  if (tensor.data == nullptr && tensor.data_type != DataType::kFloat32) {
    MACE_ASSIGN_OR_RETURN(added.storage,
                          StorageOf(GpuLayout::kPadded, tensor.data_type));
  }
  plan_.tensors.push_back(added);
  return index;
}

// `types`: DataTypeBit of those that the operator may compute or take computed.
MaceStatus Planner::CheckTypes(const NodeContext &context,
                               uint32_t types) const {
  const auto check = [&](const Tensor *tensor, const char *verb) -> MaceStatus {
    if (tensor == nullptr) return MaceStatus();
    if (tensor->shape.CheckedElements(kMaxElements) < 0) {
      return Unsupported("'", tensor->name, "' has more than ", kMaxElements,
                         " elements");
    }
    const bool known = tensor->data != nullptr;
    if (known || (types & DataTypeBit(tensor->data_type)) != 0) {
      return MaceStatus();
    }
    return WrongType(verb, types, tensor->data_type);
  };
  for (size_t i = 0; i < context.input_count(); ++i) {
    MACE_RETURN_IF_ERROR(check(context.input(i), "takes"));
  }
  for (size_t i = 0; i < context.output_count(); ++i) {
    MACE_RETURN_IF_ERROR(check(context.output(i), "gives"));
  }
  return MaceStatus();
}

// The tensors of an operator.
MaceStatus Planner::AddPorts(const GraphNode &node) {
  for (const std::vector<int> *ports : {&node.inputs, &node.outputs}) {
    for (int id : *ports) {
      if (id < 0) continue;
      const Tensor &tensor = shapes_.tensors[static_cast<size_t>(id)];
      MACE_ASSIGN_OR_RETURN(const int index, AddTensor(id));
      if (tensor.data == nullptr) continue;
      plan_.tensors[index].is_constant = true;
    }
  }
  return MaceStatus();
}

void Planner::SetSegment(const GraphNode &node, size_t segment) {
  for (int id : node.outputs) {
    if (id >= 0) plan_.tensors[plan_.tensor_of[id]].segment = segment;
  }
}

MaceStatus Planner::PlanNode(size_t index, size_t segment) {
  NodeContext context(this, index);
  MACE_ASSIGN_OR_RETURN(const std::unique_ptr<Op> made, MakeOp(context.def()));
  const auto &op = static_cast<const OpenclOp &>(*made);
  MACE_RETURN_IF_ERROR(CheckTypes(context, ComputedTypes(op)));
  MACE_RETURN_IF_ERROR(AddPorts(context.node()));
  bool empty = true;
  for (size_t i = 0; i < context.output_count(); ++i) {
    const Tensor *output = context.output(i);
    if (output != nullptr && output->elements() > 0) empty = false;
  }
  if (empty) return MaceStatus();
  SetSegment(context.node(), segment);
  plan_.reports[index] = op.Report(context);
  return AddLaunches({&context}, segment);
}

const OpenclFusionRegistration *Planner::FusionOf(
    const std::vector<NodeContext *> &contexts) {
  std::vector<std::string> types;
  for (const NodeContext *context : contexts) {
    types.push_back(context->def().type);
  }
  return OpenclFusionRegistration::Find(types);
}

// The launches of an operator, or of some that one kernel computes.
MaceStatus Planner::AddLaunches(const std::vector<NodeContext *> &contexts,
                                size_t segment) {
  NodeContext *last = contexts.back();
  open_choices_.clear();
  const bool in_float =
      std::any_of(contexts.begin(), contexts.end(),
                  [](const NodeContext *node) { return node->in_float(); });
  for (NodeContext *context : contexts) context->SetInFloat(in_float);
  if (contexts.size() == 1) {
    MACE_ASSIGN_OR_RETURN(const std::unique_ptr<Op> made, MakeOp(last->def()));
    MACE_RETURN_IF_ERROR(static_cast<const OpenclOp &>(*made).Plan(last));
  } else {
    last->SetBefore({contexts.begin(), contexts.end() - 1});
    MACE_RETURN_IF_ERROR(FusionOf(contexts)->factory()()->Plan(
        {contexts.begin(), contexts.end()}, last));
  }
  return FinishAll(last->TakeLaunches(), {contexts.begin(), contexts.end()},
                   segment);
}

bool Planner::PlanTogether(const std::vector<size_t> &nodes, size_t segment) {
  std::vector<NodeContext> contexts;
  contexts.reserve(nodes.size());
  std::vector<NodeContext *> pointers;
  for (size_t node : nodes) {
    pointers.push_back(&contexts.emplace_back(this, node));
  }
  if (FusionOf(pointers) == nullptr ||
      contexts.back().output(0)->elements() == 0) {
    return false;
  }
  for (const NodeContext &context : contexts) {
    const auto made = MakeOp(context.def());
    if (!made.ok()) return false;
    const auto &op = static_cast<const OpenclOp &>(*made.value());
    if (!IsOk(CheckTypes(context, ComputedTypes(op))) ||
        !IsOk(AddPorts(context.node()))) {
      return false;
    }
    plan_.reports[context.index()] = op.Report(context);
    SetSegment(context.node(), segment);
  }
  return IsOk(AddLaunches(pointers, segment));
}

std::optional<WindowAxis> Planner::RowsOf(const PlanUnit &unit) {
  if (unit.end != unit.begin + 1) return std::nullopt;
  std::optional<WindowAxis> rows;
  for (size_t node : unit.nodes) {
    const NodeContext context(this, node);
    const auto made = MakeOp(context.def());
    if (!made.ok()) return std::nullopt;
    const auto axis =
        static_cast<const OpenclOp &>(*made.value()).Rows(context);
    if (!axis.has_value()) return std::nullopt;
    if (!rows.has_value()) {
      rows = axis;
    } else if (axis->kernel != 1 || axis->stride != 1 ||
               axis->pad_before != 0 || axis->output != axis->size) {
      return std::nullopt;
    }
  }
  return rows;
}

// A tensor for some rows of a value, in memory of its own.
int Planner::BandTensor(int whole, const RowRange &rows) {
  GpuTensor band;
  band.id = plan_.tensors[whole].id;
  band.dims = plan_.tensors[whole].dims;
  band.dims.h = rows.count();
  band.storage = plan_.tensors[whole].storage;
  band.kept_in_float = plan_.tensors[whole].kept_in_float;
  band.segment = plan_.tensors[whole].segment;
  band.first_row = rows.begin;
  plan_.tensors.push_back(band);
  return static_cast<int>(plan_.tensors.size()) - 1;
}

// Some rows of a tensor, where they are; -1 if its rows are not together, or if
// it has its memory from the caller.
int Planner::PartOfRows(int whole, const RowRange &rows) {
  const int root = plan_.RootIndex(whole);
  GpuTensor part = plan_.tensors[whole];
  const GpuDims &dims = plan_.tensors[root].dims;
  const bool agrees = part.joined_channels != 0 ||
                      (part.dims.c == dims.c && part.dims.w == dims.w);
  if (!agrees || plan_.tensors[root].caller >= 0 ||
      StorageLayout(part.storage) == GpuLayout::kNchw) {
    return -1;
  }
  part.alias_of = root;
  if (part.joined_channels == 0) part.joined_channels = dims.c;
  part.first_pixel += rows.begin * part.dims.w;
  part.first_row = rows.begin;
  part.dims.h = rows.count();
  part.at_border = false;
  part.first = part.last = -1;
  plan_.tensors.push_back(part);
  return static_cast<int>(plan_.tensors.size()) - 1;
}

MaceStatus Planner::PlanBands(const std::vector<PlanUnit> &units,
                              const std::vector<WindowAxis> &axes,
                              int bands) {
  std::vector<int> group;
  for (const PlanUnit &unit : units) {
    for (size_t index : unit.nodes) {
      const NodeContext context(this, index);
      MACE_RETURN_IF_ERROR(AddPorts(context.node()));
      SetSegment(context.node(), unit.segment);
      MACE_ASSIGN_OR_RETURN(const std::unique_ptr<Op> made,
                            MakeOp(context.def()));
      plan_.reports[index] =
          static_cast<const OpenclOp &>(*made).Report(context);
      group.push_back(static_cast<int>(index));
    }
  }
  const size_t begin = plan_.launches.size();
  const int whole_input = TensorOfInput(units.front().nodes.front());
  for (const std::vector<RowRange> &ranges : DivideRows(axes, bands)) {
    RowRange rows = RowsUnder(axes.front(), ranges.front());
    int input = PartOfRows(whole_input, rows);
    if (input < 0) {
      input = whole_input;
      rows.begin = 0;
    }
    for (size_t i = 0; i < units.size(); ++i) {
      const int whole = TensorOfOutput(units[i].nodes.back());
      const bool last = i + 1 == units.size();
      const int output =
          last ? PartOfRows(whole, ranges[i]) : BandTensor(whole, ranges[i]);
      if (output < 0) return RuntimeError("the rows of a band are apart");
      MACE_RETURN_IF_ERROR(
          PlanBand(units[i], {ranges[i].begin, ranges[i].count(), rows.begin},
                   input, output));
      input = output;
      rows = ranges[i];
    }
  }
  for (size_t i = begin; i < plan_.launches.size(); ++i) {
    plan_.launches[i].group = group;
  }
  return MaceStatus();
}

// Plans some rows of a unit, whose first input and last output are these
// tensors of the plan.
MaceStatus Planner::PlanBand(const PlanUnit &unit,
                             const RowBand &rows,
                             int input,
                             int output) {
  const GraphNode &first = graph_.nodes()[unit.nodes.front()];
  const GraphNode &last = graph_.nodes()[unit.nodes.back()];
  const auto tensor_of_rows = [this](int id, int64_t count) {
    Tensor tensor = shapes_.tensors[static_cast<size_t>(id)];
    tensor.shape[1] = count;
    return tensor;
  };
  std::vector<NodeContext> contexts;
  contexts.reserve(unit.nodes.size());
  std::vector<NodeContext *> pointers;
  NodeBand band;
  band.rows = rows;
  band.input = tensor_of_rows(first.inputs[0], plan_.tensors[input].dims.h);
  for (size_t index : unit.nodes) {
    const GraphNode &node = graph_.nodes()[index];
    band.output = tensor_of_rows(node.outputs[0], rows.outputs);
    pointers.push_back(&contexts.emplace_back(this, index, band));
    // Those after the first one need the same rows (RowsOf).
    band.rows.first_input = rows.first_output;
    band.input = band.output;
  }
  int &input_of = plan_.tensor_of[first.inputs[0]];
  int &output_of = plan_.tensor_of[last.outputs[0]];
  const int whole_input = input_of;
  const int whole_output = output_of;
  input_of = input;
  output_of = output;
  const MaceStatus status = AddLaunches(pointers, unit.segment);
  input_of = whole_input;
  output_of = whole_output;
  return status;
}

int NodeContext::Choose(const ClSource &source,
                        const char *what,
                        const std::vector<int> &values,
                        int guess) const {
  if (planner_->options_.tuned == nullptr) return guess;
  TuningChoice choice;
  for (const NodeContext *context : before_) {
    choice.key += ProblemText(*context) + " + ";
  }
  choice.key += ProblemText(*this) + " " + what;
  choice.source = HashDigits(HashSource(source));
  choice.changes_program = true;
  std::vector<int> all = {guess};
  for (int value : values) {
    if (value != guess) all.push_back(value);
  }
  for (int value : all) choice.values.push_back(std::to_string(value));
  return all[planner_->Choose(std::move(choice))];
}

bool NodeContext::CanAlias(size_t output, size_t input) const {
  return planner_->AliasStorage(node(), output, input).has_value();
}

void NodeContext::Alias(size_t output, size_t input) {
  planner_->Alias(node(), output, input);
}

bool NodeContext::JoinInPlace(bool channels) {
  return planner_->JoinInPlace(node(), channels);
}

bool Planner::JoinInPlace(const GraphNode &node, bool channels) {
  TensorJoin join;
  join.whole = plan_.tensor_of[node.outputs[0]];
  join.channels = channels;
  join.pairs_of_blocks = options_.traits.ptx_mma;
  for (int id : node.inputs) {
    const int tensor = plan_.tensor_of[id];
    const int root = plan_.RootIndex(tensor);
    join.inputs.push_back({tensor, ReadersOf(root), AtBorder(root)});
  }
  return JoinTensors(join, &plan_);
}

void Planner::Alias(const GraphNode &node, size_t output, size_t input) {
  const std::optional<GpuStorage> storage = AliasStorage(node, output, input);
  if (!storage.has_value()) return;
  const int to = plan_.tensor_of[node.outputs[output]];
  const int from = plan_.tensor_of[node.inputs[input]];
  const int root = plan_.RootIndex(from);
  plan_.tensors[to].alias_of = root;
  plan_.tensors[to].joined_channels = plan_.tensors[from].joined_channels;
  plan_.tensors[to].first_pixel = plan_.tensors[from].first_pixel;
  plan_.tensors[to].first_channel = plan_.tensors[from].first_channel;
  const int caller = plan_.tensors[to].caller;
  if (caller >= 0) plan_.tensors[root].caller = caller;
  SetStorage(to, *storage);
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
std::optional<GpuStorage> Planner::AliasStorage(const GraphNode &node,
                                                size_t output,
                                                size_t input) const {
  const int from_id = node.inputs[input];
  const int to_id = node.outputs[output];
  if (from_id < 0 || to_id < 0) return std::nullopt;
  const int from = plan_.tensor_of[from_id];
  const GpuTensor &source = plan_.tensors[from];
  const GpuTensor &target = plan_.tensors[plan_.tensor_of[to_id]];
  if (source.is_constant || target.alias_of >= 0) return std::nullopt;
  // The pixels of a part are not consecutive.
  if (source.joined_channels != 0 &&
      (source.dims.c != target.dims.c || target.at_border)) {
    return std::nullopt;
  }
  const int root = plan_.RootIndex(from);
  // The caller's memory is that of one input or output.
  const bool in_caller = target.caller >= 0 || plan_.tensors[root].caller >= 0;
  const bool float_only = source.kept_in_float || target.kept_in_float;
  const auto narrows = [&](GpuStorage storage) {
    return float_only && StorageElement(storage) == DataType::kFloat16;
  };
  if (in_caller && target.at_border && AtBorder(root)) return std::nullopt;
  const auto fits = [&](GpuStorage storage) {
    if (IsDense(storage)) return true;
    if (IsPadded(storage)) {
      return source.dims.c == target.dims.c ||
             (source.dims.c % 4 == 0 && target.dims.c % 4 == 0);
    }
    return source.dims == target.dims;
  };
  const GpuStorage now = source.storage;
  if (narrows(now)) return std::nullopt;
  const bool kept = !target.at_border || target.storage == now;
  if (kept && fits(now)) return now;
  if (AtBorder(root) || ReadersOf(root) > 1) return std::nullopt;
  if (target.at_border) {
    if (!IsDense(target.storage) || narrows(target.storage)) {
      return std::nullopt;
    }
    return target.storage;
  }
  const auto with = [&](GpuLayout layout) -> std::optional<GpuStorage> {
    const auto storage = StorageOf(layout, StorageElement(now));
    if (!storage.ok()) return std::nullopt;
    return storage.value();
  };
  const std::optional<GpuStorage> padded = with(GpuLayout::kPadded);
  if (IsImage(now) && padded.has_value() && fits(*padded)) return padded;
  return with(GpuLayout::kDense);
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

size_t NodeContext::Scratch(const GpuDims &dims, bool in_float) {
  GpuTensor tensor;
  tensor.dims = dims;
  tensor.storage = planner_->Preferred(dims, in_float || in_float_);
  scratch_.push_back(static_cast<int>(planner_->plan_.tensors.size()));
  planner_->plan_.tensors.push_back(tensor);
  return scratch_.size() - 1;
}

// The tensor of an argument; -1 if it has none.
Result<int> Planner::TensorOf(
    const LaunchArgument &argument,
    const std::vector<const NodeContext *> &nodes) const {
  const NodeContext &context = *nodes[argument.node];
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
      return at(context.node().inputs);
    case LaunchArgument::Kind::kOutput:
      return at(context.node().outputs);
    case LaunchArgument::Kind::kScratch:
      return context.scratch()[argument.index];
    default:
      return -1;
  }
}

// A work group that the kernel demands must be one that the GPU has. A kernel
// may have a lower limit of its own, which is known when it is compiled.
MaceStatus CheckWorkGroup(const OpenclPlanOptions &options,
                          const Launch &launch) {
  const std::array<int64_t, 3> &group = launch.work_group();
  const auto items = static_cast<size_t>(group[0] * group[1] * group[2]);
  bool fits = items <= options.traits.max_work_group;
  for (size_t i = 0; i < 3; ++i) {
    fits =
        fits && static_cast<size_t>(group[i]) <= options.device->max_items[i];
  }
  if (fits) return MaceStatus();
  return Unsupported("its kernel ", launch.kernel(), " needs work groups of ",
                     group[0], "x", group[1], "x", group[2],
                     " items, more than the GPU has");
}

// The index of the value that holds.
size_t Planner::Choose(TuningChoice choice) {
  options_.tuned->Apply(&choice);
  open_choices_.push_back(std::move(choice));
  return open_choices_.back().chosen;
}

MaceStatus Planner::FinishAll(std::vector<Launch> launches,
                              const std::vector<const NodeContext *> &nodes,
                              size_t segment) {
  const size_t begin = plan_.launches.size();
  for (Launch &launch : launches) {
    MACE_RETURN_IF_ERROR(Finish(std::move(launch), nodes, segment));
  }
  for (TuningChoice &choice : open_choices_) {
    choice.begin = begin;
    choice.end = plan_.launches.size();
    plan_.choices.push_back(std::move(choice));
  }
  open_choices_.clear();
  return MaceStatus();
}

MaceStatus Planner::Finish(Launch launch,
                           const std::vector<const NodeContext *> &nodes,
                           size_t segment) {
  MACE_RETURN_IF_ERROR(CheckWorkGroup(options_, launch));
  PlannedLaunch planned = {std::move(launch), {}, {}, segment, {}, {}, false};
  for (const NodeContext *context : nodes) {
    planned.nodes.push_back(static_cast<int>(context->index()));
    planned.in_float = context->in_float();
  }
  planned.group = planned.nodes;
  const int step = static_cast<int>(plan_.launches.size());
  for (const LaunchArgument &argument : planned.launch.arguments()) {
    MACE_ASSIGN_OR_RETURN(const int index, TensorOf(argument, nodes));
    planned.tensors.push_back(index);
    if (index < 0) continue;
    GpuTensor &root = plan_.tensors[plan_.RootIndex(index)];
    if (root.is_constant && argument.form == nullptr) {
      const Tensor &tensor = shapes_.tensors[static_cast<size_t>(root.id)];
      const bool raw = argument.kind == LaunchArgument::Kind::kConstant;
      MACE_ASSIGN_OR_RETURN(root.storage, StorageOfConstant(tensor, raw));
    }
    if (root.first < 0) root.first = step;
    root.last = step;
  }
  planned.program.source = &planned.launch.source();
  plan_.launches.push_back(std::move(planned));
  return MaceStatus();
}

std::vector<char> FindFloatTensors(const Graph &graph,
                                   const GraphShapes &shapes,
                                   const OpenclPlanOptions &options) {
  if (!options.traits.half_storage) return {};
  const std::vector<char> none;
  Planner planner(graph, shapes, options, none);
  std::vector<NumberRange> ranges(graph.nodes().size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (shapes.known_node[i] != 0) continue;
    const NodeContext context(&planner, i);
    // An operator that the GPU can't run is none that anything is known of.
    const auto made = MakeOp(context.def());
    if (!made.ok()) continue;
    ranges[i] = static_cast<const OpenclOp &>(*made.value()).Range(context);
  }
  return FloatTensors(graph, shapes, ranges);
}

MaceStatus CheckWithoutShapes(const Graph &graph, const GraphNode &node) {
  MACE_ASSIGN_OR_RETURN(const std::unique_ptr<Op> made, MakeOp(*node.def));
  const uint32_t types = ComputedTypes(static_cast<const OpenclOp &>(*made));
  for (int id : node.inputs) {
    if (id < 0) continue;
    const GraphTensor &entry = graph.tensors()[static_cast<size_t>(id)];
    if (entry.source != TensorSource::kInput) continue;
    const DataType type = graph.model().inputs[entry.input_index].data_type;
    if ((types & DataTypeBit(type)) == 0)
      return WrongType("takes", types, type);
  }
  return MaceStatus();
}

}  // namespace mace

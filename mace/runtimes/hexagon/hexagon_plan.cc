// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/hexagon/hexagon_plan.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "mace/core/base/data_type.h"
#include "mace/core/base/divide.h"
#include "mace/core/memory/memory_plan.h"
#include "mace/core/model/op.h"
#include "mace/kernels/hexagon/packing.h"

namespace mace {
namespace {

using hexagon::Area;
using hexagon::kSlackBytes;
using hexagon::kVectorBytes;
using hexagon::TensorPlace;

constexpr size_t kAlignment = kVectorBytes;
constexpr int32_t kPixelUnit = 8;
constexpr int32_t kNarrowPixel = 4;
// Of one tensor, with its padding.
constexpr int64_t kMostTensorBytes = int64_t{1} << 28;
constexpr uint8_t kSign = 0x80;

size_t Aligned(size_t bytes) { return RoundUp(bytes, kAlignment); }

bool IsWord(DataType type) { return type == DataType::kInt32; }
bool IsByte(DataType type) {
  return type == DataType::kInt8 || type == DataType::kUint8;
}
bool IsFlipped(const Tensor &tensor) {
  return tensor.data_type == DataType::kUint8;
}

int64_t PixelBytesOf(const Tensor &tensor, bool narrow) {
  const int64_t channels = HexagonDims::Of(tensor.shape).channels;
  if (IsWord(tensor.data_type)) return 4 * channels;
  return narrow ? kNarrowPixel : RoundUp(channels, kPixelUnit);
}

// What readers of a tensor want of it.
struct Wishes {
  HexagonPadding padding;
  bool narrow = false;  // pixels may have 4 bytes
  bool asked = false;
};

// Where pixels lie from the first one, with that padding.
Result<HexagonTensor> Layout(const Tensor &tensor, const Wishes &wishes) {
  const HexagonPadding &padding = wishes.padding;
  const HexagonDims dims = HexagonDims::Of(tensor.shape);
  const int64_t pixel = PixelBytesOf(tensor, wishes.narrow);
  // Each factor is at most 2^28, or the tensor is too large.
  const auto limited = [](int64_t value) {
    return std::min(value, kMostTensorBytes);
  };
  const int64_t row = RoundUp(
      limited(padding.left + dims.width + padding.right) * limited(pixel),
      kPixelUnit);
  const int64_t image =
      limited(padding.top + dims.height + padding.bottom) * limited(row);
  const int64_t before =
      limited(padding.top) * limited(row) + padding.left * limited(pixel);
  const int64_t all = limited(dims.batch) * limited(image);
  if (all + before > kMostTensorBytes) {
    return Unsupported("'", tensor.name, "' ", InsideText(tensor.shape),
                       " has more than ", kMostTensorBytes,
                       " bytes with what it reads around each image");
  }
  HexagonTensor made;
  TensorPlace &place = made.place;
  place.area = static_cast<uint32_t>(Area::kArena);
  place.element_bytes = IsWord(tensor.data_type) ? 4 : 1;
  place.batch = static_cast<int32_t>(dims.batch);
  place.height = static_cast<int32_t>(dims.height);
  place.width = static_cast<int32_t>(dims.width);
  place.channels = static_cast<int32_t>(dims.channels);
  place.pixel_bytes = static_cast<int32_t>(pixel);
  place.row_bytes = static_cast<int32_t>(row);
  place.image_bytes = static_cast<int32_t>(image);
  place.pad_top = static_cast<int32_t>(padding.top);
  place.pad_bottom = static_cast<int32_t>(padding.bottom);
  place.pad_left = static_cast<int32_t>(padding.left);
  place.pad_right = static_cast<int32_t>(padding.right);
  place.zero = IsWord(tensor.data_type) ? 0 : HexagonNumbers::Of(tensor).zero;
  made.before = static_cast<size_t>(before);
  made.bytes = made.before +
               static_cast<size_t>((dims.batch - 1) * image +
                                   (dims.height + padding.bottom) * row) +
               kSlackBytes;
  return made;
}

Result<std::unique_ptr<Op>> MakeOp(const OperatorDef &def) {
  const OpRegistration *found = OpRegistration::For(def, DeviceType::HEXAGON);
  if (found == nullptr) {
    const bool other =
        OpRegistration::Find(def.type, DeviceType::HEXAGON) != nullptr;
    return other ? Unsupported("the DSP runs it only in integers")
                 : Unsupported("there is no implementation for the DSP");
  }
  return found->factory()();
}

class Planner {
 public:
  Planner(const Graph &graph,
          const GraphShapes &shapes,
          HexagonConstants *constants,
          HexagonPlan *plan)
      : graph_(graph),
        shapes_(shapes),
        constants_(constants),
        plan_(*plan),
        tensor_of_(shapes.tensors.size(), -1),
        wishes_(shapes.tensors.size()) {
    plan_.reports.resize(graph.nodes().size());
  }

  // What is known before any instruction is planned.
  MaceStatus AskForWishes(size_t node);
  // Of readers together.
  void SettleWishes(const std::vector<int> &nodes);
  bool IsNarrow(int tensor) const {
    return wishes_[static_cast<size_t>(tensor)].narrow;
  }
  MaceStatus PlanNode(size_t node);
  MaceStatus PlanSegment(const PartitionSpec &spec, size_t segment);

  int step() const { return step_; }
  const Graph &graph() const { return graph_; }
  const GraphShapes &shapes() const { return shapes_; }
  HexagonConstants *constants() { return constants_; }
  // Adds an instruction to the last segment.
  template <typename Parameters>
  void Add(const Parameters &parameters, int node) {
    Add(Parameters::kOpcode, &parameters, sizeof(parameters), node);
  }
  void Add(hexagon::Opcode opcode,
           const void *parameters,
           size_t bytes,
           int node);
  // The index of a tensor of the graph, for the next instructions.
  uint32_t Use(int tensor);
  uint32_t AddScratch(int64_t bytes);
  // The first failure of a call that cannot return one.
  MaceStatus status() const { return status_; }

 private:
  MaceStatus CheckTypes(const GraphNode &node, const HexagonOp &op) const;
  uint32_t AddTensor(HexagonTensor tensor);
  void AddConstantTensor(const Tensor &tensor, HexagonTensor *made);
  void FillPaddingOf(int tensor, int node);
  size_t AddBorder(int tensor);
  void AddEnter(int tensor);
  void AddLeave(int tensor);
  bool IsKnown(int tensor) const {
    return shapes_.tensors[static_cast<size_t>(tensor)].data != nullptr;
  }
  bool IsEmpty(int tensor) const {
    return shapes_.tensors[static_cast<size_t>(tensor)].elements() == 0;
  }

  const Graph &graph_;
  const GraphShapes &shapes_;
  HexagonConstants *constants_;
  HexagonPlan &plan_;
  std::vector<int> tensor_of_;  // per tensor of the graph: of the plan, or -1
  std::vector<Wishes> wishes_;  // likewise
  std::vector<size_t> used_;    // by the operator, of the plan's tensors
  int step_ = 0;
  MaceStatus status_;
};

class NodeContext final : public HexagonPlanContext {
 public:
  NodeContext(Planner *planner, size_t node)
      : planner_(planner),
        index_(node),
        node_(planner->graph().nodes()[node]) {}

  const OperatorDef &def() const override { return *node_.def; }
  const OpAttributes &attributes() const override {
    return node_.attributes.get();
  }
  const DeploymentHints &hints() const override {
    return planner_->graph().hints();
  }
  size_t input_count() const override { return node_.inputs.size(); }
  size_t output_count() const override { return node_.outputs.size(); }
  const Tensor *input(size_t port) const override {
    return TensorAt(planner_->shapes().tensors, node_.inputs, port);
  }
  const Tensor *output(size_t port) const override {
    return TensorAt(planner_->shapes().tensors, node_.outputs, port);
  }
  uint32_t Input(size_t port) override {
    return planner_->Use(node_.inputs[port]);
  }
  uint32_t Output(size_t port) override {
    return planner_->Use(node_.outputs[port]);
  }
  uint32_t Scratch(int64_t bytes) override {
    return planner_->AddScratch(bytes);
  }
  int32_t PixelBytes(size_t port) const override {
    return static_cast<int32_t>(
        PixelBytesOf(*input(port), planner_->IsNarrow(node_.inputs[port])));
  }
  uint32_t Constant(const std::string &name,
                    int64_t bytes,
                    Fill fill) override {
    return planner_->constants()->Add(static_cast<int>(index_), name,
                                      static_cast<size_t>(bytes),
                                      std::move(fill));
  }

  const std::vector<int64_t> &Once(const Make &make) override {
    const auto [found, added] =
        planner_->constants()->once()->try_emplace(node_.def);
    if (added) found->second = make();
    return found->second;
  }

 private:
  void AddInstruction(hexagon::Opcode opcode,
                      const void *parameters,
                      size_t bytes) override {
    planner_->Add(opcode, parameters, bytes, static_cast<int>(index_));
  }

  Planner *planner_;
  size_t index_;
  const GraphNode &node_;
};

MaceStatus WrongType(const Tensor &tensor, const char *verb, bool words) {
  return Unsupported("the DSP ", verb, " int8 or uint8",
                     words ? ", or int32, " : ", ", "not ",
                     DataTypeName(tensor.data_type), " ('", tensor.name, "')");
}

MaceStatus Planner::CheckTypes(const GraphNode &node,
                               const HexagonOp &op) const {
  const auto check = [&](int id, const char *verb) -> MaceStatus {
    if (id < 0 || IsKnown(id)) return MaceStatus();
    const Tensor &tensor = shapes_.tensors[static_cast<size_t>(id)];
    const bool words = op.TakesWords();
    if (!IsByte(tensor.data_type) && !(words && IsWord(tensor.data_type))) {
      return WrongType(tensor, verb, words);
    }
    if (tensor.quantization != nullptr && tensor.quantization->quantized() &&
        !tensor.quantization->per_tensor()) {
      return Unsupported("'", tensor.name, "' has more than one scale");
    }
    return MaceStatus();
  };
  for (int id : node.inputs) MACE_RETURN_IF_ERROR(check(id, "takes"));
  for (int id : node.outputs) MACE_RETURN_IF_ERROR(check(id, "gives"));
  return MaceStatus();
}

MaceStatus Planner::AskForWishes(size_t index) {
  const GraphNode &node = graph_.nodes()[index];
  MACE_ASSIGN_OR_RETURN(const std::unique_ptr<Op> made, MakeOp(*node.def));
  const auto &op = static_cast<const HexagonOp &>(*made);
  NodeContext context(this, index);
  for (size_t port = 0; port < node.inputs.size(); ++port) {
    const int id = node.inputs[port];
    if (id < 0 || IsKnown(id)) continue;
    const HexagonPadding wanted = op.Padding(context, port);
    Wishes &wishes = wishes_[static_cast<size_t>(id)];
    HexagonPadding &padding = wishes.padding;
    const Tensor &tensor = shapes_.tensors[static_cast<size_t>(id)];
    // Windows begin at multiples of 8 bytes; those of other readers may not,
    // where they begin elsewhere.
    const bool narrow =
        IsByte(tensor.data_type) &&
        HexagonDims::Of(tensor.shape).channels <= kNarrowPixel &&
        op.TakesNarrowPixels(context, port);
    wishes.narrow = narrow && (!wishes.asked ||
                               (wishes.narrow && padding.left == wanted.left));
    wishes.asked = true;
    padding.top = std::max(padding.top, wanted.top);
    padding.bottom = std::max(padding.bottom, wanted.bottom);
    padding.left = std::max(padding.left, wanted.left);
    padding.right = std::max(padding.right, wanted.right);
  }
  return MaceStatus();
}

// Only what enters has narrow pixels: no operator writes such.
void Planner::SettleWishes(const std::vector<int> &nodes) {
  for (const int index : nodes) {
    for (int id : graph_.nodes()[static_cast<size_t>(index)].outputs) {
      if (id >= 0) wishes_[static_cast<size_t>(id)].narrow = false;
    }
  }
}

void Planner::Add(hexagon::Opcode opcode,
                  const void *parameters,
                  size_t bytes,
                  int node) {
  HexagonInstruction instruction;
  instruction.opcode = opcode;
  const auto *begin = static_cast<const uint8_t *>(parameters);
  instruction.parameters.assign(begin, begin + bytes);
  instruction.node = node;
  plan_.segments.back().push_back(std::move(instruction));
  ++step_;
}

uint32_t Planner::AddTensor(HexagonTensor tensor) {
  tensor.first = step_;
  tensor.last = step_;
  plan_.tensors.push_back(tensor);
  used_.push_back(plan_.tensors.size() - 1);
  return static_cast<uint32_t>(plan_.tensors.size() - 1);
}

uint32_t Planner::AddScratch(int64_t bytes) {
  Tensor row;
  row.name = "scratch";
  row.data_type = DataType::kInt8;
  row.shape = {bytes};
  auto made = Layout(row, Wishes());
  if (!made.ok()) {
    status_ = made.status();
    return AddTensor(HexagonTensor());
  }
  return AddTensor(made.value());
}

void Planner::AddConstantTensor(const Tensor &tensor, HexagonTensor *made) {
  made->place.area = static_cast<uint32_t>(Area::kConstants);
  const TensorPlace place = made->place;
  const bool flip = IsFlipped(tensor);
  const auto *from = static_cast<const uint8_t *>(tensor.data);
  // Values that are known before the run depend on shapes.
  const auto bytes = static_cast<size_t>(tensor.bytes());
  std::vector<uint8_t> copy(from, from + bytes);
  uint32_t crc = 0;
  for (uint8_t byte : copy) crc = crc * 16777619u ^ byte;
  made->place.offset = constants_->Add(
      -1, MakeString("tensor ", tensor.name, " ", bytes, " ", crc), made->bytes,
      [place, flip, copy = std::move(copy)](uint8_t *memory) {
        const auto channels =
            static_cast<size_t>(place.channels) * place.element_bytes;
        const uint8_t *next = copy.data();
        for (int32_t row = 0; row < place.batch * place.height; ++row) {
          for (int32_t x = 0; x < place.width; ++x) {
            uint8_t *to = memory + static_cast<size_t>(row) * place.row_bytes +
                          static_cast<size_t>(x) * place.pixel_bytes;
            for (size_t c = 0; c < channels; ++c) {
              to[c] = static_cast<uint8_t>(*next++ ^ (flip ? kSign : 0));
            }
          }
        }
      });
}

uint32_t Planner::Use(int id) {
  int &index = tensor_of_[static_cast<size_t>(id)];
  if (index >= 0) {
    plan_.tensors[static_cast<size_t>(index)].last = step_;
    used_.push_back(static_cast<size_t>(index));
    return static_cast<uint32_t>(index);
  }
  const Tensor &tensor = shapes_.tensors[static_cast<size_t>(id)];
  const bool known = tensor.data != nullptr;
  if (known && (IsPacked(tensor.layout) ||
                (!IsByte(tensor.data_type) && !IsWord(tensor.data_type)))) {
    status_ = Unsupported("the constant '", tensor.name,
                          "' is neither int8 nor uint8 nor int32");
  }
  auto made =
      Layout(tensor, known ? Wishes() : wishes_[static_cast<size_t>(id)]);
  if (!made.ok()) status_ = made.status();
  HexagonTensor entry = made.ok() ? made.value() : HexagonTensor();
  if (known && IsOk(status_)) AddConstantTensor(tensor, &entry);
  index = static_cast<int>(AddTensor(entry));
  return static_cast<uint32_t>(index);
}

void Planner::FillPaddingOf(int id, int node) {
  const HexagonPadding &padding = wishes_[static_cast<size_t>(id)].padding;
  if (padding.top + padding.bottom + padding.left + padding.right == 0) return;
  Add(hexagon::FillPaddingParameters{Use(id)}, node);
}

MaceStatus Planner::PlanNode(size_t index) {
  const GraphNode &node = graph_.nodes()[index];
  MACE_ASSIGN_OR_RETURN(const std::unique_ptr<Op> made, MakeOp(*node.def));
  const auto &op = static_cast<const HexagonOp &>(*made);
  MACE_RETURN_IF_ERROR(CheckTypes(node, op));
  for (int id : node.outputs) {
    if (id >= 0 && IsEmpty(id)) {
      return Unsupported("its output has no elements");
    }
  }
  NodeContext context(this, index);
  used_.clear();
  MACE_RETURN_IF_ERROR(op.Plan(&context));
  MACE_RETURN_IF_ERROR(status_);
  // Any of its instructions may use them.
  for (const size_t used : used_) plan_.tensors[used].last = step_ - 1;
  plan_.reports[index] = op.Report(context);
  for (int id : node.outputs) {
    if (id >= 0 && tensor_of_[static_cast<size_t>(id)] >= 0) {
      FillPaddingOf(id, static_cast<int>(index));
    }
  }
  return status_;
}

size_t Planner::AddBorder(int id) {
  if (const HexagonBorder *found = plan_.FindBorder(id)) return found->offset;
  const size_t offset = plan_.border_bytes;
  const Tensor &tensor = shapes_.tensors[static_cast<size_t>(id)];
  plan_.borders.push_back({id, offset});
  plan_.border_bytes +=
      Aligned(static_cast<size_t>(tensor.bytes()) + kSlackBytes);
  return offset;
}

void Planner::AddEnter(int id) {
  const Tensor &tensor = shapes_.tensors[static_cast<size_t>(id)];
  const auto offset = static_cast<uint32_t>(AddBorder(id));
  Add(hexagon::EnterParameters{Use(id), offset, IsFlipped(tensor) ? 1u : 0u},
      -1);
  FillPaddingOf(id, -1);
}

void Planner::AddLeave(int id) {
  const Tensor &tensor = shapes_.tensors[static_cast<size_t>(id)];
  const auto offset = static_cast<uint32_t>(AddBorder(id));
  Add(hexagon::LeaveParameters{Use(id), offset, IsFlipped(tensor) ? 1u : 0u},
      -1);
}

MaceStatus Planner::PlanSegment(const PartitionSpec &spec, size_t segment) {
  plan_.segments.emplace_back();
  const std::vector<int> &nodes = spec.segments[segment];
  // Only what operators of the DSP read: others may need the memory alone.
  for (const PartitionSpec::Border &border : spec.imports) {
    if (IsKnown(border.tensor)) continue;
    AddBorder(border.tensor);
    if (border.segment != segment || IsEmpty(border.tensor)) continue;
    bool read = false;
    for (const std::vector<int> &other : spec.segments) {
      for (const int index : other) {
        const GraphNode &node = graph_.nodes()[static_cast<size_t>(index)];
        if (shapes_.known_node[static_cast<size_t>(index)]) continue;
        read = read || std::find(node.inputs.begin(), node.inputs.end(),
                                 border.tensor) != node.inputs.end();
      }
    }
    if (read) AddEnter(border.tensor);
  }
  std::vector<int> made;
  for (const int index : nodes) {
    const auto node = static_cast<size_t>(index);
    if (shapes_.known_node[node]) continue;
    MACE_RETURN_IF_ERROR(AtOperator(*graph_.nodes()[node].def, PlanNode(node)));
    for (int id : graph_.nodes()[node].outputs) made.push_back(id);
  }
  for (const PartitionSpec::Border &border : spec.exports) {
    if (IsKnown(border.tensor)) continue;
    AddBorder(border.tensor);
    if (std::find(made.begin(), made.end(), border.tensor) != made.end()) {
      AddLeave(border.tensor);
    }
  }
  return status_;
}

}  // namespace

uint32_t HexagonConstants::Add(int node,
                               const std::string &name,
                               size_t bytes,
                               HexagonPlanContext::Fill fill) {
  const auto [found, added] = entries_.try_emplace({node, name});
  Entry &entry = found->second;
  if (added) {
    entry.offset = end_;
    entry.bytes = bytes;
    entry.fill = std::move(fill);
    end_ += Aligned(bytes);
    has_new_ = true;
  }
  return static_cast<uint32_t>(entry.offset);
}

size_t HexagonConstants::bytes() const { return end_ + kSlackBytes; }

void HexagonConstants::Fill(uint8_t *memory) {
  for (auto &[key, entry] : entries_) {
    if (entry.fill == nullptr) continue;
    entry.fill(memory + entry.offset);
    entry.fill = nullptr;
  }
  has_new_ = false;
}

const HexagonBorder *HexagonPlan::FindBorder(int tensor) const {
  const auto found = std::find_if(
      borders.begin(), borders.end(),
      [tensor](const HexagonBorder &b) { return b.tensor == tensor; });
  return found == borders.end() ? nullptr : &*found;
}

Result<HexagonPlan> MakeHexagonPlan(const Graph &graph,
                                    const PartitionSpec &spec,
                                    const GraphShapes &shapes,
                                    HexagonConstants *constants) {
  HexagonPlan plan;
  Planner planner(graph, shapes, constants, &plan);
  for (const std::vector<int> &nodes : spec.segments) {
    for (const int node : nodes) {
      if (shapes.known_node[static_cast<size_t>(node)]) continue;
      MACE_RETURN_IF_ERROR(planner.AskForWishes(static_cast<size_t>(node)));
    }
  }
  for (const std::vector<int> &nodes : spec.segments) {
    planner.SettleWishes(nodes);
  }
  for (size_t segment = 0; segment < spec.segments.size(); ++segment) {
    MACE_RETURN_IF_ERROR(planner.PlanSegment(spec, segment));
  }
  return plan;
}

MaceStatus TryHexagonNode(const Graph &graph,
                          size_t node,
                          const GraphShapes *shapes,
                          std::shared_ptr<HexagonOnce> once) {
  if (shapes == nullptr) {
    return MakeOp(*graph.nodes()[node].def).status();
  }
  HexagonConstants constants(std::move(once));
  HexagonPlan plan;
  plan.segments.emplace_back();
  Planner planner(graph, *shapes, &constants, &plan);
  MACE_RETURN_IF_ERROR(planner.AskForWishes(node));
  return planner.PlanNode(node);
}

Result<size_t> PlaceTensors(HexagonPlan *plan) {
  std::vector<PlanRequest> requests;
  std::vector<HexagonTensor *> placed;
  for (HexagonTensor &tensor : plan->tensors) {
    if (tensor.place.area != static_cast<uint32_t>(Area::kArena)) continue;
    PlanRequest request;
    request.bytes = Aligned(tensor.bytes);
    request.first = tensor.first;
    request.last = tensor.last;
    requests.push_back(request);
    placed.push_back(&tensor);
  }
  MACE_ASSIGN_OR_RETURN(const MemoryPlan memory, PlanMemory(requests));
  // A wrong plan would corrupt results silently.
  MACE_RETURN_IF_ERROR(VerifyPlan(requests, memory));
  constexpr size_t kMostBytes = size_t{1} << 31;
  if (memory.arena_bytes > kMostBytes) {
    return OutOfResources("the tensors between the DSP's operators have ",
                          memory.arena_bytes, " bytes");
  }
  for (size_t i = 0; i < placed.size(); ++i) {
    placed[i]->place.offset =
        static_cast<uint32_t>(memory.offsets[i] + placed[i]->before);
  }
  plan->fast_offset = Aligned(memory.arena_bytes);
  return plan->fast_offset + plan->fast_bytes;
}

std::vector<uint8_t> EncodeProgram(const HexagonPlan &plan, size_t segment) {
  std::vector<uint8_t> bytes;
  const auto append = [&bytes](const void *data, size_t size) {
    const auto *begin = static_cast<const uint8_t *>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  };
  hexagon::ProgramHeader header = {
      hexagon::kProgramMagic,
      hexagon::kProgramVersion,
      0,
      static_cast<uint32_t>(plan.tensors.size()),
      static_cast<uint32_t>(plan.segments[segment].size()),
      static_cast<uint32_t>(plan.fast_bytes),
      static_cast<uint32_t>(plan.fast_offset)};
  append(&header, sizeof(header));
  for (const HexagonTensor &tensor : plan.tensors) {
    append(&tensor.place, sizeof(tensor.place));
  }
  for (const HexagonInstruction &instruction : plan.segments[segment]) {
    const hexagon::InstructionHeader start = {
        static_cast<uint32_t>(instruction.opcode),
        static_cast<uint32_t>(sizeof(hexagon::InstructionHeader) +
                              instruction.parameters.size())};
    append(&start, sizeof(start));
    append(instruction.parameters.data(), instruction.parameters.size());
  }
  header.bytes = static_cast<uint32_t>(bytes.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

const char *InstructionName(hexagon::Opcode opcode) {
  switch (opcode) {
#define MACE_HEXAGON_NAME(name)  \
  case hexagon::Opcode::k##name: \
    return #name;
    MACE_HEXAGON_INSTRUCTIONS(MACE_HEXAGON_NAME)
#undef MACE_HEXAGON_NAME
  }
  return "";
}

}  // namespace mace

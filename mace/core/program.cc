// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/program.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "mace/core/heap_sort.h"
#include "mace/core/model_check.h"
#include "mace/core/node_run_context.h"
#include "mace/core/pages.h"

namespace mace {
namespace {

// Largest output that is computed before the run: shapes and slices of shapes
// are some ten numbers; 4 KiB leaves room for constants made from them.
constexpr int64_t kMaxKnownBytes = 4096;

// Bytes one tensor may have: half the address space, and 1 TiB at most.
constexpr int64_t kMaxTensorBytes =
    sizeof(void *) == 4 ? int64_t{INT32_MAX} : int64_t{1} << 40;

// Constants this close to each other are mapped as one.
constexpr ptrdiff_t kMaxGap = 4096;

const PortSchema &PortAt(const PortSchema *ports, size_t count, size_t index) {
  return ports[std::min(index, count - 1)];  // a variadic port is the last
}

// The types that a port takes in this program.
uint32_t TypesOf(const ProgramNode &node, const PortSchema &port) {
  constexpr uint32_t kFloat = DataTypeBit(DataType::kFloat32);
  const bool of_float = (port.data_types & kFloat) != 0;
  return of_float ? port.data_types | DataTypeBit(node.activations)
                  : port.data_types;
}

// Names the operator, unless the op did so itself.
MaceStatus AtNode(const ProgramNode &node, const MaceStatus &status) {
  if (IsOk(status)) return status;
  const std::string message = StatusMessage(status);
  if (message.find("'" + node.def->name + "'") != std::string::npos) {
    return status;
  }
  return MaceStatus(status.code(),
                    MakeString("operator '", node.def->name, "' (",
                               node.def->type, "): ", message));
}

class NodeReshapeContext final : public ReshapeContext {
 public:
  NodeReshapeContext(ProgramNode *node,
                     std::vector<ProgramTensor> *tensors,
                     ThreadPool *pool,
                     std::vector<PrepareRequest> *requests)
      : node_(node), tensors_(tensors), pool_(pool), requests_(requests) {
    node_->scratch_bytes = 0;
    node_->in_place.clear();
    node_->parts.clear();
    node_->strided_inputs.assign(node_->inputs.size(), 0);
    node_->strided_outputs.assign(node_->outputs.size(), 0);
    for (int id : node_->outputs) {
      if (id >= 0) (*tensors_)[id].tensor.data_type = DataType::kUnknown;
    }
  }

  size_t input_count() const override { return node_->inputs.size(); }
  size_t output_count() const override { return node_->outputs.size(); }
  const Tensor *input(size_t index) const override {
    return TensorAt(*tensors_, node_->inputs, index);
  }
  void SetOutput(size_t index,
                 const Shape &shape,
                 DataType data_type) override {
    if (index >= node_->outputs.size() || node_->outputs[index] < 0) return;
    Tensor &tensor = (*tensors_)[node_->outputs[index]].tensor;
    tensor.shape = shape;
    tensor.data_type = data_type;
  }
  void RequestScratch(size_t bytes) override { node_->scratch_bytes = bytes; }
  void AllowInPlace(size_t output, size_t input) override {
    node_->in_place.emplace_back(output, input);
  }
  void AllowStridedInput(size_t input) override {
    if (input < node_->strided_inputs.size()) node_->strided_inputs[input] = 1;
  }
  void AllowStridedOutput(size_t output) override {
    if (output < node_->strided_outputs.size()) {
      node_->strided_outputs[output] = 1;
    }
  }
  void AllowPart(size_t output, size_t input, const PartPlace &place) override {
    if (output < node_->outputs.size() && input < node_->inputs.size()) {
      node_->parts.push_back({output, input, place});
    }
  }
  void RequestPrepared(size_t bytes, Fill fill) override {
    requests_->push_back({node_, bytes, std::move(fill)});
  }
  ThreadPool *thread_pool() const override { return pool_; }

 private:
  ProgramNode *node_;
  std::vector<ProgramTensor> *tensors_;
  ThreadPool *pool_;
  std::vector<PrepareRequest> *requests_;
};

}  // namespace

class NodeInitContext final : public InitContext {
 public:
  NodeInitContext(Program *program,
                  ProgramNode *node,
                  const DeploymentHints &hints)
      : program_(program), node_(node), hints_(hints) {}

  const OperatorDef &def() const override { return *node_->def; }
  const DeploymentHints &hints() const override { return hints_; }
  size_t input_count() const override { return node_->inputs.size(); }
  const Tensor *constant(size_t index) const override {
    const Tensor *tensor = TensorAt(program_->tensors_, node_->inputs, index);
    return tensor != nullptr && tensor->is_constant ? tensor : nullptr;
  }
  bool has_input(size_t index) const override {
    return TensorAt(program_->tensors_, node_->inputs, index) != nullptr;
  }
  Device *device() const override { return program_->device_; }
  ThreadPool *thread_pool() const override { return program_->pool_; }
  void *AllocatePrepared(size_t bytes) override {
    void *memory = program_->AllocatePrepared(bytes);
    if (memory != nullptr) program_->prepared_bytes_ += bytes;
    return memory;
  }

 private:
  Program *program_;
  ProgramNode *node_;
  const DeploymentHints &hints_;
};

Result<std::unique_ptr<Program>> Program::Create(
    const Model &model,
    const void *weights,
    const std::vector<std::string> &outputs,
    Device *device,
    ThreadPool *pool) {
  std::unique_ptr<Program> program(new Program());
  program->device_ = device;
  program->pool_ = pool;
  MACE_RETURN_IF_ERROR(program->Build(model, weights, outputs));
  program->MapConstants();
  MACE_RETURN_IF_ERROR(program->InitNodes(model));
  MACE_RETURN_IF_ERROR(program->PlaceConversions(model.hints));
  return program;
}

// Brings in what operators will read, and not what only others would.
void Program::MapConstants() {
  using Range = std::pair<const char *, const char *>;
  std::vector<Range> ranges;
  for (const ProgramTensor &entry : tensors_) {
    if (!entry.tensor.is_constant || entry.stored_bytes <= 0) continue;
    const char *begin = static_cast<const char *>(entry.tensor.data);
    ranges.emplace_back(begin, begin + entry.stored_bytes);
  }
  HeapSort(ranges.begin(), ranges.end());
  if (ranges.empty()) return;
  Range joined = ranges.front();
  const auto map = [&] {
    MapPagesToRead(joined.first,
                   static_cast<size_t>(joined.second - joined.first), pool_);
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

MaceStatus Program::InitNodes(const Model &model) {
  for (ProgramNode &node : nodes_) {
    const OpRegistration *entry =
        OpRegistration::Find(node.def->type, device_->type());
    if (entry == nullptr) {
      return RuntimeError("model '", model.name, "' was not checked");
    }
    node.schema = entry->schema();
    node.op = entry->factory()();
    MACE_RETURN_IF_ERROR(InitNode(&node, model.hints));
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus Program::InitNode(ProgramNode *node, const DeploymentHints &hints) {
  NodeInitContext context(this, node, hints);
  return AtNode(*node, node->op->Init(&context));
}

MaceStatus Program::Reshape() {
  for (ProgramTensor &entry : tensors_) {
    entry.known = false;
    entry.tensor.row_stride = 0;
    if (!entry.tensor.is_constant) entry.tensor.data = nullptr;
  }
  std::vector<PrepareRequest> requests;
  for (ProgramNode &node : nodes_) {
    node.known = false;
    MACE_RETURN_IF_ERROR(AtNode(node, CheckInputTypes(node)));
    std::vector<PrepareRequest> own;
    MACE_RETURN_IF_ERROR(AtNode(node, ReshapeNode(&node, &own)));
    if (ShouldCompute(node)) {
      MACE_RETURN_IF_ERROR(FillPrepared(own));
      MACE_RETURN_IF_ERROR(AtNode(node, ComputeKnown(&node)));
    } else {
      std::move(own.begin(), own.end(), std::back_inserter(requests));
    }
  }
  return FillPrepared(requests);
}

void *Program::AllocatePrepared(size_t bytes) {
  AlignedMemory memory;
  // One byte at least, so that null always means failure.
  if (!memory.Allocate(std::max<size_t>(bytes, 1))) return nullptr;
  prepared_.push_back(std::move(memory));
  return prepared_.back().data();
}

// In one block, so that many small filters share large pages. If there is no
// memory for it, the first operator says so: it knows what would take less.
MaceStatus Program::FillPrepared(const std::vector<PrepareRequest> &requests) {
  if (requests.empty()) return MaceStatus::MACE_SUCCESS;
  size_t total = 0;
  for (const PrepareRequest &request : requests) {
    total += AlignUp(request.bytes);
  }
  auto *block = static_cast<char *>(AllocatePrepared(total));
  if (block == nullptr) {
    return AtNode(*requests[0].node, requests[0].fill(nullptr));
  }
  MapNewMemoryInParts(block, total, pool_);
  for (const PrepareRequest &request : requests) {
    MACE_RETURN_IF_ERROR(AtNode(*request.node, request.fill(block)));
    block += AlignUp(request.bytes);
    prepared_bytes_ += request.bytes;
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus Program::CheckInputTypes(const ProgramNode &node) const {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Tensor *tensor = TensorAt(tensors_, node.inputs, i);
    if (tensor == nullptr) continue;
    const PortSchema &port =
        PortAt(node.schema->inputs, node.schema->input_count, i);
    if ((TypesOf(node, port) & DataTypeBit(tensor->data_type)) == 0) {
      return InvalidArgs("input '", port.name, "' ('", tensor->name, "') is ",
                         DataTypeName(tensor->data_type), "; it takes ",
                         DataTypeNames(port.data_types));
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus Program::ReshapeNode(ProgramNode *node,
                                std::vector<PrepareRequest> *requests) {
  NodeReshapeContext context(node, &tensors_, pool_, requests);
  MACE_RETURN_IF_ERROR(node->op->Reshape(&context));
  for (size_t i = 0; i < node->outputs.size(); ++i) {
    if (node->outputs[i] < 0) continue;
    ProgramTensor &entry = tensors_[node->outputs[i]];
    const Tensor &tensor = entry.tensor;
    const PortSchema &port =
        PortAt(node->schema->outputs, node->schema->output_count, i);
    if ((TypesOf(*node, port) & DataTypeBit(tensor.data_type)) == 0 ||
        tensor.data_type == DataType::kUnknown) {
      return RuntimeError("output '", port.name, "' came out as ",
                          DataTypeName(tensor.data_type),
                          ", which its declaration does not allow");
    }
    const auto size = static_cast<int64_t>(DataTypeSize(tensor.data_type));
    if (tensor.shape.CheckedElements(kMaxTensorBytes / size) < 0) {
      return InvalidArgs("output '", tensor.name, "' would have the shape ",
                         tensor.shape.ToString(),
                         ", which is negative or too large");
    }
    entry.stored_bytes = tensor.bytes();
  }
  return MaceStatus::MACE_SUCCESS;
}

bool Program::ShouldCompute(const ProgramNode &node) const {
  if (!node.op->DependsOnShapesOnly()) {
    for (int id : node.inputs) {
      if (id >= 0 && tensors_[id].tensor.data == nullptr) return false;
    }
  }
  for (int id : node.outputs) {
    if (id >= 0 && tensors_[id].tensor.bytes() > kMaxKnownBytes) return false;
  }
  return true;
}

MaceStatus Program::ComputeKnown(ProgramNode *node) {
  AlignedMemory scratch;
  if (!scratch.Allocate(node->scratch_bytes)) {
    return OutOfResources("no memory for ", node->scratch_bytes,
                          " bytes of scratch");
  }
  node->scratch = scratch.data();
  for (int id : node->outputs) {
    if (id < 0) continue;
    ProgramTensor &entry = tensors_[id];
    // Whole cache lines, as everywhere else, and never null.
    const size_t bytes =
        AlignUp(std::max<size_t>(1, static_cast<size_t>(entry.stored_bytes)));
    if (entry.known_value.bytes() < bytes &&
        !entry.known_value.Allocate(bytes)) {
      return OutOfResources("no memory for ", bytes, " bytes");
    }
    entry.tensor.data = entry.known_value.data();
    entry.known = true;
  }
  const MaceStatus status = RunOp(node);
  node->scratch = nullptr;
  node->known = true;
  return status;
}

MaceStatus Program::RunOp(ProgramNode *node) {
  NodeRunContext context(node, &tensors_, device_, pool_);
  return node->op->Run(&context);
}

MaceStatus Program::RunNode(size_t index) {
  return AtNode(nodes_[index], RunOp(&nodes_[index]));
}

}  // namespace mace

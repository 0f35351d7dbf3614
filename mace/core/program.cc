// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/program.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "mace/core/model_check.h"
#include "mace/core/near_names.h"

namespace mace {
namespace {

// Largest output that is computed before the run: shapes and slices of shapes
// are some ten numbers; 4 KiB leaves room for constants made from them.
constexpr int64_t kMaxKnownBytes = 4096;

// Bytes one tensor may have: half the address space, and 1 TiB at most.
constexpr int64_t kMaxTensorBytes =
    sizeof(void *) == 4 ? int64_t{INT32_MAX} : int64_t{1} << 40;

const PortSchema &PortAt(const PortSchema *ports, size_t count, size_t index) {
  return ports[std::min(index, count - 1)];  // a variadic port is the last
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

const Tensor *TensorAt(const std::vector<ProgramTensor> &tensors,
                       const std::vector<int> &ports,
                       size_t index) {
  if (index >= ports.size() || ports[index] < 0) return nullptr;
  return &tensors[ports[index]].tensor;
}

void *Prepare(ProgramNode *node, size_t bytes, size_t *total) {
  AlignedMemory memory;
  // One byte at least, so that null always means failure.
  if (!memory.Allocate(std::max<size_t>(bytes, 1))) return nullptr;
  std::memset(memory.data(), 0, memory.bytes());
  *total += bytes;
  node->prepared.push_back(std::move(memory));
  return node->prepared.back().data();
}

class NodeReshapeContext final : public ReshapeContext {
 public:
  NodeReshapeContext(ProgramNode *node,
                     std::vector<ProgramTensor> *tensors,
                     ThreadPool *pool,
                     size_t *prepared_bytes)
      : node_(node),
        tensors_(tensors),
        pool_(pool),
        prepared_bytes_(prepared_bytes) {
    node_->scratch_bytes = 0;
    node_->in_place.clear();
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
  void *AllocatePrepared(size_t bytes) override {
    return Prepare(node_, bytes, prepared_bytes_);
  }
  ThreadPool *thread_pool() const override { return pool_; }

 private:
  ProgramNode *node_;
  std::vector<ProgramTensor> *tensors_;
  ThreadPool *pool_;
  size_t *prepared_bytes_;
};

class NodeRunContext final : public RunContext {
 public:
  NodeRunContext(ProgramNode *node,
                 std::vector<ProgramTensor> *tensors,
                 Device *device,
                 ThreadPool *pool)
      : node_(node), tensors_(tensors), device_(device), pool_(pool) {}

  size_t input_count() const override { return node_->inputs.size(); }
  size_t output_count() const override { return node_->outputs.size(); }
  const Tensor *input(size_t index) const override {
    return TensorAt(*tensors_, node_->inputs, index);
  }
  Tensor *output(size_t index) const override {
    if (index >= node_->outputs.size() || node_->outputs[index] < 0) {
      return nullptr;
    }
    return &(*tensors_)[node_->outputs[index]].tensor;
  }
  void *scratch() const override { return node_->scratch; }
  Device *device() const override { return device_; }
  ThreadPool *thread_pool() const override { return pool_; }

 private:
  ProgramNode *node_;
  std::vector<ProgramTensor> *tensors_;
  Device *device_;
  ThreadPool *pool_;
};

// Finds the operators that lead to the wanted tensors.
class Slicer {
 public:
  explicit Slicer(const Model &model) : model_(model) {
    for (size_t i = 0; i < model.operators.size(); ++i) {
      for (const std::string &output : model.operators[i].outputs) {
        if (!output.empty()) producer_[output] = i;
      }
    }
    keep_.assign(model.operators.size(), false);
  }
  void Want(const std::string &name) { wanted_.push_back(name); }
  // One flag per operator.
  const std::vector<bool> &Slice() {
    while (!wanted_.empty()) {
      const auto found = producer_.find(wanted_.back());
      wanted_.pop_back();
      if (found == producer_.end() || keep_[found->second]) continue;
      keep_[found->second] = true;
      for (const std::string &input : model_.operators[found->second].inputs) {
        if (!input.empty()) wanted_.push_back(input);
      }
    }
    return keep_;
  }

 private:
  const Model &model_;
  std::unordered_map<std::string, size_t> producer_;
  std::vector<std::string> wanted_;
  std::vector<bool> keep_;
};

// Every tensor name of the model, and every alias, with the tensor it means.
std::unordered_map<std::string, std::string> AllNames(const Model &model) {
  std::unordered_map<std::string, std::string> names;
  for (const auto &input : model.inputs) names[input.name] = input.name;
  for (const auto &constant : model.constants) {
    names[constant.name] = constant.name;
  }
  for (const auto &def : model.operators) {
    for (const auto &output : def.outputs) {
      if (!output.empty()) names[output] = output;
    }
  }
  for (const auto *infos : {&model.inputs, &model.outputs}) {
    for (const auto &info : *infos) {
      if (!info.alias.empty()) names.emplace(info.alias, info.name);
    }
  }
  return names;
}

// Names for a message about an unknown output: what people usually want first.
std::vector<std::string> OutputNames(const Model &model) {
  std::vector<std::string> names;
  for (const auto &output : model.outputs) names.push_back(output.name);
  for (const auto &def : model.operators) {
    for (const auto &output : def.outputs) {
      if (!output.empty() &&
          std::find(names.begin(), names.end(), output) == names.end()) {
        names.push_back(output);
      }
    }
  }
  return names;
}

// Turns names or aliases of wanted outputs into names of tensors.
MaceStatus ResolveOutputs(const Model &model,
                          const std::vector<std::string> &outputs,
                          std::vector<std::string> *wanted) {
  const auto names = AllNames(model);
  std::string unknown;
  for (const std::string &output : outputs) {
    const auto found = names.find(output);
    if (found != names.end()) {
      wanted->push_back(found->second);
    } else {
      unknown += MakeString("\n  '", output, "'; the nearest are ",
                            NearNames(output, OutputNames(model)));
    }
  }
  if (unknown.empty()) return MaceStatus::MACE_SUCCESS;
  return InvalidArgs("model '", model.name,
                     "' has no tensor to give as output:", unknown);
}

// The tensors of a program by name.
class TensorTable {
 public:
  TensorTable(const Model &model,
              const void *weights,
              std::vector<ProgramTensor> *tensors,
              std::vector<int> *inputs)
      : model_(model),
        weights_(static_cast<const char *>(weights)),
        tensors_(tensors),
        inputs_(inputs) {
    for (size_t i = 0; i < model.inputs.size(); ++i) {
      input_index_[model.inputs[i].name] = i;
    }
    for (const ConstantInfo &constant : model.constants) {
      constants_[constant.name] = &constant;
    }
  }

  int Add(const std::string &name) {
    const int id = static_cast<int>(tensors_->size());
    ids_[name] = id;
    tensors_->emplace_back();
    tensors_->back().tensor.name = name;
    return id;
  }

  // Adds an input or a constant of the model at its first use.
  int Find(const std::string &name) {
    const auto found = ids_.find(name);
    if (found != ids_.end()) return found->second;
    const int id = Add(name);
    const auto constant = constants_.find(name);
    if (constant == constants_.end()) {
      FillInput(name, id);
    } else {
      FillConstant(*constant->second, id);
    }
    return id;
  }

 private:
  void FillInput(const std::string &name, int id) {
    ProgramTensor &entry = (*tensors_)[id];
    entry.source = TensorSource::kInput;
    entry.input_index = input_index_[name];
    entry.tensor.data_type = model_.inputs[entry.input_index].data_type;
    inputs_->push_back(id);
  }

  void FillConstant(const ConstantInfo &info, int id) {
    ProgramTensor &entry = (*tensors_)[id];
    entry.source = TensorSource::kConstant;
    entry.stored_bytes = static_cast<int64_t>(info.size);
    entry.tensor.data_type = info.data_type;
    entry.tensor.shape = info.dims;
    entry.tensor.is_constant = true;
    entry.tensor.layout = info.layout;
    entry.tensor.groups = info.groups;
    // Ops have read-only access by contract, and the mapping is read-only.
    entry.tensor.data = const_cast<char *>(weights_ + info.offset);
  }

  const Model &model_;
  const char *weights_;
  std::vector<ProgramTensor> *tensors_;
  std::vector<int> *inputs_;
  std::unordered_map<std::string, int> ids_;
  std::unordered_map<std::string, size_t> input_index_;
  std::unordered_map<std::string, const ConstantInfo *> constants_;
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
    return Prepare(node_, bytes, &program_->prepared_bytes_);
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
  MACE_RETURN_IF_ERROR(program->InitNodes(model));
  return program;
}

MaceStatus Program::Build(const Model &model,
                          const void *weights,
                          const std::vector<std::string> &outputs) {
  std::vector<std::string> wanted;
  MACE_RETURN_IF_ERROR(ResolveOutputs(model, outputs, &wanted));
  Slicer slicer(model);
  for (const std::string &name : wanted) slicer.Want(name);
  const std::vector<bool> &keep = slicer.Slice();

  TensorTable table(model, weights, &tensors_, &inputs_);
  for (size_t i = 0; i < model.operators.size(); ++i) {
    if (!keep[i]) continue;
    nodes_.emplace_back();
    nodes_.back().def = &model.operators[i];
    for (const std::string &output : model.operators[i].outputs) {
      nodes_.back().outputs.push_back(output.empty() ? -1 : table.Add(output));
    }
  }
  // Inputs and constants enter when something needs them.
  for (ProgramNode &node : nodes_) {
    for (const std::string &input : node.def->inputs) {
      node.inputs.push_back(input.empty() ? -1 : table.Find(input));
    }
  }
  for (const std::string &name : wanted) {
    const int id = table.Find(name);
    if (tensors_[id].tensor.layout != ConstantLayout::kPlain) {
      return InvalidArgs("'", name,
                         "' is a packed constant and can't be an output");
    }
    outputs_.push_back(id);
  }
  return MaceStatus::MACE_SUCCESS;
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
    NodeInitContext context(this, &node, model.hints);
    MACE_RETURN_IF_ERROR(AtNode(node, node.op->Init(&context)));
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus Program::Reshape() {
  for (ProgramTensor &entry : tensors_) {
    entry.known = false;
    if (!entry.tensor.is_constant) entry.tensor.data = nullptr;
  }
  for (ProgramNode &node : nodes_) {
    node.known = false;
    MACE_RETURN_IF_ERROR(AtNode(node, CheckInputTypes(node)));
    MACE_RETURN_IF_ERROR(AtNode(node, ReshapeNode(&node)));
    if (ShouldCompute(node)) {
      MACE_RETURN_IF_ERROR(AtNode(node, ComputeKnown(&node)));
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus Program::CheckInputTypes(const ProgramNode &node) const {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Tensor *tensor = TensorAt(tensors_, node.inputs, i);
    if (tensor == nullptr) continue;
    const PortSchema &port =
        PortAt(node.schema->inputs, node.schema->input_count, i);
    if ((port.data_types & DataTypeBit(tensor->data_type)) == 0) {
      return InvalidArgs("input '", port.name, "' ('", tensor->name, "') is ",
                         DataTypeName(tensor->data_type), "; it takes ",
                         DataTypeNames(port.data_types));
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus Program::ReshapeNode(ProgramNode *node) {
  NodeReshapeContext context(node, &tensors_, pool_, &prepared_bytes_);
  MACE_RETURN_IF_ERROR(node->op->Reshape(&context));
  for (size_t i = 0; i < node->outputs.size(); ++i) {
    if (node->outputs[i] < 0) continue;
    ProgramTensor &entry = tensors_[node->outputs[i]];
    const Tensor &tensor = entry.tensor;
    const PortSchema &port =
        PortAt(node->schema->outputs, node->schema->output_count, i);
    if ((port.data_types & DataTypeBit(tensor.data_type)) == 0 ||
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

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/graph/graph.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "mace/core/base/near_names.h"

namespace mace {
namespace {

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

// Whether one of the kept operators reads the input, or the input itself is a
// wanted output.
bool Reads(const Model &model,
           const std::vector<bool> &kept,
           const std::vector<std::string> &wanted,
           const std::string &input) {
  if (std::find(wanted.begin(), wanted.end(), input) != wanted.end()) {
    return true;
  }
  for (size_t i = 0; i < model.operators.size(); ++i) {
    const std::vector<std::string> &inputs = model.operators[i].inputs;
    if (kept[i] &&
        std::find(inputs.begin(), inputs.end(), input) != inputs.end()) {
      return true;
    }
  }
  return false;
}

// Every tensor name and alias of the model, with the name of its tensor.
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

// Names for a message about an unknown output, the most likely ones first.
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
                     "' has no tensor that can be this output:", unknown);
}

// The tensors of a graph by name.
class TensorTable {
 public:
  TensorTable(const Model &model,
              const void *weights,
              std::vector<GraphTensor> *tensors,
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

  // Adds output `index` of an operator.
  int AddOutput(const OperatorDef &def, size_t index) {
    const int id = Add(def.outputs[index]);
    if (index < def.output_quantization.size()) {
      (*tensors_)[id].tensor.quantization =
          IfQuantized(def.output_quantization[index]);
    }
    return id;
  }

  // Adds an input or a constant of the model when it is first used.
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
  static const Quantization *IfQuantized(const Quantization &quantization) {
    return quantization.quantized() ? &quantization : nullptr;
  }

  void FillInput(const std::string &name, int id) {
    GraphTensor &entry = (*tensors_)[id];
    entry.source = TensorSource::kInput;
    entry.input_index = input_index_[name];
    const ValueInfo &info = model_.inputs[entry.input_index];
    entry.tensor.data_type = info.data_type;
    entry.tensor.quantization = IfQuantized(info.quantization);
    inputs_->push_back(id);
  }

  void FillConstant(const ConstantInfo &info, int id) {
    GraphTensor &entry = (*tensors_)[id];
    entry.source = TensorSource::kConstant;
    entry.stored_bytes = static_cast<int64_t>(info.size);
    entry.tensor.data_type = info.data_type;
    entry.tensor.shape = info.dims;
    entry.tensor.is_constant = true;
    entry.tensor.layout = info.layout;
    entry.tensor.groups = info.groups;
    entry.tensor.quantization = IfQuantized(info.quantization);
    // Operators may only read constants, and the mapping is read-only.
    entry.tensor.data = const_cast<char *>(weights_ + info.offset);
  }

  const Model &model_;
  const char *weights_;
  std::vector<GraphTensor> *tensors_;
  std::vector<int> *inputs_;
  std::unordered_map<std::string, int> ids_;
  std::unordered_map<std::string, size_t> input_index_;
  std::unordered_map<std::string, const ConstantInfo *> constants_;
};

}  // namespace

Result<std::unique_ptr<Graph>> Graph::Create(
    const Model &model,
    const void *weights,
    const std::vector<std::string> &outputs,
    HostOps *host) {
  std::unique_ptr<Graph> graph(new Graph(model));
  MACE_RETURN_IF_ERROR(graph->Build(weights, outputs));
  for (GraphNode &node : graph->nodes_) {
    const OpRegistration *entry = OpRegistration::For(*node.def, CPU);
    if (entry == nullptr) {
      return RuntimeError("model '", model.name, "' was not checked");
    }
    node.schema = entry->schema();
    node.quantized = entry->quantized();
    MACE_RETURN_IF_ERROR(node.attributes.Parse(*node.schema, *node.def));
  }
  MACE_RETURN_IF_ERROR(host->MakeOps(graph.get()));
  return graph;
}

MaceStatus Graph::Build(const void *weights,
                        const std::vector<std::string> &outputs) {
  const Model &model = model_;
  std::vector<std::string> wanted;
  MACE_RETURN_IF_ERROR(ResolveOutputs(model, outputs, &wanted));
  Slicer slicer(model);
  for (const std::string &name : wanted) slicer.Want(name);
  // States that the wanted outputs depend on are updated, and also the states
  // that these depend on.
  std::vector<char> has_state(model.states.size(), 0);
  while (true) {
    const std::vector<bool> &kept = slicer.Slice();
    bool more = false;
    for (size_t i = 0; i < model.states.size(); ++i) {
      if (has_state[i] || !Reads(model, kept, wanted, model.states[i].input)) {
        continue;
      }
      has_state[i] = 1;
      more = true;
      slicer.Want(model.states[i].output);
    }
    if (!more) break;
  }
  const std::vector<bool> &keep = slicer.Slice();

  // Reserves room for all, so that none is moved while others are added.
  size_t tensors = model.inputs.size() + model.constants.size();
  for (const OperatorDef &def : model.operators) tensors += def.outputs.size();
  tensors_.reserve(tensors);
  nodes_.reserve(model.operators.size());
  TensorTable table(model, weights, &tensors_, &inputs_);
  for (size_t i = 0; i < model.operators.size(); ++i) {
    if (!keep[i]) continue;
    nodes_.emplace_back();
    nodes_.back().def = &model.operators[i];
    const OperatorDef &def = model.operators[i];
    nodes_.back().outputs.reserve(def.outputs.size());
    for (size_t output = 0; output < def.outputs.size(); ++output) {
      nodes_.back().outputs.push_back(
          def.outputs[output].empty() ? -1 : table.AddOutput(def, output));
    }
  }
  // Inputs and constants are added when an operator needs them.
  for (GraphNode &node : nodes_) {
    node.inputs.reserve(node.def->inputs.size());
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
  for (size_t i = 0; i < model.states.size(); ++i) {
    if (!has_state[i]) continue;
    states_.push_back({table.Find(model.states[i].input),
                       table.Find(model.states[i].output)});
    outputs_.push_back(states_.back().output);
  }
  return MaceStatus::MACE_SUCCESS;
}

void *PreparedConstants::Allocate(size_t bytes, size_t used) {
  AlignedMemory memory;
  // At least one byte, so that null always means failure.
  if (!memory.Allocate(std::max<size_t>(bytes, 1))) return nullptr;
  blocks_.push_back(std::move(memory));
  bytes_ += used;
  return blocks_.back().data();
}

}  // namespace mace

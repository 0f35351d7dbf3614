// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Program: which activations are of 16 bits, and the conversions between them
// and the rest.

#include <algorithm>

#include "mace/core/program.h"

namespace mace {
namespace {

bool IsFloatPort(const PortSchema *ports, size_t count, size_t index) {
  const PortSchema &port = ports[std::min(index, count - 1)];
  return (port.data_types & DataTypeBit(DataType::kFloat32)) != 0;
}

}  // namespace

class ConversionPlacer {
 public:
  ConversionPlacer(Program *program, const DeploymentHints &hints)
      : program_(*program),
        hints_(hints),
        half_type_(hints.half_type()),
        half_(program->tensors_.size(), 0),
        converted_(program->tensors_.size(), -1) {}

  MaceStatus Place() {
    std::vector<ProgramNode> nodes = std::move(program_.nodes_);
    program_.nodes_.clear();
    for (ProgramNode &node : nodes) {
      const bool in_half = RunsInHalf(node);
      if (in_half) node.activations = half_type_;
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const int id = node.inputs[i];
        if (id < 0 || program_.tensors_[id].tensor.is_constant) continue;
        const bool wanted =
            in_half &&
            IsFloatPort(node.schema->inputs, node.schema->input_count, i) &&
            (half_[id] != 0 || !node.op->TakesFloat(i));
        MACE_ASSIGN_OR_RETURN(node.inputs[i], As(id, wanted));
      }
      if (in_half) MarkOutputs(node);
      program_.nodes_.push_back(std::move(node));
    }
    for (int &id : program_.outputs_) {
      const int stored = id;
      MACE_ASSIGN_OR_RETURN(id, As(stored, false));
      if (id == stored) continue;
      // Outputs are known by the names that the model gives them.
      std::string &name = program_.tensors_[stored].tensor.name;
      program_.tensors_[id].tensor.name = name;
      name += HalfSuffix();
    }
    return MaceStatus::MACE_SUCCESS;
  }

 private:
  bool RunsInHalf(const ProgramNode &node) const {
    const HalfUse use = node.op->half_use();
    if (use != HalfUse::kFollows) return use == HalfUse::kComputes;
    bool any = false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int id = node.inputs[i];
      if (id < 0 ||
          !IsFloatPort(node.schema->inputs, node.schema->input_count, i)) {
        continue;
      }
      if (half_[id]) {
        any = true;
      } else if (!program_.tensors_[id].tensor.is_constant ||
                 !node.op->TakesFloat(i)) {
        return false;
      }
    }
    return any;
  }

  void MarkOutputs(const ProgramNode &node) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] < 0) continue;
      half_[node.outputs[i]] = static_cast<char>(
          IsFloatPort(node.schema->outputs, node.schema->output_count, i));
    }
  }

  const char *HalfSuffix() const {
    return half_type_ == DataType::kBfloat16 ? ":bfloat16" : ":float16";
  }

  const std::string &NameOf(int id) const {
    return program_.tensors_[id].tensor.name;
  }

  // The tensor itself, or its values in the other type.
  Result<int> As(int id, bool half) {
    if ((half_[id] != 0) == half) return id;
    if (converted_[id] >= 0) return converted_[id];
    const OpRegistration *entry =
        OpRegistration::Find("Cast", program_.device_->type());
    if (entry == nullptr) {
      return Unsupported(
          "the model computes in ", DataTypeName(half_type_),
          ", for which this library lacks the operator Cast; build it with "
          "that operator too");
    }
    const auto to = static_cast<int>(program_.tensors_.size());
    auto def = std::make_unique<OperatorDef>();
    def->name = NameOf(id) + (half ? HalfSuffix() : ":float32");
    def->type = "Cast";
    def->inputs = {NameOf(id)};
    def->outputs = {def->name};
    AttributeValue type;
    type.name = "to";
    type.kind = AttributeKind::kString;
    type.s = half ? half_type_ == DataType::kBfloat16 ? "BFLOAT16" : "FLOAT16"
                  : "FLOAT32";
    def->attributes = {type};

    program_.tensors_.emplace_back();
    program_.tensors_.back().tensor.name = def->name;
    half_.push_back(half ? 1 : 0);
    converted_.push_back(id);
    converted_[id] = to;

    ProgramNode node;
    node.def = def.get();
    program_.added_defs_.push_back(std::move(def));
    node.schema = entry->schema();
    node.op = entry->factory()();
    node.inputs = {id};
    node.outputs = {to};
    MACE_RETURN_IF_ERROR(program_.InitNode(&node, hints_));
    program_.nodes_.push_back(std::move(node));
    return to;
  }

  Program &program_;
  const DeploymentHints &hints_;
  const DataType half_type_;
  std::vector<char> half_;      // per tensor
  std::vector<int> converted_;  // likewise: the one of the other type, or -1
};

MaceStatus Program::PlaceConversions(const DeploymentHints &hints) {
  const bool computes =
      std::any_of(nodes_.begin(), nodes_.end(), [](const ProgramNode &node) {
        return node.op->half_use() == HalfUse::kComputes;
      });
  if (!computes) return MaceStatus::MACE_SUCCESS;
  return ConversionPlacer(this, hints).Place();
}

}  // namespace mace

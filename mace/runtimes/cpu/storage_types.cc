// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/cpu/storage_types.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace mace {
namespace {

class StorageTypes {
 public:
  StorageTypes(const Graph &graph, const MakeAddedOp &make_op, CpuNodes *nodes)
      : graph_(graph),
        make_op_(make_op),
        nodes_(*nodes),
        half_type_(StorageType(graph.hints().precision)),
        half_(nodes->tensor_count(), 0),
        converted_(nodes->tensor_count(), -1) {}

  MaceStatus Choose() {
    std::vector<CpuNode> nodes = std::move(nodes_.nodes);
    std::vector<size_t> ends = std::move(nodes_.segment_ends);
    nodes_.nodes.clear();
    nodes_.segment_ends.clear();
    size_t next = 0;
    for (size_t segment = 0; segment < ends.size(); ++segment) {
      for (; next < ends[segment]; ++next) {
        MACE_RETURN_IF_ERROR(Add(std::move(nodes[next])));
      }
      // Other devices may read the exports of this segment as soon as it has
      // ended.
      MACE_RETURN_IF_ERROR(ConvertExports());
      nodes_.segment_ends.push_back(nodes_.nodes.size());
    }
    nodes_.stored_as.resize(nodes_.tensor_count(), DataType::kUnknown);
    for (size_t id = 0; id < half_.size(); ++id) {
      if (half_[id]) nodes_.stored_as[id] = half_type_;
      // Whether the tensor is a conversion to float32.
      const bool widened = !half_[id] && id >= nodes_.graph_tensors;
      if (widened) nodes_.stored_as[id] = DataType::kFloat32;
    }
    return MaceStatus::MACE_SUCCESS;
  }

 private:
  const OpSchema &SchemaOf(const CpuNode &node) const {
    return *graph_.nodes()[node.graph_node].schema;
  }
  bool IsConstant(int id) const {
    return static_cast<size_t>(id) < nodes_.graph_tensors &&
           graph_.tensors()[id].tensor.is_constant;
  }

  // By an operator, on any device.
  bool IsRead(int id) const {
    for (const GraphNode &node : graph_.nodes()) {
      for (int input : node.inputs) {
        if (input == id) return true;
      }
    }
    return false;
  }

  MaceStatus Add(CpuNode node) {
    const OpSchema &schema = SchemaOf(node);
    const OpSignature *signature = node.op->signature();
    const std::vector<FloatStorage> stored = StorageOf(node, schema);
    // What only the caller reads is not rounded first.
    const bool in_half =
        StoresOtherFloats(signature, stored) &&
        !(signature->follows_inputs && !IsRead(node.outputs[0]));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int id = node.inputs[i];
      if (id < 0 || IsConstant(id)) continue;
      const bool wanted =
          in_half && stored[i] != FloatStorage::kNone &&
          WantedFloat(*signature, i, stored[i]) == FloatStorage::kOther;
      MACE_ASSIGN_OR_RETURN(node.inputs[i], As(id, wanted));
    }
    for (size_t i = 0; in_half && i < node.outputs.size(); ++i) {
      if (node.outputs[i] < 0) continue;
      half_[node.outputs[i]] = static_cast<char>(
          IsFloatPort(schema.outputs, schema.output_count, i));
    }
    nodes_.nodes.push_back(std::move(node));
    return MaceStatus::MACE_SUCCESS;
  }

  std::vector<FloatStorage> StorageOf(const CpuNode &node,
                                      const OpSchema &schema) const {
    std::vector<FloatStorage> stored(node.inputs.size(), FloatStorage::kNone);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int id = node.inputs[i];
      if (id < 0 || !IsFloatPort(schema.inputs, schema.input_count, i)) {
        continue;
      }
      stored[i] = half_[id] != 0   ? FloatStorage::kOther
                  : IsConstant(id) ? FloatStorage::kConstant
                                   : FloatStorage::kFloat32;
    }
    return stored;
  }

  MaceStatus ConvertExports() {
    for (const PartitionSpec::Border &border : nodes_.exports) {
      if (!half_[border.tensor]) continue;
      MACE_ASSIGN_OR_RETURN(nodes_.export_of[border.tensor],
                            As(border.tensor, false));
      // Exports keep the names of the model.
      nodes_.added[nodes_.export_of[border.tensor] - nodes_.graph_tensors]
          .name = graph_.tensors()[border.tensor].tensor.name;
    }
    return MaceStatus::MACE_SUCCESS;
  }

  const char *HalfSuffix() const {
    return half_type_ == DataType::kBfloat16 ? ":bfloat16" : ":float16";
  }

  std::string NameOf(int id) const {
    const auto index = static_cast<size_t>(id);
    return index < nodes_.graph_tensors
               ? graph_.tensors()[index].tensor.name
               : nodes_.added[index - nodes_.graph_tensors].name;
  }

  // The tensor itself, or its values in the other type.
  Result<int> As(int id, bool half) {
    if ((half_[id] != 0) == half) return id;
    if (converted_[id] >= 0) return converted_[id];
    const auto to = static_cast<int>(nodes_.tensor_count());
    auto def = std::make_unique<OperatorDef>();
    def->name = NameOf(id) + (half ? HalfSuffix() : ":float32");
    def->type = "Cast";
    def->inputs = {NameOf(id)};
    def->outputs = {def->name};
    AttributeValue type;
    type.name = "to";
    type.kind = AttributeKind::kString;
    type.s = !half                               ? "FLOAT32"
             : half_type_ == DataType::kBfloat16 ? "BFLOAT16"
                                                 : "FLOAT16";
    def->attributes = {type};
    MACE_ASSIGN_OR_RETURN(std::unique_ptr<Op> op, make_op_(*def));

    CpuNode node;
    node.def = def.get();
    node.op = static_cast<CpuOp *>(op.get());
    node.inputs = {id};
    node.outputs = {to};
    nodes_.added.push_back({id, def->name});
    half_.push_back(half ? 1 : 0);
    converted_.push_back(id);
    converted_[id] = to;
    nodes_.added_defs.push_back(std::move(def));
    nodes_.added_ops.push_back(std::move(op));
    nodes_.nodes.push_back(std::move(node));
    return to;
  }

  const Graph &graph_;
  const MakeAddedOp &make_op_;
  CpuNodes &nodes_;
  const DataType half_type_;
  std::vector<char> half_;      // per tensor
  std::vector<int> converted_;  // per tensor: the one of the other type, or -1
};

}  // namespace

MaceStatus ChooseStorageTypes(const Graph &graph,
                              const MakeAddedOp &make_op,
                              CpuNodes *nodes) {
  nodes->stored_as.assign(nodes->tensor_count(), DataType::kUnknown);
  const bool computes = std::any_of(
      nodes->nodes.begin(), nodes->nodes.end(), [](const CpuNode &node) {
        const OpSignature *signature = node.op->signature();
        return signature != nullptr && !signature->follows_inputs;
      });
  if (!computes) return MaceStatus::MACE_SUCCESS;
  return StorageTypes(graph, make_op, nodes).Choose();
}

}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/delegate/segment_description.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "mace/core/base/crc32.h"
#include "mace/core/model/op.h"
#include "mace/core/model/quantization.h"

namespace mace {
namespace {

IDataType PublicType(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return IDataType::IDT_FLOAT;
    case DataType::kFloat16:
      return IDataType::IDT_FLOAT16;
    case DataType::kBfloat16:
      return IDataType::IDT_BFLOAT16;
    case DataType::kInt32:
      return IDataType::IDT_INT32;
    case DataType::kInt8:
      return IDataType::IDT_INT8;
    case DataType::kUint8:
      return IDataType::IDT_UINT8;
    case DataType::kBool:
      return IDataType::IDT_BOOL;
    case DataType::kInt16:
      return IDataType::IDT_INT16;
    default:
      return IDataType::IDT_NOT_SET;
  }
}

void SetQuantization(const Quantization *from, DelegateTensor *to) {
  if (from == nullptr || !from->quantized()) return;
  to->scales = from->scales;
  to->zero_points = from->zero_points;
  to->zero_points.resize(to->scales.size());
  to->axis = static_cast<int>(from->axis);
}

DelegateAttribute PlainAttribute(const AttributeValue &from) {
  DelegateAttribute to;
  to.name = from.name;
  switch (from.kind) {
    case AttributeKind::kInt:
      to.kind = DelegateAttribute::INT;
      break;
    case AttributeKind::kFloat:
      to.kind = DelegateAttribute::FLOAT;
      break;
    case AttributeKind::kString:
      to.kind = DelegateAttribute::STRING;
      break;
    case AttributeKind::kInts:
      to.kind = DelegateAttribute::INTS;
      break;
    case AttributeKind::kFloats:
      to.kind = DelegateAttribute::FLOATS;
      break;
  }
  to.int_value = from.i;
  to.float_value = from.f;
  to.string_value = from.s;
  to.int_values = from.ints;
  to.float_values = from.floats;
  return to;
}

// Makes a description; each tensor of the graph gets an index of the segment.
class Describer {
 public:
  Describer(const Graph &graph,
            const GraphShapes &shapes,
            PlainConstants *constants,
            DescribedElements elements)
      : graph_(graph),
        shapes_(shapes),
        constants_(constants),
        elements_(elements) {}

  Result<int> IndexOf(int tensor) {
    if (tensor < 0) return -1;
    const auto found = indices_.find(tensor);
    if (found != indices_.end()) return found->second;
    MACE_ASSIGN_OR_RETURN(DelegateTensor plain, PlainTensor(tensor));
    const auto index = static_cast<int>(segment_.tensors.size());
    segment_.tensors.push_back(std::move(plain));
    indices_.emplace(tensor, index);
    return index;
  }

  MaceStatus Add(const GraphNode &node) {
    DelegateOperator plain;
    plain.name = node.def->name;
    plain.type = node.def->type;
    MACE_RETURN_IF_ERROR(AddPorts(node.inputs, &plain.inputs));
    MACE_RETURN_IF_ERROR(AddPorts(node.outputs, &plain.outputs));
    for (const AttributeValue &attribute : node.def->attributes) {
      plain.attributes.push_back(PlainAttribute(attribute));
    }
    segment_.operators.push_back(std::move(plain));
    return MaceStatus();
  }

  MaceStatus AddPorts(const std::vector<int> &from, std::vector<int> *to) {
    for (int tensor : from) {
      MACE_ASSIGN_OR_RETURN(const int index, IndexOf(tensor));
      to->push_back(index);
    }
    return MaceStatus();
  }

  DelegateSegment *segment() { return &segment_; }

 private:
  Result<DelegateTensor> PlainTensor(int tensor) {
    const auto id = static_cast<size_t>(tensor);
    const Tensor &from = shapes_.tensors[id];
    DelegateTensor to;
    to.name = from.name;
    to.shape.assign(from.shape.begin(), from.shape.end());
    SetQuantization(from.quantization, &to);
    if (graph_.tensors()[id].source == TensorSource::kConstant) {
      to.is_constant = true;
      to.type = PublicType(PlainType(from));
      if (elements_ == DescribedElements::kSample) {
        MACE_ASSIGN_OR_RETURN(to.data, constants_->Sample(graph_, tensor));
      } else if (elements_ == DescribedElements::kAll) {
        MACE_ASSIGN_OR_RETURN(to.data, constants_->Get(graph_, tensor));
      }
      return to;
    }
    to.type = PublicType(from.data_type);
    to.is_constant = from.data != nullptr;  // known before the run
    to.data = from.data;
    return to;
  }

  const Graph &graph_;
  const GraphShapes &shapes_;
  PlainConstants *constants_;
  const DescribedElements elements_;
  std::map<int, int> indices_;
  DelegateSegment segment_;
};

// Text to take a checksum of; numbers by their bytes.
class Digest {
 public:
  void Text(const std::string &text) { bytes_ += text + '\0'; }
  template <typename T>
  void Number(T number) {
    bytes_.append(reinterpret_cast<const char *>(&number), sizeof(number));
  }
  template <typename T>
  void Numbers(const std::vector<T> &numbers) {
    Number(numbers.size());
    for (T number : numbers) Number(number);
  }
  const std::string &bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

bool Contains(const std::vector<int> &list, int item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

SegmentNodes NodesOf(const Graph &graph,
                     const GraphShapes &shapes,
                     const std::vector<int> &segment) {
  SegmentNodes result;
  for (int index : segment) {
    const auto id = static_cast<size_t>(index);
    if (shapes.known_node[id] != 0) continue;
    result.nodes.push_back(index);
    const GraphNode &node = graph.nodes()[id];
    for (int input : node.inputs) {
      if (input < 0 || Contains(result.inputs, input) ||
          Contains(result.outputs, input) ||
          shapes.tensors[static_cast<size_t>(input)].data != nullptr) {
        continue;
      }
      result.inputs.push_back(input);
    }
    for (int output : node.outputs) {
      if (output >= 0) result.outputs.push_back(output);
    }
  }
  return result;
}

Result<DelegateSegment> Describe(const Graph &graph,
                                 const GraphShapes &shapes,
                                 const SegmentNodes &nodes,
                                 PlainConstants *constants,
                                 DescribedElements elements) {
  Describer describer(graph, shapes, constants, elements);
  for (int node : nodes.nodes) {
    MACE_RETURN_IF_ERROR(
        describer.Add(graph.nodes()[static_cast<size_t>(node)]));
  }
  DelegateSegment *segment = describer.segment();
  MACE_RETURN_IF_ERROR(describer.AddPorts(nodes.inputs, &segment->inputs));
  MACE_RETURN_IF_ERROR(describer.AddPorts(nodes.outputs, &segment->outputs));
  if (!segment->operators.empty()) {
    segment->name = segment->operators.front().name;
  }
  segment->allow_half = graph.hints().half_storage ||
                        graph.hints().precision == Precision::kFloat16;
  return std::move(*segment);
}

std::string Fingerprint(const DelegateSegment &segment) {
  Digest digest;
  for (const DelegateTensor &tensor : segment.tensors) {
    digest.Text(tensor.name);
    digest.Number(static_cast<int>(tensor.type));
    digest.Numbers(tensor.shape);
    digest.Numbers(tensor.scales);
    digest.Numbers(tensor.zero_points);
    digest.Number(tensor.axis);
    digest.Number(tensor.is_constant);
  }
  for (const DelegateOperator &op : segment.operators) {
    digest.Text(op.type);
    digest.Numbers(op.inputs);
    digest.Numbers(op.outputs);
    for (const DelegateAttribute &attribute : op.attributes) {
      digest.Text(attribute.name);
      digest.Number(attribute.int_value);
      digest.Number(attribute.float_value);
      digest.Text(attribute.string_value);
      digest.Numbers(attribute.int_values);
      digest.Numbers(attribute.float_values);
    }
  }
  digest.Numbers(segment.inputs);
  digest.Numbers(segment.outputs);
  digest.Number(segment.allow_half);
  const std::string &bytes = digest.bytes();
  return MakeString(segment.name, " ", Crc32(bytes.data(), bytes.size()), " ",
                    bytes.size());
}

}  // namespace mace

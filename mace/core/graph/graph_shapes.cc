// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/graph/graph_shapes.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "mace/core/model/model.h"

namespace mace {
namespace {

// The largest output that is computed before the run: shapes and slices of
// shapes have about ten numbers; 4 KiB is enough for constants made from them.
constexpr int64_t kMaxKnownBytes = 4096;

// The largest size of a tensor: half of the address space, and at most 1 TiB.
constexpr int64_t kMaxTensorBytes =
    sizeof(void *) == 4 ? int64_t{INT32_MAX} : int64_t{1} << 40;

class NodeShapeContext final : public ShapeContext {
 public:
  NodeShapeContext(const GraphNode &node, std::vector<Tensor> *tensors)
      : node_(node), tensors_(tensors) {
    for (int id : node_.outputs) {
      if (id >= 0) (*tensors_)[id].data_type = DataType::kUnknown;
    }
  }

  size_t input_count() const override { return node_.inputs.size(); }
  size_t output_count() const override { return node_.outputs.size(); }
  const Tensor *input(size_t index) const override {
    return TensorAt(*tensors_, node_.inputs, index);
  }
  void SetOutput(size_t index,
                 const Shape &shape,
                 DataType data_type) override {
    Tensor *tensor = TensorAt(*tensors_, node_.outputs, index);
    if (tensor == nullptr) return;
    tensor->shape = shape;
    tensor->data_type = data_type;
    // The model says which integers stand for the numbers.
    if (node_.quantized != nullptr && tensor->quantization != nullptr) {
      tensor->data_type = tensor->quantization->data_type;
    }
  }

 private:
  const GraphNode &node_;
  std::vector<Tensor> *tensors_;
};

class ShapeInference {
 public:
  ShapeInference(const Graph &graph, HostOps *host)
      : graph_(graph), host_(host), shapes_(std::make_unique<GraphShapes>()) {
    shapes_->tensors.reserve(graph.tensors().size());
    for (const GraphTensor &entry : graph.tensors()) {
      shapes_->tensors.push_back(entry.tensor);
    }
    shapes_->known.assign(graph.tensors().size(), 0);
    shapes_->known_node.assign(graph.nodes().size(), 0);
  }

  Result<std::unique_ptr<GraphShapes>> Infer(const std::vector<Shape> &inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      shapes_->tensors[graph_.inputs()[i]].shape = inputs[i];
    }
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const GraphNode &node = graph_.nodes()[i];
      MACE_RETURN_IF_ERROR(AtOperator(*node.def, CheckInputTypes(node)));
      NodeShapeContext context(node, &shapes_->tensors);
      MACE_RETURN_IF_ERROR(AtOperator(
          *node.def,
          node.schema->infer_shapes(node.attributes.get(), &context)));
      MACE_RETURN_IF_ERROR(AtOperator(*node.def, CheckOutputs(node)));
      if (IsKnown(node)) {
        MACE_RETURN_IF_ERROR(AtOperator(*node.def, Compute(i)));
      }
    }
    return std::move(shapes_);
  }

 private:
  MaceStatus CheckInputTypes(const GraphNode &node) const {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Tensor *tensor = TensorAt(shapes_->tensors, node.inputs, i);
      if (tensor == nullptr) continue;
      const PortSchema &port =
          PortSchemaAt(node.schema->inputs, node.schema->input_count, i);
      if (node.quantized != nullptr) {
        MACE_RETURN_IF_ERROR(
            node.quantized->check_input(*node.schema, i, *tensor));
      }
      const uint32_t types = PortTypes(port, node.quantized != nullptr);
      if ((types & DataTypeBit(tensor->data_type)) == 0) {
        return InvalidArgs("input '", port.name, "' ('", tensor->name, "') is ",
                           DataTypeName(tensor->data_type), "; it takes ",
                           DataTypeNames(types));
      }
    }
    return MaceStatus::MACE_SUCCESS;
  }

  MaceStatus CheckOutputs(const GraphNode &node) const {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Tensor *tensor = TensorAt(shapes_->tensors, node.outputs, i);
      if (tensor == nullptr) continue;
      const PortSchema &port =
          PortSchemaAt(node.schema->outputs, node.schema->output_count, i);
      const uint32_t types = PortTypes(port, node.quantized != nullptr);
      if ((types & DataTypeBit(tensor->data_type)) == 0 ||
          tensor->data_type == DataType::kUnknown) {
        return RuntimeError("output '", port.name, "' has the type ",
                            DataTypeName(tensor->data_type),
                            ", which its declaration does not allow");
      }
      const auto size = static_cast<int64_t>(DataTypeSize(tensor->data_type));
      if (tensor->shape.CheckedElements(kMaxTensorBytes / size) < 0) {
        return InvalidArgs("output '", tensor->name, "' would have the shape ",
                           InsideText(tensor->shape),
                           ", which is negative or too large");
      }
      if (tensor->quantization == nullptr) continue;
      std::string problem =
          tensor->quantization->ProblemWith(tensor->data_type);
      if (problem.empty()) {
        problem = tensor->quantization->ProblemWith(tensor->shape);
      }
      if (!problem.empty()) {
        return InvalidArgs("the quantization of output '", tensor->name,
                           "': ", problem);
      }
    }
    return MaceStatus::MACE_SUCCESS;
  }

  bool IsKnown(const GraphNode &node) const {
    if (IsForRunOnly(node.schema->control)) return false;
    if (!node.schema->depends_on_shapes_only) {
      for (int id : node.inputs) {
        if (id >= 0 && shapes_->tensors[id].data == nullptr) return false;
      }
    }
    for (int id : node.outputs) {
      if (id >= 0 && shapes_->tensors[id].bytes() > kMaxKnownBytes) {
        return false;
      }
    }
    return host_->CanCompute(node);
  }

  MaceStatus Compute(size_t index) {
    const GraphNode &node = graph_.nodes()[index];
    for (int id : node.outputs) {
      if (id < 0) continue;
      Tensor &tensor = shapes_->tensors[id];
      // Whole cache lines, like all other tensors, and never null.
      const size_t bytes =
          AlignUp(std::max<size_t>(1, static_cast<size_t>(tensor.bytes())));
      AlignedMemory memory;
      if (!memory.Allocate(bytes)) {
        return OutOfResources("no memory for ", bytes, " bytes");
      }
      tensor.data = memory.data();
      shapes_->values.push_back(std::move(memory));
      shapes_->known[id] = 1;
    }
    shapes_->known_node[index] = 1;
    return host_->Compute(graph_, index, &shapes_->tensors);
  }

  const Graph &graph_;
  HostOps *host_;
  std::unique_ptr<GraphShapes> shapes_;
};

// The products in each output, if the port is for weights: all dimensions of a
// filter [O, ...] except the first, or the rows of matrices [..., K, N].
int64_t Terms(const PortSchema &port, const Shape &shape) {
  const size_t rank = shape.rank();
  if (rank < 2 || shape[0] <= 0) return 0;
  if (port.layouts == kFilterLayouts) return shape.Elements(1, rank);
  return port.layouts == kIntegerMatrixLayouts ? shape[rank - 2] : 0;
}

}  // namespace

Result<std::unique_ptr<GraphShapes>> InferShapes(
    const Graph &graph, const std::vector<Shape> &inputs, HostOps *host) {
  return ShapeInference(graph, host).Infer(inputs);
}

std::string InsideText(const Shape &shape) {
  std::string text = shape.ToString();
  if (shape.rank() == 4) text += " (NHWC if an image)";
  return text;
}

NodeCost EstimateCost(const Graph &graph,
                      size_t index,
                      const GraphShapes &shapes) {
  const GraphNode &node = graph.nodes()[index];
  NodeCost cost;
  double outputs = 0;
  for (int id : node.outputs) {
    if (id < 0) continue;
    outputs += static_cast<double>(shapes.tensors[id].elements());
    cost.bytes += static_cast<double>(shapes.tensors[id].bytes());
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const int id = node.inputs[i];
    if (id < 0) continue;
    cost.bytes += static_cast<double>(shapes.StoredBytes(graph, id));
    const PortSchema &port =
        PortSchemaAt(node.schema->inputs, node.schema->input_count, i);
    const Shape &shape = shapes.tensors[id].shape;
    cost.macs =
        std::max(cost.macs, outputs * static_cast<double>(Terms(port, shape)));
  }
  return cost;
}

}  // namespace mace

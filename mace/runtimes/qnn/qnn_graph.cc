// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/qnn/qnn_graph.h"

#include <cstring>
#include <utility>

namespace mace {
namespace {

constexpr char kPackage[] = "qti.aisw";

uint32_t TypeOf(const DelegateTensor &tensor) {
  switch (tensor.type) {
    case IDataType::IDT_UINT8:
      return kQnnFixedUint8;
    case IDataType::IDT_INT8:
      return kQnnFixedInt8;
    case IDataType::IDT_INT32:
      return kQnnInt32;
    default:
      return kQnnFloat32;
  }
}

size_t ElementBytes(uint32_t type) {
  return type == kQnnFixedUint8 || type == kQnnFixedInt8 ? 1 : 4;
}

size_t Product(const std::vector<int64_t> &dims) {
  size_t product = 1;
  for (int64_t dim : dims) product *= static_cast<size_t>(dim);
  return product;
}

// QNN adds the offset.
QnnScaleOffset ScaleOf(const DelegateTensor &tensor, size_t index) {
  return {tensor.scales[index],
          static_cast<int32_t>(-tensor.zero_points[index])};
}

// [O, K] as [K, O], whatever the size of an element.
std::vector<unsigned char> Transposed(const void *data,
                                      size_t outputs,
                                      size_t inner,
                                      size_t element) {
  std::vector<unsigned char> result(outputs * inner * element);
  const auto *from = static_cast<const unsigned char *>(data);
  for (size_t o = 0; o < outputs; ++o) {
    for (size_t k = 0; k < inner; ++k) {
      std::memcpy(&result[(k * outputs + o) * element],
                  from + (o * inner + k) * element, element);
    }
  }
  return result;
}

const char *ArithmeticType(CommonKind kind) {
  switch (kind) {
    case CommonKind::kSub:
      return "ElementWiseSubtract";
    case CommonKind::kMul:
      return "ElementWiseMultiply";
    case CommonKind::kDiv:
      return "ElementWiseDivide";
    default:
      return "ElementWiseAdd";
  }
}

}  // namespace

std::string QnnRefusal(const DelegateSegment &segment,
                       const DelegateOperator &from,
                       CommonOp *op) {
  std::string problem = ReadCommonOp(segment, from, op);
  if (!problem.empty()) return problem;
  if (!op->quantized && !segment.allow_half) {
    return "it computes floats in 16 bits, which data_type fp16_fp32 allows";
  }
  return std::string();
}

QnnPort::QnnPort(const DelegateTensor &tensor, uint32_t type)
    : name_(tensor.name), dims_(tensor.shape.begin(), tensor.shape.end()) {
  tensor_.version = kQnnTensorVersion;
  QnnTensorV1 &v1 = tensor_.v1;
  v1.type = type;
  v1.data_type = TypeOf(tensor);
  v1.quantization.definition = kQnnUndefined;
  v1.quantization.encoding = kQnnUndefined;
  if (!tensor.scales.empty()) {
    v1.quantization.definition = kQnnDefined;
    v1.quantization.encoding = kQnnPerTensor;
    v1.quantization.whole = ScaleOf(tensor, 0);
  }
  bytes_ =
      static_cast<uint32_t>(Product(tensor.shape) * ElementBytes(v1.data_type));
}

QnnTensor QnnPort::View(uint32_t id, const void *data) {
  QnnTensor view = tensor_;
  view.v1.id = id;
  view.v1.name = name_.c_str();
  view.v1.rank = static_cast<uint32_t>(dims_.size());
  view.v1.dimensions = dims_.data();
  // The interface has one type for inputs and outputs.
  view.v1.buffer = {const_cast<void *>(data), bytes_};
  return view;
}

MaceStatus QnnGraphBuilder::Build(QnnHandle graph, std::vector<uint32_t> *ids) {
  graph_ = graph;
  // Those of the application first, with their purpose.
  for (int tensor : segment_.inputs) Tensor(tensor);
  for (int tensor : segment_.outputs) Tensor(tensor);
  MACE_RETURN_IF_ERROR(AddAll());
  for (int tensor : segment_.inputs) ids->push_back(Tensor(tensor).v1.id);
  for (int tensor : segment_.outputs) ids->push_back(Tensor(tensor).v1.id);
  return status_;
}

MaceStatus QnnGraphBuilder::Validate() { return AddAll(); }

MaceStatus QnnGraphBuilder::AddAll() {
  for (const DelegateOperator &from : segment_.operators) {
    MACE_RETURN_IF_ERROR(Add(from));
  }
  return status_;
}

QnnTensor QnnGraphBuilder::Create(QnnTensor tensor) {
  if (graph_ == nullptr || !IsOk(status_)) return tensor;
  const QnnError error = api_.tensor_create(graph_, &tensor);
  if (error != kQnnSuccess) status_ = QnnFailure("tensorCreate", error);
  return tensor;
}

QnnTensor QnnGraphBuilder::Describe(uint32_t purpose,
                                    uint32_t type,
                                    const Dims &dims) {
  dims_.emplace_back(dims.begin(), dims.end());
  names_.push_back(MakeString("mace_", made_++));
  QnnTensor tensor = {};
  tensor.version = kQnnTensorVersion;
  tensor.v1.name = names_.back().c_str();
  tensor.v1.type = purpose;
  tensor.v1.data_type = type;
  tensor.v1.quantization.definition = kQnnUndefined;
  tensor.v1.quantization.encoding = kQnnUndefined;
  tensor.v1.rank = static_cast<uint32_t>(dims.size());
  tensor.v1.dimensions = dims_.back().data();
  return tensor;
}

// One scale is for the whole tensor, unless there are several channels.
void QnnGraphBuilder::SetQuantization(const DelegateTensor &from,
                                      int32_t axis,
                                      int64_t channels,
                                      QnnTensor *to) {
  if (from.scales.empty()) return;
  QnnQuantization &quantization = to->v1.quantization;
  quantization.definition = kQnnDefined;
  if (channels == 0 || from.scales.size() == 1) {
    quantization.encoding = kQnnPerTensor;
    quantization.whole = ScaleOf(from, 0);
    return;
  }
  std::vector<QnnScaleOffset> each;
  for (size_t i = 0; i < from.scales.size(); ++i) {
    each.push_back(ScaleOf(from, i));
  }
  scales_.push_back(std::move(each));
  quantization.encoding = kQnnPerAxis;
  quantization.axis = {axis, static_cast<uint32_t>(scales_.back().size()),
                       scales_.back().data()};
}

QnnTensor QnnGraphBuilder::NewTensor(const DelegateTensor &like,
                                     const Dims &dims) {
  QnnTensor tensor = Describe(kQnnNative, TypeOf(like), dims);
  SetQuantization(like, 0, 0, &tensor);
  return Create(tensor);
}

QnnTensor QnnGraphBuilder::Tensor(int tensor) {
  const auto found = tensors_.find(tensor);
  if (found != tensors_.end()) return found->second;
  const DelegateTensor &from = At(tensor);
  uint32_t purpose = from.is_constant ? kQnnStatic : kQnnNative;
  for (int input : segment_.inputs) {
    if (input == tensor) purpose = kQnnAppWrite;
  }
  for (int output : segment_.outputs) {
    if (output == tensor) purpose = kQnnAppRead;
  }
  QnnTensor made = Describe(purpose, TypeOf(from), from.shape);
  if (!from.is_constant) {
    names_.push_back(from.name);
    made.v1.name = names_.back().c_str();
  }
  SetQuantization(from, 0, 0, &made);
  if (from.is_constant) {
    made.v1.buffer = {const_cast<void *>(from.data),
                      static_cast<uint32_t>(Product(from.shape) *
                                            ElementBytes(made.v1.data_type))};
  }
  made = Create(made);
  tensors_.emplace(tensor, made);
  return made;
}

QnnTensor QnnGraphBuilder::Static(uint32_t type,
                                  const Dims &dims,
                                  const void *data,
                                  size_t bytes,
                                  const DelegateTensor *quantized) {
  const auto *from = static_cast<const unsigned char *>(data);
  bytes_.emplace_back(from, from + bytes);
  return Constant(type, dims, bytes_.back().data(), quantized);
}

QnnTensor QnnGraphBuilder::Constant(uint32_t type,
                                    const Dims &dims,
                                    const void *data,
                                    const DelegateTensor *quantized) {
  QnnTensor tensor = Describe(kQnnStatic, type, dims);
  tensor.v1.buffer = {
      const_cast<void *>(data),
      static_cast<uint32_t>(Product(dims) * ElementBytes(type))};
  if (quantized != nullptr) {
    SetQuantization(*quantized, static_cast<int32_t>(dims.size()) - 1,
                    dims.back(), &tensor);
  }
  return Create(tensor);
}

// [KH, KW, I, O]; depthwise [KH, KW, 1, C * M].
QnnTensor QnnGraphBuilder::Filter(const DelegateTensor &filter,
                                  bool depthwise) {
  const Dims &dims = filter.shape;
  const uint32_t type = TypeOf(filter);
  const size_t element = ElementBytes(type);
  if (depthwise) {
    return Constant(type, {dims[0], dims[1], 1, dims[2] * dims[3]}, filter.data,
                    &filter);
  }
  const Dims moved_dims = {dims[1], dims[2], dims[3], dims[0]};
  // A question has no weights.
  if (graph_ == nullptr)
    return Constant(type, moved_dims, filter.data, &filter);
  const auto outputs = static_cast<size_t>(dims[0]);
  const std::vector<unsigned char> moved =
      Transposed(filter.data, outputs, Product(dims) / outputs, element);
  return Static(type, moved_dims, moved.data(), moved.size(), &filter);
}

// [1, 1, K, O] of [O, K].
QnnTensor QnnGraphBuilder::Weights(const DelegateTensor &weights) {
  DelegateTensor image = weights;
  image.shape = {weights.shape[0], 1, 1, weights.shape[1]};
  return Filter(image, false);
}

// Quantized, its scale is that of the products, which 0 stands for.
QnnTensor QnnGraphBuilder::Bias(const CommonOp &op, int64_t outputs) {
  std::vector<float> zeros(static_cast<size_t>(outputs), 0.0f);
  const void *data = op.bias >= 0 ? At(op.bias).data : zeros.data();
  const size_t bytes = zeros.size() * sizeof(float);
  if (!op.quantized)
    return Static(kQnnFloat32, {outputs}, data, bytes, nullptr);
  DelegateTensor scale;
  scale.scales = {0.0f};
  scale.zero_points = {0};
  return Static(kQnnFixedInt32, {outputs}, data, bytes, &scale);
}

QnnParam QnnGraphBuilder::Numbers(const char *name,
                                  const Dims &values,
                                  const Dims &dims) {
  const std::vector<uint32_t> numbers(values.begin(), values.end());
  QnnParam param = {};
  param.type = kQnnTensorParam;
  param.name = name;
  param.tensor = Static(kQnnUint32, dims, numbers.data(),
                        numbers.size() * sizeof(uint32_t), nullptr);
  return param;
}

QnnParam QnnGraphBuilder::Number(const char *name, uint32_t value) {
  QnnParam param = {};
  param.type = kQnnScalarParam;
  param.name = name;
  param.scalar.data_type = kQnnUint32;
  param.scalar.uint32_value = value;
  return param;
}

QnnParam QnnGraphBuilder::Flag(const char *name, bool value) {
  QnnParam param = Number(name, 0);
  param.scalar.data_type = kQnnBool8;
  param.scalar.bool_value = value ? 1 : 0;
  return param;
}

QnnParam QnnGraphBuilder::Real(const char *name, float value) {
  QnnParam param = Number(name, 0);
  param.scalar.data_type = kQnnFloat32;
  param.scalar.float_value = value;
  return param;
}

MaceStatus QnnGraphBuilder::AddNode(Node node) {
  MACE_RETURN_IF_ERROR(status_);
  names_.push_back(MakeString("mace_node_", made_++));
  const QnnOpConfig config = {kQnnOpVersion,
                              names_.back().c_str(),
                              kPackage,
                              node.type,
                              static_cast<uint32_t>(node.params.size()),
                              node.params.data(),
                              static_cast<uint32_t>(node.inputs.size()),
                              node.inputs.data(),
                              static_cast<uint32_t>(node.outputs.size()),
                              node.outputs.data()};
  if (graph_ != nullptr) {
    MACE_QNN_CHECK("graphAddNode", api_.graph_add_node(graph_, config));
    return MaceStatus();
  }
  if (api_.backend_validate == nullptr) return MaceStatus();
  const QnnError error = api_.backend_validate(backend_, config);
  if (error == kQnnSuccess) return MaceStatus();
  return Unsupported("QNN does not support it (", node.type, ", error ",
                     static_cast<unsigned>(error), ")");
}

MaceStatus QnnGraphBuilder::AddActivation(const CommonOp &op,
                                          QnnTensor input,
                                          QnnTensor output) {
  switch (op.activation) {
    case CommonActivation::kRelu6:
      return AddNode({"ReluMinMax",
                      {input},
                      {output},
                      {Real("min_value", 0), Real("max_value", 6)}});
    case CommonActivation::kSigmoid:
      return AddNode({"Sigmoid", {input}, {output}, {}});
    case CommonActivation::kTanh:
      return AddNode({"Tanh", {input}, {output}, {}});
    default:
      return AddNode({"Relu", {input}, {output}, {}});
  }
}

// Residual and activation, by which `product` becomes the output.
MaceStatus QnnGraphBuilder::Finish(const DelegateOperator &from,
                                   const CommonOp &op,
                                   QnnTensor product) {
  const QnnTensor output = Tensor(from.outputs[0]);
  const bool activates = op.activation != CommonActivation::kNone;
  if (op.residual >= 0) {
    const DelegateTensor &like = At(from.outputs[0]);
    const QnnTensor sum = activates ? NewTensor(like, like.shape) : output;
    MACE_RETURN_IF_ERROR(
        AddNode({"ElementWiseAdd", {product, Tensor(op.residual)}, {sum}, {}}));
    product = sum;
  }
  return activates ? AddActivation(op, product, output) : MaceStatus();
}

MaceStatus QnnGraphBuilder::AddProduct(const DelegateOperator &from,
                                       const CommonOp &op) {
  const DelegateTensor &filter = At(from.inputs[1]);
  const DelegateTensor &like = At(from.outputs[0]);
  const bool direct =
      op.residual < 0 && op.activation == CommonActivation::kNone;
  const QnnTensor product =
      direct ? Tensor(from.outputs[0]) : NewTensor(like, like.shape);
  if (op.kind == CommonKind::kFullyConnected) {
    const QnnTensor weights =
        Constant(TypeOf(filter), filter.shape, filter.data, nullptr);
    MACE_RETURN_IF_ERROR(
        AddNode({"FullyConnected",
                 {Tensor(from.inputs[0]), weights, Bias(op, filter.shape[0])},
                 {product},
                 {}}));
    return Finish(from, op, product);
  }
  const bool depthwise = op.kind == CommonKind::kDepthwiseConv2d;
  Node node = {
      depthwise ? "DepthWiseConv2d" : "Conv2d",
      {Tensor(from.inputs[0]), Filter(filter, depthwise),
       Bias(op, like.shape[3])},
      {product},
      {Numbers("stride", {op.strides[0], op.strides[1]}, {2}),
       Numbers("pad_amount", {op.pads[0], op.pads[1], op.pads[2], op.pads[3]},
               {2, 2}),
       Numbers("dilation", {op.dilations[0], op.dilations[1]}, {2})}};
  if (!depthwise) node.params.push_back(Number("group", 1));
  MACE_RETURN_IF_ERROR(AddNode(std::move(node)));
  return Finish(from, op, product);
}

// A quantized product of matrices, whose weights may have a scale for each
// output, as a convolution.
MaceStatus QnnGraphBuilder::AddImageProduct(const DelegateOperator &from,
                                            const CommonOp &op) {
  const DelegateTensor &input = At(from.inputs[0]);
  const DelegateTensor &weights = At(from.inputs[1]);
  const DelegateTensor &output = At(from.outputs[0]);
  const int64_t batch = input.shape[0];
  const QnnTensor image = NewTensor(input, {batch, 1, 1, input.shape[1]});
  MACE_RETURN_IF_ERROR(
      AddNode({"Reshape", {Tensor(from.inputs[0])}, {image}, {}}));
  const QnnTensor product = NewTensor(output, {batch, 1, 1, output.shape[1]});
  MACE_RETURN_IF_ERROR(
      AddNode({"Conv2d",
               {image, Weights(weights), Bias(op, output.shape[1])},
               {product},
               {Numbers("stride", {1, 1}, {2}),
                Numbers("pad_amount", {0, 0, 0, 0}, {2, 2}),
                Numbers("dilation", {1, 1}, {2}), Number("group", 1)}}));
  const bool direct = op.activation == CommonActivation::kNone;
  const QnnTensor matrix =
      direct ? Tensor(from.outputs[0]) : NewTensor(output, output.shape);
  MACE_RETURN_IF_ERROR(AddNode({"Reshape", {product}, {matrix}, {}}));
  return Finish(from, op, matrix);
}

MaceStatus QnnGraphBuilder::AddOthers(const DelegateOperator &from,
                                      const CommonOp &op) {
  const QnnTensor output = Tensor(from.outputs[0]);
  Node node = {"Reshape", {}, {output}, {}};
  for (int input : from.inputs) {
    // Shapes and sizes are known from the output.
    const bool is_value = input >= 0 && At(input).type != IDataType::IDT_INT32;
    if (is_value) node.inputs.push_back(Tensor(input));
  }
  switch (op.kind) {
    case CommonKind::kMaxPool:
    case CommonKind::kAveragePool:
      node.type = op.kind == CommonKind::kMaxPool ? "PoolMax2d" : "PoolAvg2d";
      node.params = {
          Numbers("filter_size", {op.kernel[0], op.kernel[1]}, {2}),
          Numbers("stride", {op.strides[0], op.strides[1]}, {2}),
          Numbers("pad_amount",
                  {op.pads[0], op.pads[1], op.pads[2], op.pads[3]}, {2, 2})};
      if (op.kind == CommonKind::kAveragePool) {
        node.params.push_back(Flag("count_pad_for_edges", false));
      }
      break;
    case CommonKind::kConcat:
      node.type = "Concat";
      node.params = {Number("axis", static_cast<uint32_t>(op.axis))};
      break;
    case CommonKind::kSoftmax:
      node.type = "Softmax";
      node.params = {Number("axis", static_cast<uint32_t>(op.axis))};
      break;
    case CommonKind::kMean:
      node.type = "ReduceMean";
      node.params = {
          Numbers("axes", op.axes, {static_cast<int64_t>(op.axes.size())}),
          Flag("keep_dims", op.keep_dims)};
      break;
    case CommonKind::kResizeLinear:
    case CommonKind::kResizeNearest:
      node.type = op.kind == CommonKind::kResizeLinear
                      ? "ResizeBilinear"
                      : "ResizeNearestNeighbor";
      node.params = {Flag("align_corners", op.align_corners),
                     Flag("half_pixel_centers", op.half_pixel)};
      break;
    default:
      break;
  }
  return AddNode(std::move(node));
}

MaceStatus QnnGraphBuilder::Add(const DelegateOperator &from) {
  CommonOp op;
  const std::string problem = QnnRefusal(segment_, from, &op);
  if (!problem.empty()) {
    return RuntimeError("operator '", from.name, "': ", problem);
  }
  switch (op.kind) {
    case CommonKind::kFullyConnected:
      if (op.quantized) return AddImageProduct(from, op);
      return AddProduct(from, op);
    case CommonKind::kConv2d:
    case CommonKind::kDepthwiseConv2d:
      return AddProduct(from, op);
    case CommonKind::kActivation:
      return AddActivation(op, Tensor(from.inputs[0]), Tensor(from.outputs[0]));
    case CommonKind::kAdd:
    case CommonKind::kSub:
    case CommonKind::kMul:
    case CommonKind::kDiv: {
      const DelegateTensor &like = At(from.outputs[0]);
      const bool direct = op.activation == CommonActivation::kNone;
      const QnnTensor result =
          direct ? Tensor(from.outputs[0]) : NewTensor(like, like.shape);
      MACE_RETURN_IF_ERROR(
          AddNode({ArithmeticType(op.kind),
                   {Tensor(from.inputs[0]), Tensor(from.inputs[1])},
                   {result},
                   {}}));
      return Finish(from, op, result);
    }
    default:
      return AddOthers(from, op);
  }
}

}  // namespace mace

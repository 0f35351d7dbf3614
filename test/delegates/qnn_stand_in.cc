// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in for the HTP backend of QNN: the C interface as documented, which
// computes with reference.h. Its declarations are its own, so that the
// adapter's are checked against them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "test/delegates/reference.h"
#include "test/delegates/stand_in.h"

namespace mace::stand_in {
namespace {

using Error = uint64_t;
constexpr Error kSuccess = 0;
constexpr Error kInvalidArgument = 1002;
constexpr Error kNotSupported = 1000;
constexpr Error kGeneral = 6001;

enum TensorType : uint32_t {
  APP_WRITE = 0,
  APP_READ = 1,
  NATIVE = 3,
  STATIC = 4
};

struct ScaleOffset {
  float scale;
  int32_t offset;
};

// The layout of Qnn_Tensor_t on 64-bit systems, field by field.
struct Tensor {
  uint32_t version;
  uint32_t padding0;
  uint32_t id;
  uint32_t padding1;
  const char *name;
  uint32_t type;
  uint32_t dataFormat;
  uint32_t dataType;
  // Qnn_QuantizeParams_t
  uint32_t padding2;
  uint32_t encodingDefinition;
  uint32_t quantizationEncoding;
  union {
    ScaleOffset scaleOffset;
    struct {
      int32_t axis;
      uint32_t numScaleOffsets;
      const ScaleOffset *scaleOffset;
    } axisScaleOffset;
    uint64_t room[4];
  };
  uint32_t rank;
  uint32_t padding3;
  const uint32_t *dimensions;
  uint32_t memType;
  uint32_t padding4;
  void *data;
  uint32_t dataSize;
  uint32_t padding5;
  uint64_t version2[3];
};
static_assert(sizeof(Tensor) == 0x90);

struct Param {
  uint32_t paramType;
  uint32_t padding;
  const char *name;
  union {
    struct {
      uint32_t dataType;
      uint32_t padding;
      union {
        float floatValue;
        uint32_t uint32Value;
        uint8_t bool8Value;
      };
    } scalar;
    Tensor tensor;
  };
};

struct OpConfig {
  uint32_t version;
  uint32_t padding0;
  const char *name;
  const char *packageName;
  const char *typeName;
  uint32_t numOfParams;
  uint32_t padding1;
  const Param *params;
  uint32_t numOfInputs;
  uint32_t padding2;
  const Tensor *inputTensors;
  uint32_t numOfOutputs;
  uint32_t padding3;
  const Tensor *outputTensors;
};

Counts g_counts;

struct Value {
  std::string name;
  uint32_t type = NATIVE;
  uint32_t data_type = 0;
  std::vector<int64_t> dims;
  Scaling scaling;
  std::string data;  // of a static tensor

  Element element() const {
    switch (data_type) {
      case 0x0232:
        return Element::kFloat;
      case 0x0308:
        return Element::kInt8;
      case 0x0408:
        return Element::kUint8;
      default:
        return Element::kInt32;
    }
  }
  bool quantized() const {
    return element() == Element::kInt8 || element() == Element::kUint8;
  }
};

struct Node {
  std::string type;
  std::vector<uint32_t> inputs;
  uint32_t output = 0;
  std::map<std::string, std::vector<double>> params;
};

struct Graph {
  std::vector<Value> values;  // ids are indices + 100
  std::vector<Node> nodes;
  bool finalized = false;
  bool half = false;
};
constexpr uint32_t kFirstId = 100;

struct Context {
  Context() { ++g_counts.alive; }
  ~Context() { --g_counts.alive; }
  std::map<std::string, Graph> graphs;
};

Array ArrayOf(const Value &value) {
  return FromElements(value.dims, value.element(), value.scaling,
                      value.data.data());
}

class Evaluation {
 public:
  explicit Evaluation(const Graph &graph)
      : graph_(graph), arrays_(graph.values.size()) {
    for (size_t i = 0; i < arrays_.size(); ++i) {
      if (graph.values[i].type == STATIC) arrays_[i] = ArrayOf(graph.values[i]);
    }
  }

  Error Run(const Tensor *inputs,
            uint32_t input_count,
            Tensor *outputs,
            uint32_t output_count) {
    for (uint32_t i = 0; i < input_count; ++i) {
      const size_t at = inputs[i].id - kFirstId;
      if (!Fits(inputs[i], APP_WRITE)) return kInvalidArgument;
      const Value &value = graph_.values[at];
      arrays_[at] = FromElements(value.dims, value.element(), value.scaling,
                                 inputs[i].data);
    }
    for (const Node &node : graph_.nodes) {
      const Value &output = graph_.values[node.output];
      Array result = Compute(node);
      if (node.type == "Reshape") result.dims = output.dims;
      if (result.dims != output.dims) return kInvalidArgument;
      if (output.quantized()) {
        std::string rounded(result.values.size(), '\0');
        ToElements(result, output.element(), output.scaling, rounded.data());
        result = FromElements(output.dims, output.element(), output.scaling,
                              rounded.data());
      }
      arrays_[node.output] = std::move(result);
    }
    for (uint32_t i = 0; i < output_count; ++i) {
      if (!Fits(outputs[i], APP_READ)) return kInvalidArgument;
      const size_t at = outputs[i].id - kFirstId;
      ToElements(arrays_[at], graph_.values[at].element(),
                 graph_.values[at].scaling, outputs[i].data);
    }
    return kSuccess;
  }

 private:
  bool Fits(const Tensor &tensor, uint32_t type) const {
    const size_t at = tensor.id - kFirstId;
    if (at >= graph_.values.size()) return false;
    const Value &value = graph_.values[at];
    const auto bytes = static_cast<uint32_t>(Elements(value.dims)) *
                       static_cast<uint32_t>(ElementBytes(value.element()));
    return value.type == type && tensor.type == type &&
           value.name == tensor.name && tensor.dataSize == bytes &&
           tensor.rank == value.dims.size();
  }

  Array At(const Node &node, size_t port) const {
    return arrays_[node.inputs[port]];
  }
  static int64_t Number(const Node &node, const char *name, size_t index = 0) {
    return static_cast<int64_t>(node.params.at(name).at(index));
  }

  // Its scale is 0, which stands for that of the products.
  Array Bias(const Node &node) const {
    const Value &value = graph_.values[node.inputs[2]];
    if (value.element() == Element::kFloat) return At(node, 2);
    Array bias =
        FromElements(value.dims, value.element(), Scaling(), value.data.data());
    const double input = graph_.values[node.inputs[0]].scaling.scales[0];
    const auto &scales = graph_.values[node.inputs[1]].scaling.scales;
    for (size_t i = 0; i < bias.values.size(); ++i) {
      bias.values[i] *= input * scales[scales.size() == 1 ? 0 : i];
    }
    return bias;
  }

  // [KH, KW, I, O] as [O, KH, KW, I].
  static Array Filter(const Array &from) {
    const int64_t outputs = from.dims[3];
    Array filter = DepthwiseAsGroups(from, outputs);
    filter.dims = {outputs, from.dims[0], from.dims[1], from.dims[2]};
    return filter;
  }

  static Window WindowOf(const Node &node, int64_t height, int64_t width) {
    const bool dilated = node.params.count("dilation") > 0;
    return {{height, width},
            {Number(node, "stride", 0), Number(node, "stride", 1)},
            {dilated ? Number(node, "dilation", 0) : 1,
             dilated ? Number(node, "dilation", 1) : 1},
            {Number(node, "pad_amount", 0), Number(node, "pad_amount", 1),
             Number(node, "pad_amount", 2), Number(node, "pad_amount", 3)}};
  }

  Array Conv(const Node &node) const {
    const Array x = At(node, 0);
    const Array filter = Filter(At(node, 1));
    const bool depthwise = node.type == "DepthWiseConv2d";
    const int64_t groups = depthwise ? x.dims[3] : Number(node, "group");
    return Convolve(x, filter, Bias(node),
                    WindowOf(node, filter.dims[1], filter.dims[2]), groups);
  }

  Array Pooled(const Node &node) const {
    return Pool(At(node, 0),
                WindowOf(node, Number(node, "filter_size", 0),
                         Number(node, "filter_size", 1)),
                node.type == "PoolAvg2d");
  }

  Array Elementwise(const Node &node) const {
    const std::string type = node.type.substr(std::strlen("ElementWise"));
    return Broadcast(At(node, 0), At(node, 1), [type](double a, double b) {
      if (type == "Add") return a + b;
      if (type == "Subtract") return a - b;
      return type == "Multiply" ? a * b : a / b;
    });
  }

  Array Activated(const Node &node) const {
    const std::string type = node.type;
    return Map(At(node, 0), [type](double x) {
      if (type == "Relu") return std::max(x, 0.0);
      if (type == "ReluMinMax") return std::clamp(x, 0.0, 6.0);
      return type == "Tanh" ? std::tanh(x) : 1 / (1 + std::exp(-x));
    });
  }

  Array Compute(const Node &node) const {
    const std::string &type = node.type;
    if (type == "Conv2d" || type == "DepthWiseConv2d") return Conv(node);
    if (type == "FullyConnected") {
      return Multiply(At(node, 0), At(node, 1), Bias(node));
    }
    if (type == "PoolMax2d" || type == "PoolAvg2d") return Pooled(node);
    if (type.rfind("ElementWise", 0) == 0) return Elementwise(node);
    if (type == "Concat") {
      std::vector<Array> parts;
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        parts.push_back(At(node, i));
      }
      return Join(parts, Number(node, "axis"));
    }
    if (type == "Softmax") return Softmax(At(node, 0), Number(node, "axis"));
    if (type == "ReduceMean") {
      std::vector<int64_t> axes;
      for (double axis : node.params.at("axes")) {
        axes.push_back(static_cast<int64_t>(axis));
      }
      return Mean(At(node, 0), axes, Number(node, "keep_dims") != 0);
    }
    if (type.rfind("Resize", 0) == 0) {
      const std::vector<int64_t> &dims = graph_.values[node.output].dims;
      return Resize(At(node, 0), dims[1], dims[2], type == "ResizeBilinear",
                    Number(node, "align_corners") != 0,
                    Number(node, "half_pixel_centers") != 0);
    }
    if (type == "Reshape") return At(node, 0);
    return Activated(node);
  }

  const Graph &graph_;
  std::vector<Array> arrays_;
};

// The value of a tensor that a graph is given.
bool ReadTensor(const Tensor &tensor, Value *value) {
  if (tensor.version != 1 || tensor.name == nullptr) return false;
  value->name = tensor.name;
  value->type = tensor.type;
  value->data_type = tensor.dataType;
  value->dims.assign(tensor.dimensions, tensor.dimensions + tensor.rank);
  if (tensor.encodingDefinition == 1) {
    if (tensor.quantizationEncoding == 0) {
      value->scaling.scales = {static_cast<double>(tensor.scaleOffset.scale)};
      value->scaling.zero_point = -tensor.scaleOffset.offset;
    } else {
      const auto &each = tensor.axisScaleOffset;
      value->scaling.axis = each.axis;
      if (static_cast<int64_t>(each.numScaleOffsets) !=
          value->dims[static_cast<size_t>(each.axis)]) {
        return false;
      }
      for (uint32_t i = 0; i < each.numScaleOffsets; ++i) {
        value->scaling.scales.push_back(
            static_cast<double>(each.scaleOffset[i].scale));
      }
    }
  }
  if (tensor.type == STATIC) {
    const auto bytes = static_cast<uint32_t>(Elements(value->dims)) *
                       static_cast<uint32_t>(ElementBytes(value->element()));
    if (tensor.data == nullptr || tensor.dataSize != bytes) return false;
    value->data.assign(static_cast<const char *>(tensor.data), bytes);
  }
  return true;
}

std::string Serialized(const Context &context) {
  Writer writer;
  writer.Number<uint64_t>(context.graphs.size());
  for (const auto &[name, graph] : context.graphs) {
    writer.Text(name);
    writer.Number(graph.half);
    writer.Number<uint64_t>(graph.values.size());
    for (const Value &value : graph.values) {
      writer.Text(value.name);
      writer.Number(value.type);
      writer.Number(value.data_type);
      writer.Numbers(value.dims);
      writer.Numbers(value.scaling.scales);
      writer.Number(value.scaling.zero_point);
      writer.Number(value.scaling.axis);
      writer.Text(value.data);
    }
    writer.Number<uint64_t>(graph.nodes.size());
    for (const Node &node : graph.nodes) {
      writer.Text(node.type);
      writer.Numbers(node.inputs);
      writer.Number(node.output);
      writer.Number<uint64_t>(node.params.size());
      for (const auto &[param, numbers] : node.params) {
        writer.Text(param);
        writer.Numbers(numbers);
      }
    }
  }
  return writer.Finish();
}

void Deserialize(Reader *reader, Context *context) {
  for (auto graphs = reader->Number<uint64_t>(); graphs > 0; --graphs) {
    Graph &graph = context->graphs[reader->Text()];
    graph.half = reader->Number<bool>();
    graph.finalized = true;
    graph.values.resize(reader->Number<uint64_t>());
    for (Value &value : graph.values) {
      value.name = reader->Text();
      value.type = reader->Number<uint32_t>();
      value.data_type = reader->Number<uint32_t>();
      value.dims = reader->Numbers<int64_t>();
      value.scaling.scales = reader->Numbers<double>();
      value.scaling.zero_point = reader->Number<int64_t>();
      value.scaling.axis = reader->Number<int64_t>();
      value.data = reader->Text();
    }
    graph.nodes.resize(reader->Number<uint64_t>());
    for (Node &node : graph.nodes) {
      node.type = reader->Text();
      node.inputs = reader->Numbers<uint32_t>();
      node.output = reader->Number<uint32_t>();
      for (auto params = reader->Number<uint64_t>(); params > 0; --params) {
        const std::string name = reader->Text();
        node.params[name] = reader->Numbers<double>();
      }
    }
  }
}

Error BackendCreate(void *, const void **, void **backend) {
  *backend = &g_counts;
  ++g_counts.alive;
  return kSuccess;
}
Error BackendFree(void *) {
  --g_counts.alive;
  return kSuccess;
}
Error GetBuildId(const char **id) {
  *id = "v2.25.0.stand-in";
  return kSuccess;
}
Error Validate(void *, OpConfig op) {
  if (op.version != 1 || std::strcmp(op.packageName, "qti.aisw") != 0) {
    return kInvalidArgument;
  }
  return Fails(std::string("refuse ") + op.typeName) ? kNotSupported : kSuccess;
}

Error ContextCreate(void *, void *, const void **, void **context) {
  *context = new Context;
  return kSuccess;
}
Error ContextFree(void *context, void *) {
  delete static_cast<Context *>(context);
  return kSuccess;
}
Error GetBinarySize(void *context, uint64_t *size) {
  // The real one is an estimate, too.
  *size = Serialized(*static_cast<Context *>(context)).size() + 16;
  return kSuccess;
}
Error GetBinary(void *context, void *buffer, uint64_t size, uint64_t *written) {
  const std::string bytes = Serialized(*static_cast<Context *>(context));
  if (bytes.size() > size) return kInvalidArgument;
  std::memcpy(buffer, bytes.data(), bytes.size());
  *written = bytes.size();
  return kSuccess;
}
Error CreateFromBinary(void *,
                       void *,
                       const void **,
                       const void *buffer,
                       uint64_t size,
                       void **context,
                       void *) {
  if (Fails("restore")) return kGeneral;
  Reader reader(buffer, size);
  if (!reader.ok()) return kInvalidArgument;
  auto *made = new Context;
  Deserialize(&reader, made);
  *context = made;
  ++g_counts.restored;
  return kSuccess;
}

struct GraphConfig {
  uint32_t option;
  const uint32_t *custom;
};
Error GraphCreate(void *context,
                  const char *name,
                  const GraphConfig **configs,
                  void **graph) {
  Graph &made = static_cast<Context *>(context)->graphs[name];
  for (; configs != nullptr && *configs != nullptr; ++configs) {
    // The precision of the HTP: 16 bits.
    made.half = (*configs)->option == 0 && (*configs)->custom[0] == 2 &&
                (*configs)->custom[2] == 1;
  }
  *graph = &made;
  return kSuccess;
}
Error CreateTensor(void *graph, Tensor *tensor) {
  auto *in = static_cast<Graph *>(graph);
  Value value;
  if (!ReadTensor(*tensor, &value)) return kInvalidArgument;
  if (value.element() == Element::kFloat && value.type != STATIC && !in->half) {
    return kNotSupported;
  }
  in->values.push_back(std::move(value));
  tensor->id = static_cast<uint32_t>(in->values.size()) - 1 + kFirstId;
  return kSuccess;
}
Error AddNode(void *graph, OpConfig op) {
  auto *in = static_cast<Graph *>(graph);
  Node node;
  node.type = op.typeName;
  if (op.numOfOutputs != 1 || Validate(nullptr, op) != kSuccess) {
    return kInvalidArgument;
  }
  for (uint32_t i = 0; i < op.numOfInputs; ++i) {
    node.inputs.push_back(op.inputTensors[i].id - kFirstId);
    if (node.inputs.back() >= in->values.size()) return kInvalidArgument;
  }
  node.output = op.outputTensors[0].id - kFirstId;
  if (node.output >= in->values.size()) return kInvalidArgument;
  for (uint32_t i = 0; i < op.numOfParams; ++i) {
    const Param &param = op.params[i];
    std::vector<double> &numbers = node.params[param.name];
    if (param.paramType == 1) {
      const size_t at = param.tensor.id - kFirstId;
      if (at >= in->values.size()) return kInvalidArgument;
      numbers = ArrayOf(in->values[at]).values;
    } else if (param.scalar.dataType == 0x0508) {
      numbers = {static_cast<double>(param.scalar.bool8Value)};
    } else if (param.scalar.dataType == 0x0232) {
      numbers = {static_cast<double>(param.scalar.floatValue)};
    } else {
      numbers = {static_cast<double>(param.scalar.uint32Value)};
    }
  }
  in->nodes.push_back(std::move(node));
  return kSuccess;
}
// One event for a run, which at level 2 has one for each node.
struct EventData {
  uint32_t type;
  uint32_t unit;
  uint64_t value;
  const char *identifier;
};
struct Profile {
  Profile() { ++g_counts.alive; }
  ~Profile() { --g_counts.alive; }
  void Measure(const Graph &graph) {
    names.clear();
    parts.clear();
    if (level < 2) return;
    for (const Node &node : graph.nodes) {
      names.push_back(node.type + ":OpId_" + std::to_string(names.size()));
      parts.push_back(kFirstPart + parts.size());
    }
  }
  static constexpr uint64_t kWhole = 500;
  static constexpr uint64_t kFirstPart = 1000;
  uint32_t level = 0;
  const uint64_t whole = kWhole;
  std::vector<std::string> names;
  std::vector<uint64_t> parts;
};
Profile *g_profile = nullptr;  // the last one; events have no other owner

Error ProfileCreate(void *, uint32_t level, void **profile) {
  if (Fails("profile")) return kNotSupported;
  g_profile = new Profile;
  g_profile->level = level;
  *profile = g_profile;
  return kSuccess;
}
Error ProfileGetEvents(void *profile,
                       const uint64_t **events,
                       uint32_t *count) {
  *events = &static_cast<Profile *>(profile)->whole;
  *count = 1;
  return kSuccess;
}
Error ProfileGetSubEvents(uint64_t event,
                          const uint64_t **events,
                          uint32_t *count) {
  const bool whole = event == Profile::kWhole;
  *events = g_profile->parts.data();
  *count = whole ? static_cast<uint32_t>(g_profile->parts.size()) : 0;
  return kSuccess;
}
Error ProfileGetEventData(uint64_t event, EventData *data) {
  if (event == Profile::kWhole) {
    *data = {400, 1, 1234, "Accelerator (execute) time"};
    return kSuccess;
  }
  const size_t part = event - Profile::kFirstPart;
  if (part >= g_profile->names.size()) return kInvalidArgument;
  *data = {404, 3, 100 + part, g_profile->names[part].c_str()};
  return kSuccess;
}
Error ProfileFree(void *profile) {
  if (profile == g_profile) g_profile = nullptr;
  delete static_cast<Profile *>(profile);
  return kSuccess;
}

Error Finalize(void *graph, void *, void *) {
  if (Fails("compile")) return kGeneral;
  static_cast<Graph *>(graph)->finalized = true;
  ++g_counts.compiled;
  return kSuccess;
}
Error Retrieve(void *context, const char *name, void **graph) {
  auto &graphs = static_cast<Context *>(context)->graphs;
  const auto found = graphs.find(name);
  if (found == graphs.end()) return kInvalidArgument;
  *graph = &found->second;
  return kSuccess;
}
Error Execute(void *graph,
              const Tensor *inputs,
              uint32_t input_count,
              Tensor *outputs,
              uint32_t output_count,
              void *profile,
              void *) {
  if (Fails("execute")) return kGeneral;
  const auto &in = *static_cast<Graph *>(graph);
  if (!in.finalized) return kInvalidArgument;
  ++g_counts.executed;
  if (profile != nullptr) static_cast<Profile *>(profile)->Measure(in);
  return Evaluation(in).Run(inputs, input_count, outputs, output_count);
}

// The clock: what counts is the target of the core's voltage.
Error CreatePower(uint32_t, uint32_t, uint32_t *id) {
  *id = 7;
  ++g_counts.alive;
  return kSuccess;
}
Error DestroyPower(uint32_t) {
  --g_counts.alive;
  return kSuccess;
}
Error SetPower(uint32_t id, const uint32_t **configs) {
  constexpr int kOption = 0;
  constexpr int kContext = 1;
  constexpr int kCoreTarget = 15;
  if (id != 7 || configs[0][kOption] != 1 || configs[0][kContext] != id) {
    return kInvalidArgument;
  }
  g_counts.hint = configs[0][kCoreTarget];
  return kSuccess;
}
struct Infrastructure {
  uint32_t type;
  Error (*create)(uint32_t, uint32_t, uint32_t *);
  Error (*destroy)(uint32_t);
  Error (*set)(uint32_t, const uint32_t **);
  void *memory;
};
constexpr Infrastructure kInfrastructure = {0, CreatePower, DestroyPower,
                                            SetPower, nullptr};
Error GetInfrastructure(const Infrastructure **result) {
  *result = &kInfrastructure;
  return kSuccess;
}
Error DeviceCreate(void *, const void **, void **device) {
  *device = &g_counts;
  ++g_counts.alive;
  return kSuccess;
}
Error DeviceFree(void *) {
  --g_counts.alive;
  return kSuccess;
}

// Functions by their index in the table of version 2.
enum Index {
  kBackendCreate = 1,
  kBackendGetBuildId = 4,
  kBackendValidateOpConfig = 7,
  kBackendFree = 8,
  kContextCreate = 9,
  kContextGetBinarySize = 11,
  kContextGetBinary = 12,
  kContextCreateFromBinary = 13,
  kContextFree = 14,
  kGraphCreate = 15,
  kGraphAddNode = 18,
  kGraphFinalize = 19,
  kGraphRetrieve = 20,
  kGraphExecute = 21,
  kTensorCreateGraphTensor = 24,
  kProfileCreate = 28,
  kProfileGetEvents = 30,
  kProfileGetSubEvents = 31,
  kProfileGetEventData = 32,
  kProfileFree = 34,
  kDeviceGetInfrastructure = 39,
  kDeviceCreate = 40,
  kDeviceFree = 43,
  kFunctions = 48
};

struct Provider {
  uint32_t backendId = 6;
  const char *providerName = "stand-in";
  uint32_t core[3] = {2, 18, 0};
  uint32_t backend[3] = {5, 25, 0};
  const void *functions[kFunctions] = {};
};

const Provider *MakeProvider() {
  static Provider provider;
  const void **table = provider.functions;
  const auto set = [table](Index index, auto *function) {
    table[index] = reinterpret_cast<const void *>(function);
  };
  set(kBackendCreate, BackendCreate);
  set(kBackendGetBuildId, GetBuildId);
  set(kBackendValidateOpConfig, Validate);
  set(kBackendFree, BackendFree);
  set(kContextCreate, ContextCreate);
  set(kContextGetBinarySize, GetBinarySize);
  set(kContextGetBinary, GetBinary);
  set(kContextCreateFromBinary, CreateFromBinary);
  set(kContextFree, ContextFree);
  set(kGraphCreate, GraphCreate);
  set(kGraphAddNode, AddNode);
  set(kGraphFinalize, Finalize);
  set(kGraphRetrieve, Retrieve);
#ifndef MACE_STAND_IN_WITHOUT_COMPUTE
  set(kGraphExecute, Execute);
#endif
  set(kTensorCreateGraphTensor, CreateTensor);
  set(kProfileCreate, ProfileCreate);
  set(kProfileGetEvents, ProfileGetEvents);
  set(kProfileGetSubEvents, ProfileGetSubEvents);
  set(kProfileGetEventData, ProfileGetEventData);
  set(kProfileFree, ProfileFree);
  set(kDeviceGetInfrastructure, GetInfrastructure);
  set(kDeviceCreate, DeviceCreate);
  set(kDeviceFree, DeviceFree);
  return &provider;
}

}  // namespace
}  // namespace mace::stand_in

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int64_t StandInCount(const char *name) {
  return mace::stand_in::g_counts.Named(name);
}

EXPORT uint64_t QnnInterface_getProviders(const void ***providers,
                                          uint32_t *count) {
  static const void *list[] = {mace::stand_in::MakeProvider()};
  *providers = list;
  *count = 1;
  return 0;
}

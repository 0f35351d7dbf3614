// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in for the runtime library of the HTA: the C interface that is
// public, strict about its arguments, which computes with reference.h. Its
// declarations are its own, so that the adapter's are checked against them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/delegates/reference.h"
#include "test/delegates/stand_in.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace mace::stand_in {
namespace {

enum {
  OK = 0,
  INVALID_ID = -1,
  NOT_PREPARED = -5,
  FAILURE = -7,
  INVALID_STATE = -9,
  INVALID_PARAM = -13,
  INCORRECT_VERSION = -14,
  COMPILATION_FAILURE = -16
};
// The list of operations has these at these places.
enum Op : uint32_t {
  INPUT = 0,
  OUTPUT = 1,
  CONST = 3,  // of nodes that are constants
  QuantizedRelu_8 = 21,
  QuantizedReluX_8 = 23,
  QuantizedMaxPool_8 = 25,
  QuantizedAvgPool_8 = 27,
  QuantizedConcat_8 = 31,
  QuantizedReshape = 60,
  QuantizedSoftmax_8 = 119,
  QuantizedAdd_8p8to8 = 140,
  QuantizedResizeBilinear_8 = 141,
  Supernode_8x8p32to8 = 180,
  DepthwiseSupernode_8x8p32to8 = 181
};
enum { PAD_NA = 0, PAD_SAME = 1, PAD_VALID = 2 };

Counts g_counts;

// A tensor: uint8 numbers, int32 numbers or floats, as its reader has it.
struct Cell {
  std::vector<int64_t> dims;
  std::string bytes;

  template <typename T>
  T At(size_t index) const {
    T value = {};
    std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
    return value;
  }
};

struct Port {
  uint32_t node;
  uint32_t index;
};

struct Node {
  uint32_t id = 0;
  uint32_t op = CONST;
  int32_t padding = PAD_NA;
  std::vector<Port> inputs;
  std::vector<Cell> outputs;  // of a constant, with its bytes
};

struct Graph {
  Graph() { ++g_counts.alive; }
  ~Graph() { --g_counts.alive; }
  std::vector<Node> nodes;
  bool prepared = false;
};
std::map<int32_t, std::unique_ptr<Graph>> g_graphs;

Graph *GraphOf(int32_t id) {
  const auto found = g_graphs.find(id);
  return found == g_graphs.end() ? nullptr : found->second.get();
}
int32_t AddGraph(std::unique_ptr<Graph> graph) {
  static int32_t last = 16;
  g_graphs[++last] = std::move(graph);
  return last;
}

// How many inputs an operation has; -1: any, -2: there is no such operation.
int InputsOf(uint32_t op) {
  switch (op) {
    case INPUT:
      return 0;
    case OUTPUT:
    case QuantizedConcat_8:
      return -1;
    case QuantizedRelu_8:
    case QuantizedSoftmax_8:
      return 3;
    case QuantizedReluX_8:
    case QuantizedReshape:
      return 4;
    case QuantizedMaxPool_8:
    case QuantizedAvgPool_8:
    case QuantizedResizeBilinear_8:
      return 5;
    case QuantizedAdd_8p8to8:
      return 8;
    case Supernode_8x8p32to8:
    case DepthwiseSupernode_8x8p32to8:
      return 12;
    default:
      return -2;
  }
}

bool HasWindow(uint32_t op) {
  return op == QuantizedMaxPool_8 || op == QuantizedAvgPool_8 ||
         op == Supernode_8x8p32to8 || op == DepthwiseSupernode_8x8p32to8;
}

// What 8-bit numbers between two reals stand for; 0 is one of them.
struct Range {
  Range(double least, double most)
      : step((most - least) / 255), zero(std::round(-least / step)) {}
  Array Real(const Cell &cell) const {
    Array array;
    array.dims = cell.dims;
    for (char byte : cell.bytes) {
      array.values.push_back((static_cast<uint8_t>(byte) - zero) * step);
    }
    return array;
  }
  std::string Numbers(const Array &array) const {
    std::string bytes;
    for (double value : array.values) {
      const double number = std::round(value / step) + zero;
      bytes.push_back(static_cast<char>(
          static_cast<uint8_t>(std::clamp(number, 0.0, 255.0))));
    }
    return bytes;
  }
  double step;
  double zero;
};

class Evaluation {
 public:
  explicit Evaluation(const Graph &graph) {
    for (const Node &node : graph.nodes) cells_[node.id] = node.outputs;
  }

  void SetInput(uint32_t node, size_t index, const void *data) {
    Cell &cell = cells_[node][index];
    cell.bytes.assign(static_cast<const char *>(data),
                      static_cast<size_t>(Elements(cell.dims)));
  }
  const Cell &At(const Port &port) const {
    return cells_.at(port.node)[port.index];
  }

  // False if the result has not the sizes that the node has.
  bool Run(const Node &node) {
    if (node.op == INPUT || node.op == OUTPUT || node.op == CONST) return true;
    least_ = 0;
    most_ = 0;
    Array result = Compute(node);
    std::vector<Cell> &outputs = cells_[node.id];
    if (node.op == QuantizedReshape) {
      std::vector<int64_t> sizes;
      for (size_t i = 0; i < 4; ++i) {
        sizes.push_back(At(node.inputs[1]).At<int32_t>(i));
      }
      if (Elements(sizes) != Elements(result.dims)) return false;
      result.dims = sizes;
    }
    if (result.dims != outputs[0].dims || !(most_ > least_)) return false;
    outputs[0].bytes = Range(least_, most_).Numbers(result);
    for (const auto &[index, number] : {std::pair<size_t, double>{1, least_},
                                        std::pair<size_t, double>{2, most_}}) {
      const auto value = static_cast<float>(number);
      outputs[index].bytes.assign(reinterpret_cast<const char *>(&value),
                                  sizeof(value));
    }
    return true;
  }

 private:
  double Float(const Node &node, size_t port) const {
    return static_cast<double>(At(node.inputs[port]).At<float>(0));
  }
  Range RangeAt(const Node &node, size_t least, size_t most) const {
    return {Float(node, least), Float(node, most)};
  }
  void KeepRange(const Node &node, size_t least, size_t most) {
    least_ = Float(node, least);
    most_ = Float(node, most);
  }
  // With its range at the two ports after it.
  Array Input(const Node &node) const {
    return RangeAt(node, 1, 2).Real(At(node.inputs[0]));
  }

  // Pads as TensorFlow has them.
  static Window WindowOf(const Node &node,
                         const Array &x,
                         int64_t height,
                         int64_t width,
                         const Cell &steps) {
    Window window = {
        {height, width}, {steps.dims[1], steps.dims[2]}, {1, 1}, {0, 0, 0, 0}};
    if (node.padding != PAD_SAME) return window;
    for (size_t axis = 0; axis < 2; ++axis) {
      const int64_t size = x.dims[axis + 1];
      const int64_t stride = window.strides[axis];
      const int64_t results = (size + stride - 1) / stride;
      const int64_t total = std::max<int64_t>(
          (results - 1) * stride + window.kernel[axis] - size, 0);
      window.pads[2 * axis] = total / 2;
      window.pads[2 * axis + 1] = total - total / 2;
    }
    return window;
  }

  Array Conv(const Node &node) {
    const Array x = RangeAt(node, 2, 3).Real(At(node.inputs[0]));
    const Array from = RangeAt(node, 4, 5).Real(At(node.inputs[1]));
    const Cell &numbers = At(node.inputs[7]);
    const double step = (Float(node, 9) - Float(node, 8)) / 4294967296.0;
    Array bias;
    bias.dims = {numbers.dims[3]};
    for (size_t i = 0; i < numbers.bytes.size() / sizeof(int32_t); ++i) {
      bias.values.push_back(step * numbers.At<int32_t>(i));
    }
    const bool depthwise = node.op == DepthwiseSupernode_8x8p32to8;
    // [KH, KW, I, O], or [KH, KW, C, M], as [O, KH, KW, I].
    const int64_t outputs =
        depthwise ? from.dims[2] * from.dims[3] : from.dims[3];
    Array filter = DepthwiseAsGroups(from, outputs);
    filter.dims = {outputs, from.dims[0], from.dims[1],
                   depthwise ? 1 : from.dims[2]};
    KeepRange(node, 10, 11);
    return Convolve(
        x, filter, bias,
        WindowOf(node, x, from.dims[0], from.dims[1], At(node.inputs[6])),
        depthwise ? from.dims[2] : 1);
  }

  Array Pooled(const Node &node) {
    KeepRange(node, 1, 2);
    const Array x = Input(node);
    const Cell &kernel = At(node.inputs[3]);
    return Pool(
        x,
        WindowOf(node, x, kernel.dims[1], kernel.dims[2], At(node.inputs[4])),
        node.op == QuantizedAvgPool_8);
  }

  Array Joined(const Node &node) {
    const size_t count = (node.inputs.size() - 1) / 3;
    std::vector<Array> parts;
    for (size_t i = 1; i <= count; ++i) {
      const Range range = RangeAt(node, i + count, i + 2 * count);
      parts.push_back(range.Real(At(node.inputs[i])));
      least_ = std::min(least_, Float(node, i + count));
      most_ = std::max(most_, Float(node, i + 2 * count));
    }
    return Join(parts, At(node.inputs[0]).At<int32_t>(0));
  }

  Array Compute(const Node &node) {
    switch (node.op) {
      case Supernode_8x8p32to8:
      case DepthwiseSupernode_8x8p32to8:
        return Conv(node);
      case QuantizedMaxPool_8:
      case QuantizedAvgPool_8:
        return Pooled(node);
      case QuantizedConcat_8:
        return Joined(node);
      case QuantizedAdd_8p8to8: {
        KeepRange(node, 6, 7);
        const Array a = RangeAt(node, 2, 3).Real(At(node.inputs[0]));
        const Array b = RangeAt(node, 4, 5).Real(At(node.inputs[1]));
        return Broadcast(a, b, [](double p, double q) { return p + q; });
      }
      case QuantizedSoftmax_8:
        most_ = 1;
        return Softmax(Input(node), 3);
      case QuantizedReshape:
        KeepRange(node, 2, 3);
        return RangeAt(node, 2, 3).Real(At(node.inputs[0]));
      case QuantizedResizeBilinear_8: {
        KeepRange(node, 2, 3);
        const Cell &sizes = At(node.inputs[1]);
        return Resize(RangeAt(node, 2, 3).Real(At(node.inputs[0])),
                      sizes.At<int32_t>(0), sizes.At<int32_t>(1), true,
                      At(node.inputs[4]).At<int32_t>(0) != 0, false);
      }
      default: {
        KeepRange(node, 1, 2);
        const double limit =
            node.op == QuantizedReluX_8 ? Float(node, 3) : 1e30;
        return Map(Input(node),
                   [limit](double x) { return std::clamp(x, 0.0, limit); });
      }
    }
  }

  std::map<uint32_t, std::vector<Cell>> cells_;
  double least_ = 0;
  double most_ = 0;
};

std::string Serialized(const Graph &graph) {
  Writer writer;
  writer.Number<uint64_t>(graph.nodes.size());
  for (const Node &node : graph.nodes) {
    writer.Number(node.id);
    writer.Number(node.op);
    writer.Number(node.padding);
    writer.Numbers(node.inputs);
    writer.Number<uint64_t>(node.outputs.size());
    for (const Cell &cell : node.outputs) {
      writer.Numbers(cell.dims);
      writer.Text(cell.bytes);
    }
  }
  return writer.Finish();
}

std::unique_ptr<Graph> Deserialized(Reader *reader) {
  auto graph = std::make_unique<Graph>();
  graph->nodes.resize(reader->Number<uint64_t>());
  for (Node &node : graph->nodes) {
    node.id = reader->Number<uint32_t>();
    node.op = reader->Number<uint32_t>();
    node.padding = reader->Number<int32_t>();
    node.inputs = reader->Numbers<Port>();
    node.outputs.resize(reader->Number<uint64_t>());
    for (Cell &cell : node.outputs) {
      cell.dims = reader->Numbers<int64_t>();
      cell.bytes = reader->Text();
    }
  }
  graph->prepared = true;
  return graph;
}

// Adds a node, if no other has its id.
int Append(int32_t id, Node node) {
  Graph *graph = GraphOf(id);
  if (graph == nullptr) return INVALID_ID;
  if (graph->prepared || node.id == 0) return INVALID_STATE;
  for (const Node &other : graph->nodes) {
    if (other.id == node.id) return INVALID_PARAM;
  }
  for (const Port &port : node.inputs) {
    const auto source =
        std::find_if(graph->nodes.begin(), graph->nodes.end(),
                     [&port](const Node &n) { return n.id == port.node; });
    if (source == graph->nodes.end() || port.index >= source->outputs.size()) {
      return INVALID_PARAM;
    }
  }
  graph->nodes.push_back(std::move(node));
  return OK;
}

}  // namespace
}  // namespace mace::stand_in

using namespace mace::stand_in;  // NOLINT: the types of the interface follow.

struct output {
  uint32_t rank;
  uint32_t max_sizes[8];
  uint32_t elementsize;
  int32_t zero_offset;
  float stepsize;
};

struct hexagon_hta_nn_tensordef {
  uint32_t batches;
  uint32_t height;
  uint32_t width;
  uint32_t depth;
  uint8_t *data;
  uint32_t dataLen;
  uint32_t data_valid_len;
  uint32_t unused;
};

EXPORT int64_t StandInCount(const char *name) { return g_counts.Named(name); }

EXPORT int hexagon_hta_nn_config() { return Fails("config") ? FAILURE : OK; }

EXPORT int hexagon_hta_nn_version(int *version) {
  *version = 0x10203;
  return OK;
}

EXPORT int hexagon_hta_nn_init(int32_t *graph) {
  *graph = AddGraph(std::make_unique<Graph>());
  return OK;
}

EXPORT int hexagon_hta_nn_append_const_node(int32_t id,
                                            uint32_t node_id,
                                            uint32_t batches,
                                            uint32_t height,
                                            uint32_t width,
                                            uint32_t depth,
                                            const uint8_t *data,
                                            uint32_t length) {
  if ((data == nullptr) != (length == 0)) return INVALID_PARAM;
  Node node;
  node.id = node_id;
  node.outputs.resize(1);
  node.outputs[0].dims = {batches, height, width, depth};
  node.outputs[0].bytes.assign(reinterpret_cast<const char *>(data), length);
  const int64_t elements = Elements(node.outputs[0].dims);
  if (length != 0 && length != elements && length != 4 * elements) {
    return INVALID_PARAM;
  }
  return Append(id, std::move(node));
}

EXPORT int hexagon_hta_nn_append_node(int32_t id,
                                      uint32_t node_id,
                                      uint32_t operation,
                                      int32_t padding,
                                      const Port *inputs,
                                      uint32_t input_count,
                                      const output *outputs,
                                      uint32_t output_count) {
  Node node;
  node.id = node_id;
  node.op = operation;
  node.padding = padding;
  node.inputs.assign(inputs, inputs + input_count);
  const int expected = InputsOf(operation);
  if (expected == -2 ||
      (expected >= 0 && static_cast<uint32_t>(expected) != input_count) ||
      (padding == PAD_NA) == HasWindow(operation)) {
    return INVALID_PARAM;
  }
  const bool computes = operation != INPUT && operation != OUTPUT;
  if (computes && output_count != 3) return INVALID_PARAM;
  for (uint32_t i = 0; i < output_count; ++i) {
    const output &from = outputs[i];
    const uint32_t element = computes && i > 0 ? 4 : 1;
    if (from.rank != 4 || from.elementsize != element) return INVALID_PARAM;
    Cell cell;
    cell.dims.assign(from.max_sizes, from.max_sizes + from.rank);
    node.outputs.push_back(std::move(cell));
  }
  return Append(id, std::move(node));
}

EXPORT int hexagon_hta_nn_prepare(int32_t id) {
  Graph *graph = GraphOf(id);
  if (graph == nullptr) return INVALID_ID;
  if (Fails("compile")) return COMPILATION_FAILURE;
  if (graph->prepared || graph->nodes.empty() ||
      graph->nodes.back().op != OUTPUT) {
    return INVALID_STATE;
  }
  graph->prepared = true;
  ++g_counts.compiled;
  return OK;
}

EXPORT int hexagon_hta_nn_teardown(int32_t id) {
  return g_graphs.erase(id) == 1 ? OK : INVALID_ID;
}

EXPORT int hexagon_hta_nn_serialize_size(int32_t id, uint32_t *size) {
  const Graph *graph = GraphOf(id);
  if (graph == nullptr) return INVALID_ID;
  if (!graph->prepared) return NOT_PREPARED;
  *size = static_cast<uint32_t>(Serialized(*graph).size());
  return OK;
}

EXPORT int hexagon_hta_nn_serialize(int32_t id, void *buffer, uint32_t size) {
  const Graph *graph = GraphOf(id);
  if (graph == nullptr) return INVALID_ID;
  const std::string bytes = Serialized(*graph);
  if (bytes.size() != size) return INVALID_PARAM;
  std::memcpy(buffer, bytes.data(), size);
  return OK;
}

EXPORT int hexagon_hta_nn_deserialize(void *buffer,
                                      uint32_t size,
                                      int32_t *graph) {
  Reader reader(buffer, size);
  if (Fails("restore") || !reader.ok()) return INCORRECT_VERSION;
  *graph = AddGraph(Deserialized(&reader));
  ++g_counts.restored;
  return OK;
}

#ifndef MACE_STAND_IN_WITHOUT_COMPUTE
EXPORT int hexagon_hta_nn_execute_new(int32_t id,
                                      const hexagon_hta_nn_tensordef *inputs,
                                      uint32_t input_count,
                                      hexagon_hta_nn_tensordef *outputs,
                                      uint32_t output_count) {
  if (Fails("execute")) return FAILURE;
  const Graph *graph = GraphOf(id);
  if (graph == nullptr) return INVALID_ID;
  if (!graph->prepared) return NOT_PREPARED;
  ++g_counts.executed;
  const Node &first = graph->nodes.front();
  const Node &last = graph->nodes.back();
  if (first.op != INPUT || input_count != first.outputs.size() ||
      output_count != last.inputs.size()) {
    return INVALID_PARAM;
  }
  const auto fits = [](const hexagon_hta_nn_tensordef &tensor,
                       const Cell &cell) {
    const std::vector<int64_t> dims = {tensor.batches, tensor.height,
                                       tensor.width, tensor.depth};
    return dims == cell.dims && tensor.data != nullptr &&
           tensor.dataLen == Elements(dims);
  };
  Evaluation evaluation(*graph);
  for (uint32_t i = 0; i < input_count; ++i) {
    if (!fits(inputs[i], first.outputs[i])) return INVALID_PARAM;
    evaluation.SetInput(first.id, i, inputs[i].data);
  }
  for (const Node &node : graph->nodes) {
    if (!evaluation.Run(node)) return FAILURE;
  }
  for (uint32_t i = 0; i < output_count; ++i) {
    const Cell &cell = evaluation.At(last.inputs[i]);
    if (!fits(outputs[i], cell)) return INVALID_PARAM;
    std::memcpy(outputs[i].data, cell.bytes.data(), cell.bytes.size());
    outputs[i].data_valid_len = static_cast<uint32_t>(cell.bytes.size());
  }
  return OK;
}
#endif

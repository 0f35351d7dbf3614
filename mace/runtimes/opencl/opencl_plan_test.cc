// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/opencl_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/model/model_check.h"
#include "mace/core/model/model_reader.h"
#include "mace/core/testing/model_builder.h"
#include "mace/core/testing/no_host.h"

namespace mace {
namespace {

using core_test::Dims;
using core_test::IntAttribute;
using core_test::IntsAttribute;
using core_test::ModelBuilder;
using core_test::StringAttribute;

struct Settings {
  bool images = true;
  bool half = true;
  bool ptx_mma = false;
  // Per operator: the segment; -1 for one of another device. All are in
  // segment 0 if there are none.
  std::vector<int> segments;
};

// A model, and its plan for a GPU.
class Planned {
 public:
  Planned(const ModelBuilder &builder, const Settings &settings) {
    const MaceStatus status = Make(builder, settings);
    made_ = IsOk(status);
    EXPECT_TRUE(made_) << status.information();
  }

  bool made() const { return made_; }
  const OpenclPlan &plan() const { return plan_; }
  const PartitionSpec &spec() const { return spec_; }
  const Graph &graph() const { return *graph_; }
  int IndexOf(const std::string &name) const {
    for (size_t i = 0; i < graph_->tensors().size(); ++i) {
      if (graph_->tensors()[i].tensor.name == name) return plan_.tensor_of[i];
    }
    ADD_FAILURE() << "no tensor " << name;
    return 0;
  }
  GpuStorage StorageOf(const std::string &name) const {
    return plan_.tensors[IndexOf(name)].storage;
  }
  bool Same(const std::string &a, const std::string &b) const {
    return plan_.RootIndex(IndexOf(a)) == plan_.RootIndex(IndexOf(b));
  }
  int64_t ElementsOf(int tensor) const {
    return plan_.tensors[tensor].dims.pixels() * plan_.tensors[tensor].dims.c;
  }

 private:
  MaceStatus Make(const ModelBuilder &builder, const Settings &settings) {
    const std::string file = builder.graph();
    MACE_ASSIGN_OR_RETURN(model_, ReadModel(file.data(), file.size()));
    MACE_RETURN_IF_ERROR(CheckModelStructure(model_, 0));
    MACE_RETURN_IF_ERROR(CheckOperators(model_));
    std::vector<std::string> outputs;
    for (const ValueInfo &info : model_.outputs) outputs.push_back(info.name);
    MACE_ASSIGN_OR_RETURN(graph_,
                          Graph::Create(model_, nullptr, outputs, &host_));
    std::vector<Shape> inputs;
    for (int id : graph_->inputs()) {
      inputs.push_back(model_.inputs[graph_->tensors()[id].input_index].shape);
    }
    MACE_ASSIGN_OR_RETURN(shapes_, InferShapes(*graph_, inputs, &host_));
    MakeSpec(settings.segments);
    device_.image_width = device_.image_height = 4096;
    OpenclPlanOptions options;
    options.device = &device_;
    options.traits.images = settings.images;
    options.traits.half_storage = settings.half;
    options.traits.ptx_mma = settings.ptx_mma;
    options.traits.local_bytes = 32768;
    options.traits.max_work_group = 256;
    for (size_t &items : device_.max_items) items = 256;
    std::set<int> at_border;
    for (const auto *ports : {&spec_.imports, &spec_.exports}) {
      for (const PartitionSpec::Border &port : *ports) {
        at_border.insert(port.tensor);
      }
    }
    std::vector<BorderStorage> border;
    for (int tensor : at_border) {
      border.push_back({tensor, GpuStorage::kDenseFloat});
    }
    MACE_ASSIGN_OR_RETURN(
        plan_, PlanOpencl(*graph_, spec_, *shapes_, options, border));
    return MaceStatus();
  }

  void MakeSpec(std::vector<int> segments) {
    const size_t count = graph_->nodes().size();
    segments.resize(count, 0);
    // Per tensor: the segment that computes it, or -1.
    std::vector<int> made_by(graph_->tensors().size(), -1);
    std::set<int> imported;
    std::set<int> exported;
    int last = 0;
    for (size_t i = 0; i < count; ++i) {
      const GraphNode &node = graph_->nodes()[i];
      const int segment = segments[i];
      last = std::max(last, segment);
      spec_.segments.resize(static_cast<size_t>(last) + 1);
      if (segment >= 0) spec_.segments[segment].push_back(static_cast<int>(i));
      for (int id : node.inputs) {
        if (segment >= 0 && made_by[id] < 0 && imported.insert(id).second) {
          spec_.imports.push_back({id, static_cast<size_t>(segment)});
        }
        if (segment < 0 && made_by[id] >= 0) exported.insert(id);
      }
      for (int id : node.outputs) made_by[id] = segment;
    }
    for (int id : graph_->outputs()) {
      if (made_by[id] >= 0) exported.insert(id);
    }
    for (int id : exported) {
      spec_.exports.push_back({id, spec_.segments.size()});
    }
  }

  core_test::NoHost host_;
  Model model_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<GraphShapes> shapes_;
  PartitionSpec spec_;
  GpuDevice device_;
  OpenclPlan plan_;
  bool made_ = false;
};

// Runs a plan without computing: notes which tensor's contents are in which
// memory, and fails where a tensor that is read was overwritten.
class Simulation {
 public:
  explicit Simulation(const Planned &planned)
      : planned_(planned),
        plan_(planned.plan()),
        holds_(plan_.tensors.size(), false) {}

  void Run() {
    CheckRoom();
    const PartitionSpec &spec = planned_.spec();
    for (size_t segment = 0; segment < spec.segments.size(); ++segment) {
      for (const PartitionSpec::Border &port : spec.imports) {
        if (port.segment == segment) Write(plan_.tensor_of[port.tensor]);
      }
      for (size_t i = plan_.begin[segment]; i < plan_.begin[segment + 1]; ++i) {
        RunLaunch(i);
      }
      for (const PartitionSpec::Border &port : spec.exports) {
        const int tensor = plan_.tensor_of[port.tensor];
        if (plan_.tensors[tensor].segment == segment) {
          Read(tensor, "copied to the host");
        }
      }
    }
  }

 private:
  void RunLaunch(size_t index) {
    const PlannedLaunch &planned = plan_.launches[index];
    const auto &arguments = planned.launch.arguments();
    std::vector<int> written;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (planned.tensors[i] < 0) continue;
      if (arguments[i].kind == LaunchArgument::Kind::kInput) {
        Read(planned.tensors[i], planned.launch.kernel());
      }
      if (arguments[i].kind == LaunchArgument::Kind::kOutput) {
        written.push_back(WrittenAs(planned.tensors[i]));
      }
    }
    for (int tensor : written) {
      // A tensor is written by the launches of one operator.
      const bool more = holds_[tensor] && index > 0 &&
                        plan_.launches[index - 1].nodes == planned.nodes;
      Write(tensor);
      EXPECT_TRUE(!more || holds_[tensor]);
    }
    // Nothing that a launch reads or writes shares memory with what it writes.
    for (int tensor : written) Read(tensor, "another output of the launch");
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (planned.tensors[i] < 0) continue;
      if (arguments[i].kind != LaunchArgument::Kind::kInput) continue;
      Read(planned.tensors[i], "an output of the launch that reads it");
    }
  }

  // Pixels and channels of the memory of a root.
  struct Region {
    int64_t pixel, end_pixel, channel, end_channel;
    int64_t Elements() const {
      return std::max<int64_t>(0, end_pixel - pixel) *
             std::max<int64_t>(0, end_channel - channel);
    }
    Region Common(const Region &other) const {
      return {std::max(pixel, other.pixel),
              std::min(end_pixel, other.end_pixel),
              std::max(channel, other.channel),
              std::min(end_channel, other.end_channel)};
    }
  };
  // Of an alias that is no part, that of the root.
  Region RegionOf(int tensor) const {
    const GpuTensor &entry = plan_.tensors[WrittenAs(tensor)];
    return {entry.first_pixel, entry.first_pixel + entry.dims.pixels(),
            entry.first_channel, entry.first_channel + entry.dims.c};
  }
  int WrittenAs(int tensor) const {
    return plan_.tensors[tensor].joined_channels != 0 ? tensor
                                                      : plan_.RootIndex(tensor);
  }

  // What it reads was written, as a whole or in parts.
  void Read(int tensor, const char *by) const {
    const Region region = RegionOf(tensor);
    int64_t found = 0;
    for (size_t i = 0; i < holds_.size(); ++i) {
      const auto other = static_cast<int>(i);
      if (!holds_[i] || plan_.RootIndex(other) != plan_.RootIndex(tensor)) {
        continue;
      }
      found += RegionOf(other).Common(region).Elements();
    }
    EXPECT_EQ(found, region.Elements())
        << "tensor " << tensor << " was overwritten before it was read: " << by;
  }

  void Write(int tensor) {
    tensor = WrittenAs(tensor);
    const int root = plan_.RootIndex(tensor);
    for (size_t i = 0; i < holds_.size(); ++i) {
      const auto other = static_cast<int>(i);
      const int other_root = plan_.RootIndex(other);
      if (!holds_[i] || !Share(root, other_root)) continue;
      if (other_root != root ||
          RegionOf(other).Common(RegionOf(tensor)).Elements() > 0) {
        holds_[i] = false;
      }
    }
    holds_[tensor] = true;
  }

  bool Share(int a, int b) const {
    if (plan_.image_of[a] >= 0) return plan_.image_of[a] == plan_.image_of[b];
    const int i = plan_.request_of[a];
    const int j = plan_.request_of[b];
    if (i < 0 || j < 0) return false;
    const size_t begin_a = plan_.memory.offsets[i];
    const size_t begin_b = plan_.memory.offsets[j];
    return begin_a < begin_b + plan_.requests[j].bytes &&
           begin_b < begin_a + plan_.requests[i].bytes;
  }

  // Every tensor that a launch uses has memory in which it fits; aliases have
  // the storage of their root.
  void CheckRoom() const {
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      const GpuTensor &tensor = plan_.tensors[i];
      const auto index = static_cast<int>(i);
      const int root = plan_.RootIndex(index);
      const GpuTensor &owner = plan_.tensors[root];
      EXPECT_LT(owner.alias_of, 0);
      EXPECT_EQ(tensor.storage, owner.storage);
      if (tensor.joined_channels != 0) {
        CheckPart(tensor, owner);
      } else {
        EXPECT_EQ(planned_.ElementsOf(index), planned_.ElementsOf(root));
      }
      if (owner.first < 0) continue;
      if (IsImage(tensor.storage)) {
        ASSERT_GE(plan_.image_of[root], 0);
        const ImageSlot &image = plan_.images[plan_.image_of[root]];
        EXPECT_EQ(image.element, StorageElement(tensor.storage));
        EXPECT_GE(image.width, tensor.Width());
        EXPECT_GE(image.height, tensor.Height());
        if (tensor.joined_channels != 0) continue;
        EXPECT_EQ(tensor.Width(), owner.Width());
        EXPECT_EQ(tensor.Height(), owner.Height());
        continue;
      }
      ASSERT_GE(plan_.request_of[root], 0);
      const int request = plan_.request_of[root];
      EXPECT_EQ(plan_.memory.offsets[request] % 64, 0u);
      EXPECT_LE(tensor.Bytes(), plan_.requests[request].bytes);
      EXPECT_LE(plan_.memory.offsets[request] + plan_.requests[request].bytes,
                plan_.memory.arena_bytes);
    }
  }

  static void CheckPart(const GpuTensor &part, const GpuTensor &whole) {
    EXPECT_LE(part.first_pixel + part.dims.pixels(), whole.dims.pixels());
    EXPECT_LE(part.first_channel + part.dims.c, whole.dims.c);
    EXPECT_EQ(part.joined_channels, whole.dims.c);
    if (!IsDense(part.storage)) {
      EXPECT_EQ(part.first_channel % 4, 0);
      const bool last = part.first_channel + part.dims.c == whole.dims.c;
      EXPECT_TRUE(part.dims.c % 4 == 0 || last);
    }
    if (!IsImage(part.storage)) return;
    EXPECT_EQ(part.dims.w, whole.dims.w);
    EXPECT_EQ(part.first_pixel % whole.dims.w, 0);
  }

  const Planned &planned_;
  const OpenclPlan &plan_;
  // Per tensor that is written, a root or a part: its memory has its contents.
  std::vector<bool> holds_;
};

// The kernels of a plan, in order.
std::vector<std::string> KernelsOf(const Planned &planned) {
  std::vector<std::string> kernels;
  for (const PlannedLaunch &launch : planned.plan().launches) {
    kernels.emplace_back(launch.launch.kernel());
  }
  return kernels;
}

using Names = std::vector<std::string>;

void Relu(ModelBuilder *model, const std::string &from, const std::string &to) {
  model->Operator("op of " + to, "Activation", {from}, {to},
                  {StringAttribute("activation", "RELU")});
}

void Reshape(ModelBuilder *model,
             const std::string &from,
             const std::string &to,
             const Dims &shape) {
  model->Operator("op of " + to, "Reshape", {from}, {to},
                  {IntsAttribute("shape", shape)});
}

TEST(OpenclPlanTest, ImagesAreUsedAgain) {
  ModelBuilder model;
  model.Input("x", {1, 8, 8, 8}).Output("e");
  Relu(&model, "x", "a");
  Relu(&model, "a", "b");
  Relu(&model, "b", "c");
  Relu(&model, "c", "d");
  Relu(&model, "d", "e");
  const Planned planned(model, Settings());
  ASSERT_TRUE(planned.made());
  EXPECT_EQ(planned.plan().images.size(), 2u);
  EXPECT_EQ(planned.StorageOf("x"), GpuStorage::kDenseFloat);
  EXPECT_EQ(planned.StorageOf("b"), GpuStorage::kImageHalf);
  EXPECT_EQ(planned.StorageOf("e"), GpuStorage::kDenseFloat);
  Simulation(planned).Run();
}

TEST(OpenclPlanTest, ReshapedTensorsAreTheSameMemory) {
  struct Case {
    Dims from;
    Dims to;
    bool images;
    GpuStorage storage;
  };
  const Case cases[] = {
      // As many channels, or whole blocks of them: padded buffers agree.
      {{1, 4, 6, 5}, {1, 1, 24, 5}, true, GpuStorage::kBufferHalf},
      {{1, 4, 6, 8}, {1, 48, 4}, true, GpuStorage::kBufferHalf},
      {{1, 4, 6, 8}, {1, 48, 4}, false, GpuStorage::kBufferHalf},
      {{1, 4, 6, 5}, {1, 40, 3}, true, GpuStorage::kDenseHalf},
      {{1, 4, 6, 5}, {1, 40, 3}, false, GpuStorage::kDenseHalf},
      // The images are equal.
      {{60, 5}, {60, 1, 1, 5}, true, GpuStorage::kImageHalf},
      // A few vectors are not rounded.
      {{4, 5}, {4, 1, 1, 5}, true, GpuStorage::kImageFloat},
  };
  for (const Case &c : cases) {
    ModelBuilder model;
    model.Input("x", c.from).Output("y");
    Relu(&model, "x", "a");
    Reshape(&model, "a", "b", c.to);
    Relu(&model, "b", "y");
    Settings settings;
    settings.images = c.images;
    const Planned planned(model, settings);
    ASSERT_TRUE(planned.made());
    EXPECT_EQ(KernelsOf(planned), (Names{"activation", "activation"}));
    EXPECT_TRUE(planned.Same("a", "b"));
    EXPECT_EQ(StorageText(planned.StorageOf("b")), StorageText(c.storage));
    Simulation(planned).Run();
  }
}

TEST(OpenclPlanTest, WhatIsReadAsAnImageStaysOne) {
  ModelBuilder model;
  model.Input("x", {1, 4, 6, 8}).Output("y").Output("z");
  Relu(&model, "x", "a");
  Relu(&model, "a", "y");
  Reshape(&model, "a", "b", {1, 48, 4});
  Relu(&model, "b", "z");
  const Planned planned(model, Settings());
  ASSERT_TRUE(planned.made());
  EXPECT_EQ(KernelsOf(planned),
            (Names{"activation", "activation", "move", "activation"}));
  EXPECT_EQ(planned.StorageOf("a"), GpuStorage::kImageHalf);
  EXPECT_EQ(planned.StorageOf("b"), GpuStorage::kImageHalf);
  Simulation(planned).Run();
}

TEST(OpenclPlanTest, OutputsAndInputsAreTheSameMemory) {
  ModelBuilder model;
  model.Input("x", {1, 4, 6, 8}).Output("y").Output("z");
  Reshape(&model, "x", "a", {1, 24, 8});  // of what the host wrote
  Relu(&model, "a", "b");
  Reshape(&model, "b", "c", {1, 4, 48});
  Reshape(&model, "c", "y", {192});  // what the host reads
  Relu(&model, "y", "z");
  const Planned planned(model, Settings());
  ASSERT_TRUE(planned.made());
  EXPECT_EQ(KernelsOf(planned), (Names{"activation", "activation"}));
  EXPECT_TRUE(planned.Same("x", "a"));
  EXPECT_TRUE(planned.Same("b", "y"));
  EXPECT_EQ(planned.StorageOf("b"), GpuStorage::kDenseFloat);
  Simulation(planned).Run();
}

TEST(OpenclPlanTest, TwoOutputsAreTheSameMemory) {
  ModelBuilder model;
  model.Input("x", {1, 4, 6, 8}).Output("y").Output("z");
  Relu(&model, "x", "y");
  Reshape(&model, "y", "z", {192});
  const Planned planned(model, Settings());
  ASSERT_TRUE(planned.made());
  EXPECT_EQ(KernelsOf(planned), Names{"activation"});
  EXPECT_TRUE(planned.Same("y", "z"));
  Simulation(planned).Run();
}

TEST(OpenclPlanTest, TensorsStayUntilALaterSegment) {
  ModelBuilder model;
  model.Input("x", {1, 8, 8, 8}).Output("y");
  Relu(&model, "x", "a");
  Relu(&model, "a", "b");  // read again in the last segment
  Relu(&model, "b", "c");  // by another device
  Relu(&model, "c", "d");
  Relu(&model, "d", "e");
  model.Operator("join", "Concat", {"e", "b"}, {"y"},
                 {IntAttribute("axis", 3)});
  for (const bool images : {false, true}) {
    Settings settings;
    settings.images = images;
    settings.segments = {0, 0, -1, 1, 1, 1};
    const Planned planned(model, settings);
    ASSERT_TRUE(planned.made());
    EXPECT_EQ(planned.plan().begin, (std::vector<size_t>{0, 2, 5}));
    Simulation(planned).Run();
  }
}

void Concat(ModelBuilder *model,
            const Names &from,
            const std::string &to,
            int64_t axis) {
  model->Operator("op of " + to, "Concat", from, {to},
                  {IntAttribute("axis", axis)});
}

// As a fire module of SqueezeNet.
TEST(OpenclPlanTest, WhatIsJoinedIsWrittenThere) {
  ModelBuilder model;
  model.Input("x", {1, 4, 6, 8}).Output("z");
  Relu(&model, "x", "a");
  Relu(&model, "x", "b");
  Concat(&model, {"a", "b"}, "y", 3);
  Relu(&model, "y", "z");
  for (const bool images : {false, true}) {
    Settings settings;
    settings.images = images;
    const Planned planned(model, settings);
    ASSERT_TRUE(planned.made());
    EXPECT_EQ(KernelsOf(planned),
              (Names{"activation", "activation", "activation"}));
    EXPECT_TRUE(planned.Same("a", "y"));
    EXPECT_TRUE(planned.Same("b", "y"));
    const GpuTensor &b = planned.plan().tensors[planned.IndexOf("b")];
    EXPECT_EQ(b.Place().x, images ? 2 * 6 : 2);
    EXPECT_EQ(b.Place().y, images ? 0 : 4);
    if (!images) {
      const int part = planned.plan().request_of[planned.IndexOf("b")];
      const int whole = planned.plan().request_of[planned.IndexOf("y")];
      ASSERT_GE(part, 0);
      EXPECT_EQ(
          planned.plan().memory.offsets[part],
          planned.plan().memory.offsets[whole] + 2 * 4 * sizeof(uint16_t));
    }
    Simulation(planned).Run();
  }
}

// As a block of DenseNet: everything is written where the last one is.
TEST(OpenclPlanTest, WhatIsJoinedTwiceIsAPartOfThePart) {
  ModelBuilder model;
  model.Input("x", {1, 4, 6, 8}).Output("y");
  Relu(&model, "x", "a");
  Relu(&model, "a", "b");
  Concat(&model, {"a", "b"}, "ab", 3);
  Relu(&model, "ab", "c");
  Concat(&model, {"ab", "c"}, "abc", 3);
  Relu(&model, "abc", "y");
  for (const bool images : {false, true}) {
    Settings settings;
    settings.images = images;
    const Planned planned(model, settings);
    ASSERT_TRUE(planned.made());
    // b is computed from a, which can't be the same image.
    EXPECT_EQ(planned.Same("a", "b"), !images);
    EXPECT_EQ(planned.Same("ab", "abc"), !images);
    Simulation(planned).Run();
  }
}

TEST(OpenclPlanTest, WhatCannotBeWrittenThereIsCopied) {
  struct Case {
    const char *text;
    Names inputs;
    int64_t axis;
    bool in_place;
  };
  // x is an input and y an output of the model, o has 5 channels.
  const Case cases[] = {
      {"rows of one image", {"a", "b"}, 1, true},
      {"columns", {"a", "b"}, 2, false},
      {"an input of the model", {"a", "x"}, 3, false},
      {"an output of the model", {"a", "out"}, 3, false},
      {"one tensor twice", {"a", "a"}, 3, false},
      {"a block that is not whole", {"o", "a"}, 3, false},
      {"a last block that is not whole", {"a", "o"}, 3, true},
  };
  for (const Case &c : cases) {
    for (const bool images : {false, true}) {
      SCOPED_TRACE(MakeString(c.text, images ? ", images" : ""));
      ModelBuilder model;
      model.Input("x", {1, 4, 6, 8}).Input("x5", {1, 4, 6, 5});
      model.Output("out").Output("z");
      Relu(&model, "x", "a");
      Relu(&model, "x", "b");
      Relu(&model, "x5", "o");
      Relu(&model, "a", "out");
      Relu(&model, "b", "b2");
      Relu(&model, "o", "o2");
      Concat(&model, c.inputs, "joined", c.axis);
      Relu(&model, "joined", "z");
      Settings settings;
      settings.images = images;
      const Planned planned(model, settings);
      ASSERT_TRUE(planned.made());
      const Names kernels = KernelsOf(planned);
      const bool joins =
          std::find(kernels.begin(), kernels.end(), "join") != kernels.end();
      EXPECT_NE(joins, c.in_place);
      Simulation(planned).Run();
    }
  }
}

// The caller's output is dense: its parts begin at any channel.
TEST(OpenclPlanTest, WhatIsJoinedForTheCallerIsWrittenThere) {
  ModelBuilder model;
  model.Input("x", {1, 4, 6, 5}).Output("y");
  Relu(&model, "x", "a");
  Relu(&model, "x", "b");
  Concat(&model, {"a", "b"}, "y", 3);
  for (const bool images : {false, true}) {
    Settings settings;
    settings.images = images;
    const Planned planned(model, settings);
    ASSERT_TRUE(planned.made());
    EXPECT_EQ(KernelsOf(planned), (Names{"activation", "activation"}));
    EXPECT_EQ(planned.StorageOf("b"), GpuStorage::kDenseFloat);
    EXPECT_EQ(planned.plan().tensors[planned.IndexOf("b")].Place().x, 5);
    Simulation(planned).Run();
  }
}

// Kernels for matrix units load 8 channels at once, at multiples of 16 bytes.
TEST(OpenclPlanTest, PartsThatMatrixUnitsReadBeginAtEightChannels) {
  struct Case {
    int64_t first;   // channels of a
    int64_t second;  // of b, which another operator reads too
    bool in_place;
  };
  const Case cases[] = {{8, 8, true}, {4, 8, false}, {8, 4, false}};
  for (const Case &c : cases) {
    for (const bool ptx_mma : {false, true}) {
      SCOPED_TRACE(MakeString(c.first, " + ", c.second, ", ", ptx_mma));
      ModelBuilder model;
      model.Input("x", {1, 4, 6, c.first}).Input("x2", {1, 4, 6, c.second});
      model.Output("y").Output("z");
      Relu(&model, "x", "a");
      Relu(&model, "x2", "b");
      Relu(&model, "b", "y");
      Concat(&model, {"a", "b"}, "ab", 3);
      Relu(&model, "ab", "z");
      Settings settings;
      settings.images = false;
      settings.ptx_mma = ptx_mma;
      const Planned planned(model, settings);
      ASSERT_TRUE(planned.made());
      EXPECT_EQ(planned.Same("b", "ab"), !ptx_mma || c.in_place);
      Simulation(planned).Run();
    }
  }
}

// A model of operators with random inputs, of which some are on another device.
class RandomModel {
 public:
  explicit RandomModel(uint32_t seed) : random_(seed) {
    shapes_ = {{1, 4, 6, 8}, {1, 3, 5, 12}};
    names_ = {"t0", "t1"};
    model_.Input("t0", shapes_[0]).Input("t1", shapes_[1]);
    const size_t operators = 3 + Below(20);
    for (size_t i = 0; i < operators; ++i) {
      Add();
      Place(Below(12) == 0);
    }
    // Every tensor that nobody reads is an output.
    for (const std::string &name : names_) {
      if (read_.count(name) == 0 || Below(8) == 0) {
        if (name != "t0" && name != "t1") model_.Output(name);
      }
    }
  }
  const ModelBuilder &model() const { return model_; }
  // The graph has the operators in the order of the file.
  const std::vector<int> &segments() const { return segments_; }

 private:
  size_t Below(size_t n) { return random_() % n; }
  // The operator that was added last.
  void Place(bool elsewhere) {
    if (!elsewhere && !segments_.empty() && segments_.back() < 0) ++segment_;
    segments_.push_back(elsewhere ? -1 : segment_);
  }
  std::string New(const Dims &shape) {
    names_.push_back("t" + std::to_string(names_.size()));
    shapes_.push_back(shape);
    return names_.back();
  }
  void Add() {
    // Rather one of the last: the lives of most tensors are short.
    const size_t count = names_.size();
    const size_t from = Below(3) == 0
                            ? Below(count)
                            : count - 1 - Below(std::min<size_t>(count, 3));
    const std::string x = names_[from];
    const Dims dims = shapes_[from];
    read_.insert(x);
    int64_t elements = 1;
    for (int64_t d : dims) elements *= d;
    switch (Below(5)) {
      case 0:
        return Relu(&model_, x, New(dims));
      case 1: {
        const int64_t choices[] = {1, 2, 3, 4, 6, 8, 12};
        const int64_t c = choices[Below(7)];
        const Dims to =
            elements % c == 0 ? Dims{1, elements / c, c} : Dims{elements};
        return Reshape(&model_, x, New(to), to);
      }
      case 2: {
        const auto axis = static_cast<int64_t>(Below(dims.size()));
        if (elements > 100000) return Relu(&model_, x, New(dims));
        // With itself, or with others, of which some are made for it.
        Names all = {x};
        if (Below(4) != 0) {
          all.clear();
          for (size_t i = 0; i < 2 + Below(2); ++i) {
            const std::string made = New(dims);
            Relu(&model_, x, made);
            Place(false);
            read_.insert(made);
            all.push_back(made);
          }
        }
        if (Below(3) == 0) all.push_back(x);
        Dims to = dims;
        to[axis] *= static_cast<int64_t>(all.size());
        model_.Operator("op" + std::to_string(names_.size()), "Concat", all,
                        {New(to)}, {IntAttribute("axis", axis)});
        return;
      }
      case 3: {
        Dims perm;
        Dims to;
        for (size_t i = 0; i < dims.size(); ++i) {
          perm.push_back(static_cast<int64_t>((i + 1) % dims.size()));
          to.push_back(dims[perm.back()]);
        }
        model_.Operator("op" + std::to_string(names_.size()), "Transpose", {x},
                        {New(to)}, {IntsAttribute("perm", perm)});
        return;
      }
      default: {
        Dims rest = dims;
        Dims head = dims;
        head[0] = dims[0] / 2;
        rest[0] = dims[0] - head[0];
        if (head[0] == 0) return Relu(&model_, x, New(dims));
        const std::string op = "op" + std::to_string(names_.size());
        const std::string a = New(head);
        const std::string b = New(rest);
        model_.Operator(op, "Split", {x}, {a, b},
                        {IntAttribute("axis", 0),
                         IntsAttribute("sizes", {head[0], rest[0]})});
        return;
      }
    }
  }

  std::mt19937 random_;
  ModelBuilder model_;
  std::vector<std::string> names_;
  std::vector<Dims> shapes_;
  std::set<std::string> read_;
  std::vector<int> segments_;
  int segment_ = 0;
};

TEST(OpenclPlanTest, RandomModelsKeepWhatIsRead) {
  size_t aliases = 0;
  size_t shared = 0;
  size_t parts = 0;
  size_t parts_in_images = 0;
  size_t parts_of_parts = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const RandomModel random(seed);
    for (const bool images : {false, true}) {
      SCOPED_TRACE(MakeString("seed ", seed, images ? ", images" : ""));
      Settings settings;
      settings.images = images;
      settings.half = seed % 2 == 0;
      settings.segments = random.segments();
      const Planned planned(random.model(), settings);
      ASSERT_TRUE(planned.made());
      ASSERT_EQ(planned.graph().nodes().size(), settings.segments.size());
      Simulation(planned).Run();
      if (HasFailure()) return;
      size_t in_images = 0;
      for (size_t i = 0; i < planned.plan().tensors.size(); ++i) {
        const GpuTensor &tensor = planned.plan().tensors[i];
        if (tensor.alias_of >= 0) ++aliases;
        if (tensor.joined_channels != 0) {
          const bool image = IsImage(tensor.storage);
          ++(image ? parts_in_images : parts);
          // It is joined itself.
          if (tensor.first >= 0 && !image && planned.plan().request_of[i] < 0) {
            ++parts_of_parts;
          }
        }
        if (tensor.alias_of < 0 && IsImage(tensor.storage)) ++in_images;
      }
      shared += in_images - planned.plan().images.size();
    }
  }
  // The models have what is to be tested.
  EXPECT_GT(aliases, 100u);
  EXPECT_GT(shared, 100u);
  EXPECT_GT(parts, 100u);
  EXPECT_GT(parts_in_images, 100u);
  EXPECT_GT(parts_of_parts, 0u);
}

}  // namespace
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/opencl_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/testing/model_builder.h"
#include "mace/runtimes/opencl/plan/plan_testing.h"

namespace mace {
namespace {

using core_test::Dims;
using core_test::IntAttribute;
using core_test::IntsAttribute;
using core_test::ModelBuilder;
using core_test::StringAttribute;
using opencl_test::Conv;
using opencl_test::KernelsOf;
using opencl_test::Names;
using opencl_test::Planned;
using opencl_test::Relu;
using opencl_test::Reshape;
using opencl_test::Settings;
using opencl_test::Simulation;

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

TEST(OpenclPlanTest, BytesAreNormalisedInOneLaunch) {
  for (DataType type : {DataType::kUint8, DataType::kInt8, DataType::kInt32}) {
    ModelBuilder model;
    model.Input("x", {1, 4, 6, 3}, type)
        .Constant("scale", {3}, std::vector<float>{1, 2, 3})
        .Constant("offset", {3}, std::vector<float>{4, 5, 6})
        .Operator("cast", "Cast", {"x"}, {"a"},
                  {core_test::StringAttribute("to", "FLOAT32")})
        .Operator("norm", "BatchNorm", {"a", "scale", "offset"}, {"b"});
    Relu(&model, "b", "y");
    model.Output("y");
    const Planned planned(model, Settings());
    ASSERT_TRUE(planned.made());
    const bool bytes = type != DataType::kInt32;
    EXPECT_EQ(KernelsOf(planned),
              bytes ? (Names{"batch_norm", "activation"})
                    : (Names{"cast", "batch_norm", "activation"}));
    Simulation(planned).Run();
  }
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

TEST(OpenclPlanTest, InputsThatKernelsRoundAreStoredAsHalf) {
  struct Case {
    bool half;
    bool ptx_mma;
    bool other_reader;
    GpuStorage storage;
  };
  const Case cases[] = {{true, true, false, GpuStorage::kDenseHalf},
                        {true, true, true, GpuStorage::kDenseFloat},
                        {true, false, false, GpuStorage::kDenseFloat},
                        {false, true, false, GpuStorage::kDenseFloat}};
  for (const Case &c : cases) {
    SCOPED_TRACE(MakeString(c.half, " ", c.ptx_mma, " ", c.other_reader));
    ModelBuilder model;
    model.Input("x", {1, 4, 6, 8}).Output("y");
    Conv(&model, "x", "a", 8);
    // As a residual, which is added as it is.
    Conv(&model, "a", "b", 8, c.other_reader ? "x" : "a");
    Relu(&model, "b", "y");
    Settings settings;
    settings.images = false;
    settings.half = c.half;
    settings.ptx_mma = c.ptx_mma;
    const Planned planned(model, settings);
    ASSERT_TRUE(planned.made());
    EXPECT_EQ(planned.StorageOf("x"), c.storage);
    const PlannedLaunch &first = planned.plan().launches.front();
    const std::string code = StorageCode(c.storage);
    EXPECT_NE(first.program.options.find(" -D T_input=" + code),
              std::string::npos);
    Simulation(planned).Run();
  }
}

// The options of a model of 1x1 convolutions with these activations.
std::vector<std::string> OptionsOf(const std::vector<std::string> &kinds) {
  ModelBuilder model;
  model.Input("x", {1, 4, 6, 8}).Output("y");
  const std::vector<float> weights(16 * 8);
  const uint64_t offset =
      model.AppendWeights(weights.data(), weights.size() * sizeof(float));
  model.RawConstant("w", {8, 1, 1, 8}, DataType::kFloat32,
                    ConstantLayout::kPackedO16, 1, offset,
                    weights.size() * sizeof(float));
  // Tanh before and after, so that all store alike.
  std::string from = "first";
  model.Operator("op of first", "Activation", {"x"}, {"first"},
                 {StringAttribute("activation", "TANH")});
  for (size_t i = 0; i < kinds.size(); ++i) {
    const std::string to = MakeString("a", i);
    model.Operator("op of " + to, "Conv2D", {from, "w"}, {to},
                   {StringAttribute("activation", kinds[i])});
    from = to;
  }
  model.Operator("op of y", "Activation", {from}, {"y"},
                 {StringAttribute("activation", "TANH")});
  Settings settings;
  settings.images = false;
  const Planned planned(model, settings);
  EXPECT_TRUE(planned.made());
  std::vector<std::string> options;
  for (const PlannedLaunch &launch : planned.plan().launches) {
    if (std::string(launch.launch.kernel()) == "conv2d") {
      options.push_back(launch.program.options);
    }
  }
  return options;
}

bool EndsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

TEST(OpenclPlanTest, KernelsThatDifferInActivationsShareAProgram) {
  const auto one = OptionsOf({"HARD_SWISH", "HARD_SWISH"});
  ASSERT_EQ(one.size(), 2u);
  EXPECT_EQ(one[0], one[1]);
  EXPECT_TRUE(EndsWith(one[0], " -D ACT=HARD_SWISH")) << one[0];
  // RELU and NONE are one.
  const auto linear = OptionsOf({"RELU", "NONE"});
  ASSERT_EQ(linear.size(), 2u);
  EXPECT_EQ(linear[0], linear[1]);
  EXPECT_TRUE(EndsWith(linear[0], " -D ACT=LINEAR")) << linear[0];
  const auto three = OptionsOf({"RELU", "GELU", "SIGMOID"});
  ASSERT_EQ(three.size(), 3u);
  EXPECT_TRUE(EndsWith(three[0], " -D ACT=ANY")) << three[0];
  EXPECT_TRUE(EndsWith(three[1], " -D ACT=GELU")) << three[1];
  EXPECT_EQ(three[0], three[2]);
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
    switch (Below(6)) {
      case 0:
        return Relu(&model_, x, New(dims));
      case 5: {
        std::string residual;
        for (size_t i = count; i-- > 0 && residual.empty();) {
          if (shapes_[i] == dims && Below(2) == 0) residual = names_[i];
        }
        if (dims.size() != 4) return Relu(&model_, x, New(dims));
        if (!residual.empty()) read_.insert(residual);
        return Conv(&model_, x, New(dims), dims[3], residual);
      }
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
  size_t in_place = 0;
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
      for (const PlannedLaunch &launch : planned.plan().launches) {
        if (launch.launch.reads_residual_in_output()) ++in_place;
      }
    }
  }
  // The models have what is to be tested.
  EXPECT_GT(aliases, 100u);
  EXPECT_GT(shared, 100u);
  EXPECT_GT(parts, 100u);
  EXPECT_GT(parts_in_images, 100u);
  EXPECT_GT(parts_of_parts, 0u);
  EXPECT_GT(in_place, 20u);
}

}  // namespace
}  // namespace mace

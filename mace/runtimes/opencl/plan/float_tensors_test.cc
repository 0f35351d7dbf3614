// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/float_tensors.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mace/core/base/logging.h"
#include "mace/runtimes/opencl/plan/plan_testing.h"

namespace mace {
namespace {

using core_test::Dims;
using core_test::IntsAttribute;
using core_test::ModelBuilder;
using core_test::StringAttribute;
using opencl_test::Conv;
using opencl_test::Names;
using opencl_test::Planned;
using opencl_test::Relu;
using opencl_test::Reshape;
using opencl_test::Settings;
using opencl_test::Simulation;

const Dims kShape = {1, 4, 6, 8};

// `to` = mode(from), or mode(from[0], from[1]).
void Math(ModelBuilder *model,
          const std::string &mode,
          const Names &from,
          const std::string &to) {
  model->Operator("op of " + to, "Eltwise", from, {to},
                  {StringAttribute("mode", mode)});
}

void Number(ModelBuilder *model, const std::string &name, float value) {
  model->Constant(name, {1}, std::vector<float>{value});
}

void Sum(ModelBuilder *model, const std::string &from, const std::string &to) {
  model->Operator("op of " + to, "Reduce", {from}, {to},
                  {StringAttribute("mode", "SUM"), IntsAttribute("axes", {3})});
}

// Ordinary numbers, which are no input: the host has these as float.
void Begin(ModelBuilder *model) {
  model->Input("x", kShape);
  Conv(model, "x", "a", 8);
}

// After something else than a move, so that no tensor is the output's memory.
void End(ModelBuilder *model, const std::string &from) {
  model->Operator("op of y", "Activation", {from}, {"y"},
                  {StringAttribute("activation", "TANH")});
  model->Output("y");
}

void ExpectFloats(const ModelBuilder &model,
                  const Names &floats,
                  const Names &halves) {
  for (const bool images : {false, true}) {
    SCOPED_TRACE(images ? "images" : "buffers");
    Settings settings;
    settings.images = images;
    const Planned planned(model, settings);
    ASSERT_TRUE(planned.made());
    const auto element = [&](const std::string &name) {
      return StorageElement(planned.StorageOf(name));
    };
    for (const std::string &name : floats) {
      EXPECT_EQ(element(name), DataType::kFloat32) << name;
    }
    for (const std::string &name : halves) {
      EXPECT_EQ(element(name), DataType::kFloat16) << name;
    }
    Simulation(planned).Run();
  }
}

TEST(FloatTensorsTest, EnergiesAreFloatUntilTheirLogarithm) {
  ModelBuilder model;
  Begin(&model);
  Number(&model, "least", 1e-10f);
  Math(&model, "SQUARE", {"a"}, "squares");
  Sum(&model, "squares", "sums");
  Math(&model, "ADD", {"sums", "least"}, "energies");
  Math(&model, "LOG", {"energies"}, "levels");
  End(&model, "levels");
  ExpectFloats(model, {"squares", "sums", "energies"}, {"a", "levels"});
}

TEST(FloatTensorsTest, LinearMapsPassSquaresOn) {
  ModelBuilder model;
  Begin(&model);
  Math(&model, "MUL", {"a", "a"}, "squares");
  Conv(&model, "squares", "bands", 8);
  model.Operator("op of moved", "Transpose", {"bands"}, {"moved"},
                 {IntsAttribute("perm", {0, 2, 1, 3})});
  Number(&model, "least", 1e-10f);
  Math(&model, "MAX", {"moved", "least"}, "energies");
  Math(&model, "LOG", {"energies"}, "levels");
  End(&model, "levels");
  ExpectFloats(model, {"squares", "bands", "moved", "energies"},
               {"a", "levels"});
}

TEST(FloatTensorsTest, SquaresThatNothingDividesByAreHalf) {
  ModelBuilder model;
  Begin(&model);
  Math(&model, "SQUARE", {"a"}, "squares");
  Sum(&model, "squares", "sums");
  Math(&model, "ADD", {"a", "sums"}, "b");
  End(&model, "b");
  ExpectFloats(model, {}, {"a", "squares", "sums", "b"});
}

// Not a whole network: a logarithm's argument alone, back to the operator that
// computes it.
TEST(FloatTensorsTest, SumsOfOrdinaryNumbersAreNotFollowed) {
  ModelBuilder model;
  Begin(&model);
  Conv(&model, "a", "b", 8);
  Math(&model, "ADD", {"a", "b"}, "c");
  Number(&model, "least", 1e-7f);
  Math(&model, "ADD", {"c", "least"}, "d");
  Math(&model, "SQRT", {"d"}, "e");
  End(&model, "e");
  ExpectFloats(model, {"c", "d"}, {"a", "b", "e"});
}

TEST(FloatTensorsTest, InversesAreFloat) {
  ModelBuilder model;
  Begin(&model);
  Number(&model, "least", 1e-12f);
  Math(&model, "SQUARE", {"a"}, "squares");
  Sum(&model, "squares", "sums");
  Math(&model, "MAX", {"sums", "least"}, "energies");
  Math(&model, "RSQRT", {"energies"}, "inverses");
  Reshape(&model, "inverses", "moved", {1, 4, 6, 1});
  Math(&model, "MUL", {"a", "moved"}, "normal");
  End(&model, "normal");
  ExpectFloats(model, {"squares", "sums", "energies", "inverses", "moved"},
               {"a", "normal"});
}

TEST(FloatTensorsTest, ADivisorIsFloatAndADividendOfSquares) {
  ModelBuilder model;
  Begin(&model);
  Math(&model, "EXP", {"a"}, "powers");
  Sum(&model, "powers", "sums");
  Math(&model, "DIV", {"powers", "sums"}, "shares");
  Conv(&model, "shares", "b", 8);
  Math(&model, "ABS", {"b"}, "sizes");
  Math(&model, "DIV", {"a", "sizes"}, "ratios");
  Number(&model, "two", 2);
  Math(&model, "DIV", {"ratios", "two"}, "c");
  End(&model, "c");
  // "b" is linear in quotients, of which nothing is known.
  ExpectFloats(model, {"powers", "sums", "b", "sizes"},
               {"a", "shares", "ratios", "c"});
}

TEST(FloatTensorsTest, PowersDependOnTheirExponent) {
  struct Case {
    float exponent;
    bool base;
    bool result;
  };
  for (const Case &c : {Case{2, false, false}, Case{0.5f, true, false},
                        Case{-0.5f, true, true}, Case{-2, true, true}}) {
    SCOPED_TRACE(c.exponent);
    ModelBuilder model;
    Begin(&model);
    Number(&model, "exponent", c.exponent);
    Math(&model, "POW", {"a", "exponent"}, "powers");
    End(&model, "powers");
    Names floats;
    Names halves;
    (c.base ? floats : halves).emplace_back("a");
    (c.result ? floats : halves).emplace_back("powers");
    ExpectFloats(model, floats, halves);
  }
}

TEST(FloatTensorsTest, WhatAConstantMakesTooLargeIsFloat) {
  ModelBuilder model;
  Begin(&model);
  Number(&model, "far", -1e9f);
  Number(&model, "near", -1e4f);
  Math(&model, "MUL", {"a", "far"}, "mask");
  Math(&model, "ADD", {"a", "mask"}, "masked");
  Math(&model, "MUL", {"a", "near"}, "b");
  Math(&model, "MIN", {"masked", "b"}, "c");
  Relu(&model, "b", "z");
  model.Output("z");
  Conv(&model, "c", "d", 8);
  Conv(&model, "d", "e", 8, "d");
  End(&model, "e");
  ExpectFloats(model, {"mask", "masked", "c"}, {"a", "b", "d", "e"});
}

TEST(FloatTensorsTest, AModelInFloatHasNoneToKeep) {
  ModelBuilder model;
  Begin(&model);
  Math(&model, "LOG", {"a"}, "b");
  End(&model, "b");
  Settings settings;
  settings.half = false;
  const Planned planned(model, settings);
  ASSERT_TRUE(planned.made());
  EXPECT_FALSE(planned.plan().tensors[planned.IndexOf("a")].kept_in_float);
}

// A kernel that computed in half would round what it reads.
TEST(FloatTensorsTest, KernelsOfSuchTensorsComputeInFloat) {
  ModelBuilder model;
  Begin(&model);
  Math(&model, "SQUARE", {"a"}, "squares");
  Math(&model, "LOG", {"squares"}, "levels");
  End(&model, "levels");
  Settings settings;
  settings.half_arithmetic = true;
  const Planned planned(model, settings);
  ASSERT_TRUE(planned.made());
  std::vector<bool> in_half;
  for (const PlannedLaunch &launch : planned.plan().launches) {
    const std::string &options = launch.program.options;
    in_half.push_back(options.find("REAL_HALF") != std::string::npos);
  }
  EXPECT_EQ(in_half, (std::vector<bool>{true, false, false, true}));
}

// The matrix units would round their input to half.
TEST(FloatTensorsTest, MatrixUnitsReadSuchTensorsAsFloat) {
  ModelBuilder model;
  Begin(&model);
  Math(&model, "SQUARE", {"a"}, "squares");
  Conv(&model, "squares", "bands", 8);
  Math(&model, "LOG", {"bands"}, "levels");
  End(&model, "levels");
  Settings settings;
  settings.images = false;
  settings.ptx_mma = true;
  const Planned planned(model, settings);
  ASSERT_TRUE(planned.made());
  std::vector<bool> rounds;
  for (const PlannedLaunch &launch : planned.plan().launches) {
    if (std::string(launch.launch.kernel()) != "conv_mma") continue;
    rounds.push_back(launch.launch.arguments()[0].rounded);
  }
  EXPECT_EQ(rounds, (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace mace

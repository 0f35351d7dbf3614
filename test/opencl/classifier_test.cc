// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The end of classifiers, which is one launch: the average of an image, the
// product with weights, the softmax.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"
#include "test/opencl/engine_testing.h"
#include "test/opencl/on_test_driver.h"

namespace mace {
namespace {

using core_test::MadeEngine;
using core_test::ModelBuilder;
using op_test::Random;
using test_opencl::On;

struct Classifier {
  int64_t rows;
  int64_t channels;
  int64_t classes;
  bool averages = true;
  bool log = false;
  const char *kernels = "fully_connected";
};

constexpr int64_t kSize = 5;

core_test::Dims InputOf(const Classifier &c) {
  return c.averages ? core_test::Dims{c.rows, kSize, kSize, c.channels}
                    : core_test::Dims{c.rows, c.channels};
}

ModelBuilder Model(const Classifier &c) {
  Random random(7, Random::Quiet());
  ModelBuilder model;
  model.Input("x", InputOf(c));
  test_opencl::AddPacked("w", {c.classes, c.channels}, &random, &model);
  model.Constant("b", {c.classes}, test_opencl::Some(c.classes, &random));
  // A first launch, so that the product is not at the border.
  model.Operator("first", "Activation", {"x"}, {"a"},
                 {core_test::StringAttribute("activation", "TANH")});
  if (c.averages) {
    model.Operator("mean", "Reduce", {"a"}, {"m"},
                   {core_test::StringAttribute("mode", "MEAN"),
                    core_test::IntsAttribute("axes", {1, 2}),
                    core_test::IntAttribute("keep_dims", 0)});
  }
  model
      .Operator("product", "FullyConnected", {c.averages ? "m" : "a", "w", "b"},
                {"p"})
      .Operator("softmax", "Softmax", {"p"}, {"y"},
                {core_test::IntAttribute("log", c.log ? 1 : 0)})
      .Output("y");
  return model;
}

std::vector<std::vector<float>> RunThrice(const Classifier &c,
                                          RuntimeType runtime,
                                          std::string *kernels) {
  std::vector<std::vector<float>> results;
  const MadeEngine made = core_test::Make(Model(c), On({runtime}));
  EXPECT_SUCCESS(made.status);
  if (made.engine == nullptr) return results;
  for (uint32_t run = 0; run < 3; ++run) {
    Random random(run, Random::Quiet());
    const core_test::Dims dims = InputOf(c);
    const Shape shape(dims.data(), dims.size());
    core_test::Tensors outputs = {{"y", core_test::Room(c.rows * c.classes)}};
    EXPECT_SUCCESS(made.engine->Run(
        {{"x", core_test::Floats(dims, random.Floats(shape).floats())}},
        &outputs));
    results.push_back(core_test::Values(outputs["y"]));
  }
  for (const auto &op : made.engine->GetPlacement().operators) {
    if (op.operator_name == "softmax") *kernels = op.kernel;
  }
  return results;
}

class ClassifierTest : public ::testing::TestWithParam<const char *> {
 protected:
  void SetUp() override {
    setenv("MACE_OPENCL_PLACE_ALL", "1", 1);
    setenv("MACE_OPENCL_STORAGE", GetParam(), 1);
  }

  static void ExpectEqualToTheCpu(const Classifier &c) {
    SCOPED_TRACE(testing::Message() << c.rows << " x " << c.channels << " -> "
                                    << c.classes << ", " << c.log);
    std::string kernels;
    const auto wanted = RunThrice(c, RT_CPU, &kernels);
    const auto found = RunThrice(c, RT_OPENCL, &kernels);
    EXPECT_EQ(kernels, c.kernels);
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t run = 0; run < found.size(); ++run) {
      ASSERT_EQ(found[run].size(), wanted[run].size());
      for (size_t i = 0; i < found[run].size(); ++i) {
        ASSERT_NEAR(found[run][i], wanted[run][i], 2e-6) << run << " " << i;
      }
    }
  }
};

TEST_P(ClassifierTest, IsOneLaunch) {
  for (const Classifier &c : {Classifier{1, 130, 1001},
                              {3, 64, 37},
                              {2, 40, 6, true, true},
                              {1, 200, 13, false},
                              {4, 96, 50, false, true}}) {
    ExpectEqualToTheCpu(c);
  }
}

TEST_P(ClassifierTest, IsComputedInParts) {
  setenv("MACE_LIMIT_OPENCL_KERNEL_TIME", "0.000001", 1);
  ExpectEqualToTheCpu({2, 130, 101});
  unsetenv("MACE_LIMIT_OPENCL_KERNEL_TIME");
}

TEST_P(ClassifierTest, ManyRowsAreDividedAmongWorkGroups) {
  const char *two = "softmax_channels";
  ExpectEqualToTheCpu({7, 64, 40, false, false, two});
  ExpectEqualToTheCpu({3, 64, 3000, false, true, two});
}

INSTANTIATE_TEST_SUITE_P(Storage,
                         ClassifierTest,
                         ::testing::Values("buffer", "image"));

const ::testing::Environment *const on_test_driver =
    ::testing::AddGlobalTestEnvironment(new test_opencl::OnTestDriver);

}  // namespace
}  // namespace mace

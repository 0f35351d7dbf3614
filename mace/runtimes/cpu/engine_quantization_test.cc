// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The quantization in the model file is passed to the tensors of the graph, and
// is checked against their types and shapes.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"

namespace mace {
namespace core_test {
namespace {

ModelBuilder Moved(const std::string &input, const std::string &output) {
  ModelBuilder model;
  model.Quantized({input})
      .Input("x", {1, 3}, DataType::kInt32, DataFormat::NONE)
      .Quantized({output})
      .Operator("move", "TestMove", {"x"}, {"y"})
      .Quantized({output})
      .Output("y", DataFormat::NONE);
  return model;
}

TEST(EngineQuantizationTest, TensorsCarryIt) {
  const std::string whole = QuantizationMessage({0.5f}, {3});
  MadeEngine made = Make(Moved(whole, whole));
  ASSERT_OK(made.status);
  EXPECT_NE(made.engine->Explain().find("int32[1, 3] (scale 0.5 zero 3)"),
            std::string::npos)
      << made.engine->Explain();
  const std::string each = QuantizationMessage({0.5f, 1, 2}, {}, 1);
  made = Make(Moved(each, each));
  ASSERT_OK(made.status);
  EXPECT_NE(made.engine->Explain().find("(scales 0.5, 1, 2 of axis 1)"),
            std::string::npos)
      << made.engine->Explain();
}

TEST(EngineQuantizationTest, NothingIsQuantizedByItself) {
  // The quantization of the operator's output comes only from the model.
  MadeEngine made = Make(Moved(QuantizationMessage({0.5f}), ""));
  ASSERT_OK(made.status);
  EXPECT_EQ(made.engine->Explain().find("scale"), std::string::npos)
      << made.engine->Explain();
}

TEST(EngineQuantizationTest, ScalesFitTheShapeThatComesOut) {
  const MadeEngine made =
      Make(Moved(QuantizationMessage({1}), QuantizationMessage({1, 2}, {}, 1)));
  EXPECT_CODE(made.status, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(made.status, "'move' (TestMove)");
  EXPECT_MENTIONS(made.status,
                  "the quantization of output 'y': it has 2 scales for axis 1 "
                  "of [1, 3]");
}

TEST(EngineQuantizationTest, FloatsAreNotQuantized) {
  ModelBuilder model;
  model.Input("x", {1, 3})
      .Quantized({QuantizationMessage({0.5f})})
      .Operator("scale", "TestAffine", {"x"}, {"y"}, {Scale(2)})
      .Quantized({QuantizationMessage({0.5f})})
      .Output("y");
  const MadeEngine made = Make(model);
  EXPECT_CODE(made.status, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(made.status, "the quantization of output 'y': it is float32");
}

}  // namespace
}  // namespace core_test
}  // namespace mace

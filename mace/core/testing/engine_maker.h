// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Creates engines from models, and tensors, for tests of the engine.

#ifndef MACE_CORE_TESTING_ENGINE_MAKER_H_
#define MACE_CORE_TESTING_ENGINE_MAKER_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"

namespace mace {
namespace core_test {

using Tensors = std::map<std::string, MaceTensor>;

struct MadeEngine {
  MaceStatus status;
  std::shared_ptr<MaceEngine> engine;
  std::string graph;
  std::shared_ptr<char> weights;  // at a multiple of 64
};

inline std::shared_ptr<char> AlignedCopy(const std::string &bytes) {
  const size_t size = (bytes.size() + 127) / 64 * 64;
  std::shared_ptr<char> copy(static_cast<char *>(std::aligned_alloc(64, size)),
                             std::free);
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  return copy;
}

struct MakeOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  MaceEngineConfig config;
  MaceEngine *tutor = nullptr;
  bool fake_warmup = false;
};

inline MadeEngine Make(const ModelBuilder &model,
                       const MakeOptions &options = MakeOptions()) {
  MadeEngine made;
  made.graph = model.graph();
  made.weights = AlignedCopy(model.weights());
  made.status = CreateMaceEngineFromProto(
      reinterpret_cast<const unsigned char *>(made.graph.data()),
      made.graph.size(),
      reinterpret_cast<const unsigned char *>(made.weights.get()),
      model.weights().size(), options.inputs, options.outputs, options.config,
      &made.engine, nullptr, options.tutor, options.fake_warmup);
  return made;
}

template <typename T>
MaceTensor TensorOf(const Dims &dims,
                    const std::vector<T> &values,
                    IDataType type,
                    DataFormat format = DataFormat::NHWC) {
  auto data =
      std::shared_ptr<T>(new T[values.size() + 1], std::default_delete<T[]>());
  std::copy(values.begin(), values.end(), data.get());
  return MaceTensor(dims, data, format, type);
}

inline MaceTensor Floats(const Dims &dims,
                         const std::vector<float> &values,
                         DataFormat format = DataFormat::NHWC) {
  return TensorOf(dims, values, IDataType::IDT_FLOAT, format);
}

inline MaceTensor Room(int64_t elements, DataFormat format = DataFormat::NHWC) {
  return Floats({elements}, std::vector<float>(elements, -99), format);
}

inline std::vector<float> Values(const MaceTensor &tensor) {
  int64_t count = 1;
  for (int64_t dim : tensor.shape()) count *= dim;
  return std::vector<float>(tensor.data().get(), tensor.data().get() + count);
}

inline std::vector<float> Ramp(int64_t count, float first = 1) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

#define EXPECT_CODE(status, expected) \
  EXPECT_EQ((status).code(), MaceStatus::expected) << (status).information()
#define ASSERT_OK(status) \
  ASSERT_EQ((status).code(), MaceStatus::MACE_SUCCESS) << (status).information()
#define EXPECT_MENTIONS(status, text)                             \
  EXPECT_NE((status).information().find(text), std::string::npos) \
      << (status).information()

inline std::string Scale(float scale) { return FloatAttribute("scale", scale); }

// y = 2 (x + c) ; z = cumulative(y) ; s = z + y
inline ModelBuilder Diamond() {
  ModelBuilder model;
  model.Input("x", {1, 2, 2, 3})
      .Constant("c", {1, 2, 2, 3}, Ramp(12, 0))
      .Operator("add", "TestAdd", {"x", "c"}, {"t"})
      .Operator("scale", "TestAffine", {"t"}, {"y"}, {Scale(2)})
      .Operator("sum", "TestCumulative", {"y"}, {"z"})
      .Operator("join", "TestAdd", {"z", "y"}, {"s"})
      .Output("s");
  return model;
}

inline std::vector<float> DiamondResult(const std::vector<float> &x) {
  std::vector<float> result;
  float sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const float y = 2 * (x[i] + static_cast<float>(i));
    result.push_back((sum += y) + y);
  }
  return result;
}

}  // namespace core_test
}  // namespace mace

#endif  // MACE_CORE_TESTING_ENGINE_MAKER_H_

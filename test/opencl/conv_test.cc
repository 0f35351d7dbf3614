// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions on emulated GPUs: every tile that a GPU may choose is computed
// once, and Winograd's method where it pays.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/ops/opencl_op/conv_tile.h"
#include "mace/ops/opencl_op/winograd_conv.h"
#include "mace/ops/testing/op_runner.h"
#include "mace/runtimes/opencl/driver/opencl_runtime.h"
#include "test/case_models/case_model.h"
#include "test/opencl/engine_testing.h"
#include "test/opencl/load_test_driver.h"

namespace mace {
namespace {

using op_test::OpCase;
using op_test::OpResult;
using op_test::Random;
using op_test::Value;

struct Layer {
  int64_t size;  // of the image
  int64_t in;
  int64_t out;
  int64_t kernel;
  int64_t groups = 1;

  ConvSize Size() const {
    return {1, size * size, groups, (out / groups + 3) / 4,
            kernel * kernel * ((in / groups + 3) / 4)};
  }
  // The output has the memory of the residual where both are buffers.
  OpCase WithResidual(int winograd) const {
    Random random(2, Random::Quiet());
    return Make(winograd).Input(random.Floats({1, size, size, out}));
  }
  OpCase Make(int winograd) const {
    Random random(1, Random::Quiet());
    return OpCase("Conv2D")
        .Input(random.Floats({1, size, size, in}))
        .Packed(random.Floats({out, kernel, kernel, in / groups}, -0.1f, 0.1f),
                groups)
        .Constant(random.Floats({out}))
        .Int("groups", groups)
        .String("padding", "SAME")
        .String("activation", "RELU")
        .Winograd(winograd);
  }
};

// From the most pixels and channels to the fewest; sizes, channels and blocks
// that no tile divides.
const Layer kLayers[] = {
    {129, 8, 70, 1},    {61, 6, 50, 3},  {23, 17, 22, 1},
    {11, 24, 40, 3, 2}, {7, 200, 70, 3}, {7, 120, 34, 1},
    {3, 300, 20, 1},    {400, 12, 3, 3}, {1, 24, 20480, 1},
};

class ConvOnTestDriver : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string why;
    driver_ = test_opencl::LoadTestDriver(&why);
    ASSERT_NE(driver_, nullptr) << why;
    setenv("MACE_OPENCL_PLACE_ALL", "1", 1);
  }

  // Runs a case on the GPU, and returns the names of the kernels.
  static std::string Run(const OpCase &op_case,
                         const std::string &data_type,
                         double tolerance) {
    const OpResult wanted = op_test::RunOp(op_case);
    OperatorPlacement placement;
    const OpResult result = case_models::RunModel(
        op_case, wanted, RuntimeType::RT_OPENCL, data_type, true, &placement);
    EXPECT_TRUE(IsOk(result.status)) << result.status.information();
    EXPECT_EQ(placement.device, DeviceType::GPU);
    if (!IsOk(result.status)) return "";
    const std::vector<float> x = result.outputs[0].floats();
    const std::vector<float> y = wanted.outputs[0].floats();
    float largest = 0;
    for (float v : y) largest = std::max(largest, std::fabs(v));
    double worst = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      const double error = std::fabs(x[i] - y[i]);
      worst = std::isnan(error) ? 1e9 : std::max(worst, error);
    }
    EXPECT_LE(worst, tolerance * largest);
    return placement.kernel;
  }

  static const MaceTestOpenclControl *driver_;
};

const MaceTestOpenclControl *ConvOnTestDriver::driver_ = nullptr;

constexpr double kFloatError = 2e-6;
// Inputs, weights, bias and outputs are rounded by 2^-11 each.
constexpr double kHalfError = 4e-3;

TEST_F(ConvOnTestDriver, ComputesEveryTile) {
  for (const char *family :
       {"adreno_506", "adreno_630", "mali_t880", "mali_g710", "powervr_ge8320",
        "nvidia_h100", "intel_uhd770", "local_8k", "target"}) {
    SCOPED_TRACE(family);
    driver_->reset();
    ASSERT_NE(driver_->set_family(family), 0);
    auto runtime = OpenclRuntime::Get();
    ASSERT_TRUE(runtime.ok()) << runtime.status().information();
    const GpuTraits &traits = runtime.value()->device().traits;
    const std::vector<ConvTile> tiles = ConvTiles(traits);
    for (size_t i = 0; i < tiles.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "tile " << i);
      const Layer *layer = std::find_if(
          std::begin(kLayers), std::end(kLayers), [&](const Layer &entry) {
            return ChooseConvTile(traits, tiles, entry.Size()) == i;
          });
      EXPECT_NE(layer, std::end(kLayers)) << "no layer chooses this tile";
      if (layer == std::end(kLayers)) continue;
      EXPECT_EQ(Run(layer->WithResidual(0), "fp32_fp32", kFloatError),
                "conv2d");
      // The matrix units of the emulated GPU are not there.
      if (traits.ptx_mma) continue;
      EXPECT_EQ(Run(layer->Make(0), "fp16_fp32", kHalfError), "conv2d");
    }
    EXPECT_EQ(test_opencl::Problems(*driver_), "");
  }
}

TEST_F(ConvOnTestDriver, TakesSmallerTilesForLessWork) {
  GpuTraits gpu;
  gpu.local_bytes = 32768;
  gpu.max_work_group = 1024;
  gpu.images = true;
  for (GpuFamily family : {GpuFamily::kAdreno, GpuFamily::kMali,
                           GpuFamily::kPowerVr, GpuFamily::kNvidia}) {
    gpu.family = family;
    gpu.compute_units = family == GpuFamily::kNvidia ? 132 : 4;
    const std::vector<ConvTile> tiles = ConvTiles(gpu);
    int least = 1000;
    for (int64_t size : {1024, 256, 64, 16, 4, 1}) {
      const ConvSize work = {1, size * size, 1, 64, 64};
      const ConvTile &tile = tiles[ChooseConvTile(gpu, tiles, work)];
      const int share = tile.pixels * tile.blocks * 16 / tile.split;
      EXPECT_LE(share, least) << size;
      least = share;
    }
    EXPECT_LT(least, 128);
  }
}

TEST_F(ConvOnTestDriver, UsesWinogradWhereItPays) {
  driver_->reset();
  ASSERT_NE(driver_->set_family("target"), 0);
  const Layer large = {26, 64, 66, 3};
  const std::string four = "winograd4_input + conv2d + winograd4_output";
  const std::string two = "winograd2_input + conv2d + winograd2_output";
  EXPECT_EQ(Run(large.Make(0), "fp32_fp32", kFloatError), "conv2d");
  EXPECT_EQ(Run(large.Make(2), "fp32_fp32", kFloatError), two);
  EXPECT_EQ(Run(large.Make(4), "fp32_fp32", kFloatError), four);
  EXPECT_EQ(Run(large.WithResidual(2), "fp32_fp32", kFloatError), two);
  EXPECT_EQ(Run(large.WithResidual(4), "fp32_fp32", kFloatError), four);
  EXPECT_EQ(Run(large.Make(2), "fp16_fp32", kHalfError), two);
  EXPECT_EQ(Run(large.Make(4), "fp16_fp32", kHalfError), four);
  // 49 tiles of 2, but 16 of 4.
  const Layer small = {14, 64, 64, 3};
  EXPECT_EQ(Run(small.Make(4), "fp32_fp32", kFloatError), two);
  for (const Layer &layer : {Layer{10, 64, 64, 3}, Layer{26, 32, 64, 3},
                             Layer{26, 64, 64, 5}, Layer{26, 64, 64, 3, 4}}) {
    EXPECT_EQ(Run(layer.Make(4), "fp32_fp32", kFloatError), "conv2d");
  }
  EXPECT_EQ(test_opencl::Problems(*driver_), "");
}

// On an Adreno as an image, on a Mali as a buffer; in both within 2 % of what
// is stored.
TEST_F(ConvOnTestDriver, StoresWeightsOnce) {
  for (const auto &[family, images] :
       {std::pair{"adreno_630", 1u}, {"mali_g710", 0u}}) {
    SCOPED_TRACE(family);
    driver_->reset();
    ASSERT_NE(driver_->set_family(family), 0);
    // Their last row is not full.
    constexpr int64_t kIn = 212;
    constexpr int64_t kOut = 48;
    const std::vector<uint8_t> weights(sizeof(float) * kIn * kOut);
    core_test::ModelBuilder model;
    model.Input("x", {1, 1, 2, kIn}, DataType::kFloat32, DataFormat::NONE);
    const uint64_t offset = model.AppendWeights(weights.data(), weights.size());
    model.RawConstant("weights", {kOut, 1, 1, kIn}, DataType::kFloat32,
                      ConstantLayout::kPackedO16, 1, offset, weights.size());
    model.Operator("conv", "Conv2D", {"x", "weights"}, {"y"});
    model.Output("y", DataFormat::NONE);
    const size_t prepared = test_opencl::PreparedBytes(model);
    EXPECT_GE(prepared, weights.size());
    EXPECT_LE(prepared, weights.size() * 102 / 100);
    // One is to see whether the driver makes images of buffers.
    EXPECT_EQ(driver_->calls("clCreateImage"), images + 1);
  }
  EXPECT_EQ(test_opencl::Problems(*driver_), "");
}

TEST(WinogradOnGpu, KeepsItsScratchInBounds) {
  GpuTraits gpu;
  const auto tile = [&gpu](int64_t size, int64_t channels) {
    const GpuDims dims = {1, size, size, channels};
    return ChooseWinograd(gpu, 4, dims, dims).outputs;
  };
  EXPECT_EQ(tile(224, 64), 4);   // 55 MiB
  EXPECT_EQ(tile(224, 128), 0);  // 110 MiB, and 196 with tiles of 2
  EXPECT_EQ(tile(112, 128), 4);
  gpu.half_storage = true;
  EXPECT_EQ(tile(150, 128), 4);
  gpu.family = GpuFamily::kAdreno;
  EXPECT_EQ(tile(112, 64), 0);
  EXPECT_EQ(tile(112, 128), 4);
  EXPECT_EQ(tile(28, 128), 2);
}

}  // namespace
}  // namespace mace

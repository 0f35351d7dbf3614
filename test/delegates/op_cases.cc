// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Runs the cases of the operators' tests as models of one operator on the
// stand-ins for vendors' libraries: whatever an adapter takes is held to what
// the CPU computes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mace/core/base/precision.h"
#include "mace/core/model/op.h"
#include "mace/core/model/quantization.h"
#include "mace/ops/testing/op_runner.h"
#include "mace/public/mace.h"
#include "test/case_models/case_model.h"

namespace mace {
namespace {

using op_test::CaseInput;
using op_test::OpCase;
using op_test::OpResult;
using op_test::Value;

struct Vendor {
  const char *name;
  RuntimeType runtime;
  const char *variable;
  const char *library;
  // Of an operator's weights.
  bool has_one_scale;
  // Operators that it has to take at least one case of.
  std::set<std::string> takes;
  std::map<std::string, int> taken = {};
  // By operator and reason.
  std::map<std::string, int> refused = {};
};

const std::set<std::string> kAll = {
    "Activation", "Concat",         "Conv2D",  "DepthwiseConv2d",
    "Eltwise",    "FullyConnected", "Pooling", "Reduce",
    "Reshape",    "Resize",         "Softmax"};

Vendor g_vendors[] = {
    {"NeuroPilot", RT_APU, "MACE_NEURON_LIBRARY", "libneuron_stand_in.so",
     false, kAll},
    {"QNN", RT_HTP, "MACE_QNN_LIBRARY", "libqnn_stand_in.so", false, kAll},
    {"HTA",
     RT_HTA,
     "MACE_HTA_LIBRARY",
     "libhta_stand_in.so",
     true,
     {"Conv2D", "DepthwiseConv2d", "Eltwise", "FullyConnected", "Pooling",
      "Reduce", "Resize", "Softmax"}},
};

// The stand-ins compute by definitions in double.
constexpr int64_t kMostMacs = 300000;
constexpr int64_t kMostElements = 20000;

bool IsSmall(const OpResult &direct) {
  int64_t elements = 0;
  for (int64_t planned : direct.planned_elements) elements += planned;
  return direct.macs <= kMostMacs && elements <= kMostElements;
}

// The case with the first of each constant's scales for all of it.
OpCase WithOneScale(const OpCase &op_case) {
  OpCase one = op_case;
  for (CaseInput &input : one.inputs) {
    if (input.quantization.scales.size() <= 1) continue;
    input.quantization.scales.resize(1);
    input.quantization.axis = 0;
    input.quantization.zero_points.resize(
        std::min<size_t>(input.quantization.zero_points.size(), 1));
  }
  return one;
}

bool IsQuantized(const OpCase &op_case) {
  return !op_case.def.output_quantization.empty() &&
         op_case.def.output_quantization[0].quantized() &&
         op_case.def.output_quantization[0].scales.size() == 1;
}

void Remove(const std::set<std::string> &names, OpCase *op_case) {
  auto &attributes = op_case->def.attributes;
  attributes.erase(
      std::remove_if(attributes.begin(), attributes.end(),
                     [&names](const AttributeValue &attribute) {
                       return names.count(std::string(attribute.name)) > 0;
                     }),
      attributes.end());
}

// The result with the scale that the vendors' libraries want, and for the HTA
// padding and coordinates that it takes. False if there is nothing to change.
bool Adapt(const Vendor &vendor, OpCase *op_case) {
  if (!IsQuantized(*op_case)) return false;
  const std::string type(op_case->def.type);
  Quantization &output = op_case->def.output_quantization[0];
  const Quantization &input = op_case->inputs[0].quantization;
  if (type == "Pooling" || type == "Reduce" || type == "Resize") {
    output.scales = input.scales;
    output.zero_points = input.zero_points;
    output.data_type = op_case->inputs[0].value.data_type;
    if (type == "Resize" && vendor.runtime == RT_HTA) {
      Remove({"coordinates"}, op_case);
      op_case->String("coordinates", "ASYMMETRIC");
    }
    return true;
  }
  if (type == "Softmax") {
    output.scales = {vendor.runtime == RT_HTA ? 1.0f / 255 : 1.0f / 256};
    output.zero_points = {output.data_type == DataType::kInt8 ? -128 : 0};
    return true;
  }
  if (type != "Conv2D" || vendor.runtime != RT_HTA) return false;
  Remove({"padding", "pads", "dilations"}, op_case);
  op_case->String("padding", "SAME");
  return true;
}

// An operator that an adapter makes of several rounds its results in between:
// the product before a residual, for example.
constexpr int kMostSteps = 2;

void ExpectCloseNumbers(const Value &actual, const Value &expected) {
  int most = 0;
  for (size_t i = 0; i < expected.bytes.size(); ++i) {
    const bool is_signed = expected.data_type == DataType::kInt8;
    const auto number = [is_signed](uint8_t byte) {
      return is_signed ? static_cast<int>(static_cast<int8_t>(byte))
                       : static_cast<int>(byte);
    };
    most = std::max(
        most, std::abs(number(actual.bytes[i]) - number(expected.bytes[i])));
  }
  EXPECT_LE(most, kMostSteps);
}

void ExpectCloseFloats(const Value &actual, const Value &expected) {
  // Of sums of floats in another order.
  constexpr float kRelative = 1e-4f;
  const std::vector<float> a = actual.floats();
  const std::vector<float> b = expected.floats();
  float largest = 0;
  for (float value : b) largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < b.size(); ++i) {
    ASSERT_NEAR(a[i], b[i], kRelative * largest) << "element " << i;
  }
}

// No vendor says what NaN and infinity become.
bool HasOnlyNumbers(const Value &value) {
  if (value.data_type != DataType::kFloat32) return true;
  const std::vector<float> values = value.floats();
  return std::all_of(values.begin(), values.end(),
                     [](float v) { return std::isfinite(v); });
}

void Compare(const OpCase &op_case, Vendor *vendor) {
  SCOPED_TRACE(std::string(op_case.def.type) + " on " + vendor->name);
  const OpCase own = vendor->has_one_scale ? WithOneScale(op_case) : op_case;
  const OpResult direct = op_test::RunOp(own);
  if (!IsOk(direct.status) || direct.outputs.size() != own.outputs) return;
  OperatorPlacement placement;
  placement.device = DeviceType::CPU;
  const OpResult result = case_models::RunModel(own, direct, vendor->runtime,
                                                "fp16_fp32", false, &placement);
  if (placement.device != static_cast<DeviceType>(vendor->runtime)) {
    const std::string reason =
        placement.refusals.empty() ? "" : placement.refusals.back().reason;
    ++vendor->refused[std::string(op_case.def.type) + ": " + reason];
    return;
  }
  ++vendor->taken[std::string(op_case.def.type)];
  ASSERT_TRUE(IsOk(result.status)) << result.status.information();
  ASSERT_EQ(result.outputs.size(), direct.outputs.size());
  for (size_t i = 0; i < direct.outputs.size(); ++i) {
    const Value &expected = direct.outputs[i];
    ASSERT_EQ(result.outputs[i].shape, expected.shape);
    if (!HasOnlyNumbers(expected)) continue;
    if (expected.data_type == DataType::kFloat32) {
      ExpectCloseFloats(result.outputs[i], expected);
    } else {
      ExpectCloseNumbers(result.outputs[i], expected);
    }
  }
}

std::vector<OpResult> RunOnVendors(const OpCase &op_case) {
  OpResult direct = op_test::RunOp(op_case);
  const bool comparable = op_case.hints.precision == Precision::kFloat32 &&
                          IsOk(direct.status) &&
                          direct.outputs.size() == op_case.outputs &&
                          kAll.count(std::string(op_case.def.type)) > 0;
  if (comparable && IsSmall(direct)) {
    for (Vendor &vendor : g_vendors) {
      Compare(op_case, &vendor);
      OpCase adapted = op_case;
      if (Adapt(vendor, &adapted)) Compare(adapted, &vendor);
    }
  }
  return {direct};
}

class EveryCase final : public ::testing::Environment {
 public:
  void SetUp() override {
    setenv("MACE_DELEGATE_PLACE_ALL", "1", 1);
    for (const Vendor &vendor : g_vendors) {
      const std::string path = std::string("test/delegates/") + vendor.library;
      setenv(vendor.variable, path.c_str(), 1);
    }
    op_test::RunCasesBy(RunOnVendors, true);
  }
  void TearDown() override {
    const bool all =
        ::testing::UnitTest::GetInstance()->test_to_run_count() > 50;
    for (const Vendor &vendor : g_vendors) {
      std::printf("%s:\n", vendor.name);
      for (const auto &[type, count] : vendor.taken) {
        std::printf("  %s: %d cases\n", type.c_str(), count);
      }
      for (const auto &[reason, count] : vendor.refused) {
        std::printf("  %d case(s) on the CPU, %s\n", count, reason.c_str());
      }
      if (!all) continue;
      for (const std::string &type : vendor.takes) {
        EXPECT_GT(vendor.taken.count(type), 0u) << vendor.name << ": " << type;
      }
    }
  }
};

const ::testing::Environment *const every_case =
    ::testing::AddGlobalTestEnvironment(new EveryCase);

}  // namespace
}  // namespace mace

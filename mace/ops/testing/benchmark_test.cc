// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mace::benchmark {
namespace {

TEST(BenchmarkTest, NamesAsDocumented) {
  EXPECT_EQ(OpName("CONV_2D", {1, 7, 7, 1024}, "K1x1S1D1_SAME_1024"),
            "MACE_BM_CONV_2D_1_1024_7_7_K1x1S1D1_SAME_1024_float_CPU");
  EXPECT_EQ(OpName("MATMUL", {64, 32}, "16", "half", "GPU"),
            "MACE_BM_MATMUL_64_32_16_half_GPU");
}

TEST(BenchmarkTest, FiltersByRegexAndByShellPattern) {
  const std::string name =
      "MACE_BM_CONV_2D_1_1024_7_7_K1x1S1D1_SAME_1024_float_GPU";
  for (const char *filter :
       {"", "all", ".*BM_CONV.*", "CONV_2D", "MACE_BM_CONV_2D_*_GPU", "*GPU",
        "^MACE.*GPU$", "CONV_(2|3)D"}) {
    EXPECT_TRUE(Selects(filter, name)) << filter;
  }
  for (const char *filter :
       {".*BM_POOL.*", "MACE_BM_CONV_2D_*_CPU", "*POOL*", "^BM", "[", "(("}) {
    EXPECT_FALSE(Selects(filter, name)) << filter;
  }
}

TEST(BenchmarkTest, ChoosesIterations) {
  EXPECT_EQ(ChooseIterations(1e3), 1000000);
  EXPECT_EQ(ChooseIterations(1e9), 10);
  EXPECT_EQ(ChooseIterations(1e12), 10);
  EXPECT_EQ(ChooseIterations(0.1), 1000000000);
  EXPECT_EQ(ChooseIterations(0), 1000000000);
}

TEST(BenchmarkTest, PrintsTheDocumentedColumns) {
  const std::string header = Header(20);
  size_t at = 0;
  for (const char *column :
       {"Benchmark", "Time(ns)", "Iterations", "Input(MB/s)", "GMACPS"}) {
    const size_t found = header.find(column, at);
    ASSERT_NE(found, std::string::npos) << column;
    at = found + 1;
  }
  Measurement m;
  m.nanoseconds = 2000;
  m.iterations = 500000;
  m.input_bytes = 8000;
  m.macs = 50000;
  const std::string line = Line("MACE_BM_X", 20, m);
  EXPECT_EQ(line.size(), header.size());
  EXPECT_NE(line.find(" 2000.0 "), std::string::npos) << line;
  EXPECT_NE(line.find(" 500000 "), std::string::npos) << line;
  EXPECT_NE(line.find(" 4000.0 "), std::string::npos) << line;
  EXPECT_NE(line.find(" 25.00"), std::string::npos) << line;
}

TEST(BenchmarkTest, MeasuresAtLeastTheMinimum) {
  State state((Settings()));
  int64_t calls = 0;
  // 1 ms each: a thousand iterations take a second, so there are no more.
  state.Measure(1, 1, [&calls] {
    ++calls;
    volatile int64_t sink = 0;
    for (int64_t i = 0; i < 300000; ++i) sink = sink + i;
  });
  EXPECT_GE(state.measurement().iterations, kMinIterations);
  EXPECT_GT(calls, state.measurement().iterations);
  EXPECT_GT(state.measurement().nanoseconds, 0);
}

TEST(BenchmarkTest, CallsOnceIfAsked) {
  Settings settings;
  settings.once = true;
  State state(settings);
  int64_t calls = 0;
  state.Measure(8, 4, [&calls] { ++calls; });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(state.measurement().iterations, 1);
  EXPECT_EQ(state.measurement().input_bytes, 8);
  EXPECT_EQ(state.measurement().macs, 4);
}

TEST(BenchmarkTest, MeasuresByTheClockOfADevice) {
  State state((Settings()));
  int64_t calls = 0;
  // A device that took 5 ns, whatever the host waited.
  state.MeasureByDevice(8, 4, [&calls] {
    ++calls;
    volatile int64_t sink = 0;
    for (int64_t i = 0; i < 300000; ++i) sink = sink + i;
    return 5.0;
  });
  EXPECT_EQ(state.measurement().nanoseconds, 5);
  EXPECT_GE(state.measurement().iterations, kMinIterations);
  // One to warm up, one to choose the number.
  EXPECT_EQ(calls, state.measurement().iterations + 2);
}

TEST(BenchmarkTest, FailuresEndADevicesIterations) {
  State state((Settings()));
  int64_t calls = 0;
  state.MeasureByDevice(8, 4, [&calls, &state] {
    if (++calls == 5) state.Fail("lost");
    return 1e6;
  });
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(state.failure(), "lost");
}

TEST(BenchmarkTest, OperatorsOnFloatsRunOnEveryDevice) {
  const auto make = [](op_test::Random *) { return op_test::OpCase("Relu"); };
  RegisterOp("MACE_BM_RELU_1_float_CPU", make);
  RegisterOp("MACE_BM_RELU_1_int8_CPU", make);
  Register("MACE_BM_LOOP_1_float_CPU", [](State *) {});
  std::vector<std::string> asked;
  AddDevice({"NPU",
             {{"float", "fp32_fp32"}, {"half", "fp16_fp32"}},
             [&asked](const op_test::OpCase &op_case,
                      const std::string &data_type, State *state) {
               asked.push_back(op_case.def.type + " " + data_type);
               state->Skip("on the CPU");
             }});
  std::vector<std::string> names;
  for (const auto &[name, function] : Registered()) {
    names.push_back(name);
    if (!Selects("*_NPU", name)) continue;
    State state((Settings()));
    function(&state);
    EXPECT_EQ(state.skipped(), "on the CPU");
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "MACE_BM_LOOP_1_float_CPU", "MACE_BM_RELU_1_float_CPU",
                       "MACE_BM_RELU_1_float_NPU", "MACE_BM_RELU_1_half_NPU",
                       "MACE_BM_RELU_1_int8_CPU"}));
  EXPECT_EQ(asked,
            (std::vector<std::string>{"Relu fp32_fp32", "Relu fp16_fp32"}));
  // What is not measured is no failure.
  EXPECT_EQ(benchmark::Run("*_NPU", Settings()), 0);
}

}  // namespace
}  // namespace mace::benchmark

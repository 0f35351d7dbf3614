// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Results of a DSP are the same with any number of threads, and with any size
// of VTCM.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "mace/runtimes/hexagon/transport.h"
#include "test/hexagon/quantized_network.h"

namespace mace {
namespace test_hexagon {
namespace {

struct Settings {
  const char *threads;
  const char *kilobytes;  // of VTCM
  bool has_weights;       // there
};

class HexagonThreadsTest : public ::testing::TestWithParam<Settings> {
 protected:
  void SetUp() override {
    setenv("MACE_HEXAGON_THREADS", GetParam().threads, 1);
    setenv("MACE_HEXAGON_VTCM", GetParam().kilobytes, 1);
  }
  void TearDown() override {
    unsetenv("MACE_HEXAGON_THREADS");
    unsetenv("MACE_HEXAGON_VTCM");
  }
};

TEST_P(HexagonThreadsTest, ResultsAreTheSame) {
  for (const DataType type : {DataType::kUint8, DataType::kInt8}) {
    const ModelBuilder model = Network(type);
    const MadeEngine made = core_test::Make(model, On({RT_HEXAGON, RT_CPU}));
    ASSERT_OK(made.status);
    const std::string explained = made.engine->Explain();
    EXPECT_GT(OnDsp(made), 1u) << explained;
    EXPECT_EQ(explained.find("its weights in VTCM") != std::string::npos,
              GetParam().has_weights)
        << explained;
    for (uint32_t image = 1; image <= 2; ++image) {
      Results results;
      ASSERT_OK(RunOnce(made.engine.get(), image, &results));
      EXPECT_EQ(results, Wanted(model, image));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         HexagonThreadsTest,
                         ::testing::Values(Settings{"1", "", false},
                                           Settings{"2", "0", false},
                                           Settings{"8", "", false},
                                           Settings{"", "1024", true},
                                           Settings{"1", "40", true},
                                           Settings{"3", "1024", true}),
                         [](const auto &info) {
                           return "With" + std::to_string(info.index);
                         });

}  // namespace
}  // namespace test_hexagon
}  // namespace mace

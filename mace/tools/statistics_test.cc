// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/statistics.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mace {
namespace tools {
namespace {

OperatorStats MakeOp(const std::string &name,
                     const std::string &type,
                     int64_t start,
                     int64_t end,
                     int64_t macs) {
  OperatorStats op = {};
  op.operator_name = name;
  op.type = type;
  op.output_shape = {{1, 7, 7, 16}};
  op.stats = {start, end, 1000 * (end - start)};
  op.macs = macs;
  return op;
}

// Two rounds of: conv 1 ms then 3 ms, add always 0.5 ms, conv 2 ms then 4 ms.
OpStatistics TwoRounds() {
  OpStatistics statistics;
  RunMetadata run;
  run.op_stats = {MakeOp("c1", "Conv2D", 100, 1100, 1000000),
                  MakeOp("add", "Eltwise", 1200, 1700, 0),
                  MakeOp("c2", "Conv2D", 1700, 3700, 3000000)};
  run.op_stats[2].quantized = true;
  run.op_stats[0].args.strides = {2, 2};
  run.op_stats[0].args.padding_type = 1;
  run.op_stats[0].args.kernels = {16, 3, 3, 8};
  EXPECT_EQ(MaceStatus::MACE_SUCCESS, statistics.Add(run).code());
  run.op_stats[0].stats = {0, 3000, 3000000};
  run.op_stats[1].stats = {3000, 3500, 500000};
  run.op_stats[2].stats = {3500, 7500, 4000000};
  EXPECT_EQ(MaceStatus::MACE_SUCCESS, statistics.Add(run).code());
  return statistics;
}

TEST(StatisticsTest, SummarizesASeries) {
  const Summary s = SummarizeSeries({3, 1, 2, 6});
  EXPECT_EQ(4, s.round);
  EXPECT_EQ(3, s.first);
  EXPECT_EQ(6, s.curr);
  EXPECT_EQ(1, s.min);
  EXPECT_EQ(6, s.max);
  EXPECT_EQ(3, s.avg);
  // Squared distances 0, 4, 1, 9: sqrt(14 / 4).
  EXPECT_NEAR(1.870829, s.std, 1e-6);
  EXPECT_EQ(0, SummarizeSeries({}).round);
}

// The values of numpy.percentile(x, [50, 90, 99]) with its default method.
TEST(StatisticsTest, PercentilesAreThoseOfNumpy) {
  struct Case {
    std::vector<double> values;
    double median, p90, p99;
  };
  for (const Case &c :
       std::vector<Case>{{{7.25}, 7.25, 7.25, 7.25},
                         {{2, 1}, 1.5, 1.9, 1.99},
                         {{3, 1, 2, 6}, 2.5, 5.1, 5.91},
                         {{0.5, 9.75, 3.25, 3.25, 8, 1.5, 2}, 3.25, 8.7, 9.645},
                         {{10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, 5, 9, 9.9}}) {
    const Summary s = SummarizeSeries(c.values);
    EXPECT_NEAR(c.median, s.median, 1e-12);
    EXPECT_NEAR(c.p90, s.p90, 1e-12);
    EXPECT_NEAR(c.p99, s.p99, 1e-12);
    EXPECT_NEAR(c.p90, Percentile(c.values, 90), 1e-12);
    EXPECT_NEAR(c.median, Median(c.values), 1e-12);
  }
  EXPECT_EQ(0, Median({}));
}

TEST(StatisticsTest, ALongSeriesKeepsTheSameNumbersInLessMemory) {
  Series series;
  constexpr int64_t kCount = 3 * static_cast<int64_t>(Series::kMostKept) + 5;
  // A ramp: every percentile is known.
  for (int64_t i = 0; i < kCount; ++i) series.Add(static_cast<double>(i));
  const Summary s = series.Summarize();
  const double last = static_cast<double>(kCount - 1);
  EXPECT_EQ(kCount, s.round);
  EXPECT_LT(series.kept().size(), Series::kMostKept);
  EXPECT_EQ(0, s.first);
  EXPECT_EQ(last, s.curr);
  EXPECT_EQ(0, s.min);
  EXPECT_EQ(last, s.max);
  EXPECT_NEAR(last / 2, s.avg, 1e-6);
  EXPECT_NEAR(last / 2, s.median, 8);
  EXPECT_NEAR(0.9 * last, s.p90, 8);
  // Evenly spaced.
  const std::vector<double> &kept = series.kept();
  EXPECT_EQ(kept[1] - kept[0], kept[kept.size() - 1] - kept[kept.size() - 2]);
}

TEST(StatisticsTest, CollectsOperators) {
  const OpStatistics statistics = TwoRounds();
  ASSERT_EQ(3u, statistics.ops().size());
  // Starts count from the first operator.
  EXPECT_DOUBLE_EQ(0, statistics.ops()[0].start_ms);
  EXPECT_DOUBLE_EQ(1.6, statistics.ops()[2].start_ms);
  EXPECT_DOUBLE_EQ(3.5, statistics.ops()[2].last_start_ms);
  EXPECT_EQ((std::vector<double>{1, 3}), statistics.ops()[0].times);
  EXPECT_EQ((std::vector<double>{3.5, 7.5}), statistics.totals());
  EXPECT_EQ(4000000, statistics.macs());
  EXPECT_FALSE(statistics.ops()[0].quantized);
  EXPECT_TRUE(statistics.ops()[2].quantized);
}

TEST(StatisticsTest, GroupsByType) {
  const std::vector<TypeProfile> types = TwoRounds().Types();
  ASSERT_EQ(2u, types.size());
  EXPECT_EQ("Conv2D", types[0].type);
  EXPECT_EQ(2, types[0].count);
  EXPECT_DOUBLE_EQ(5, types[0].avg_ms);
  EXPECT_EQ(4, types[0].calls);
  EXPECT_EQ("Eltwise", types[1].type);
}

TEST(StatisticsTest, RefusesARunOfAnotherShape) {
  OpStatistics statistics = TwoRounds();
  RunMetadata shorter;
  EXPECT_EQ(MaceStatus::MACE_RUNTIME_ERROR, statistics.Add(shorter).code());
}

TEST(StatisticsTest, PrintsTheSectionsWithPrefixAndUnits) {
  testing::internal::CaptureStdout();
  PrintRunTimes("Warm Up", SummarizeSeries({2.0, 4.0}));
  TwoRounds().Print();
  const std::string text = testing::internal::GetCapturedStdout();
  size_t position = 0;
  // In this order.
  for (const char *piece :
       {"Warm Up", "std(us)",
        // first, curr, min, max, avg in ms; the deviation of 1 ms in us.
        "2 |     2.000 |    4.000 |   2.000 |   4.000 |   3.000 | 1000.000 |"
        "      3.000 |   3.800 |   3.980 |",
        "Sort by Run Order", "Op Type", "GMACPS", "Filter Shape", "Dilation",
        "[2,2]", "SAME", "[16,3,3,8]", "[1,7,7,16]", "c1", "add", "c2",
        "Sort by Computation Time", "c2", "c1", "add", "Stat by Op Type",
        "Called times", "4,000,000", "Stat by MACs", "std(G/s)",
        // 4 M multiply-adds in 3.5 ms, then in 5.5 ms on average.
        "4,000,000 |     2 |      1.143 |    0.727", "Summary of Ops' Stat",
        "3.500", "7.500"}) {
    const size_t found = text.find(piece, position);
    ASSERT_NE(std::string::npos, found) << piece << " in\n" << text;
    position = found + 1;
  }
  EXPECT_EQ(0u, text.find("I statistics.cc:"));
}

TEST(StatisticsTest, GroupsDigits) {
  EXPECT_EQ("0", WithCommas(0));
  EXPECT_EQ("999", WithCommas(999));
  EXPECT_EQ("1,000", WithCommas(1000));
  EXPECT_EQ("568,741,376", WithCommas(568741376));
  EXPECT_EQ("-123,456", WithCommas(-123456));
}

TEST(StatisticsTest, NamesTheBorderCopiesOfARun) {
  TensorCopy copy = {};
  copy.tensor = "prob";
  copy.bytes = 4000;
  copy.is_output = true;
  copy.reason = CopyReason::TYPE;
  testing::internal::CaptureStdout();
  PrintBorderCopies({});
  PrintBorderCopies({copy});
  const std::string text = testing::internal::GetCapturedStdout();
  for (const char *part :
       {"copied: 0 (0 bytes)\n", "copied: 1 (4,000 bytes)\n",
        "output prob, 4,000 bytes, because the buffer has another element "
        "type than the model\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tools
}  // namespace mace

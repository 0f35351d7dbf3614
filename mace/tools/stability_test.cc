// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/stability.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "mace/tools/machine.h"
#include "mace/tools/progress.h"

namespace mace {
namespace tools {
namespace {

// `count` times around those that `ms` gives for 0 (the beginning) to 1 (the
// end), with noise of this standard deviation.
std::vector<double> Times(int count,
                          const std::function<double(double)> &ms,
                          double noise = 0.01) {
  std::minstd_rand source(7);
  std::normal_distribution<double> normal(0, noise);
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    times.push_back(ms(static_cast<double>(i) / (count - 1)) *
                    (1 + normal(source)));
  }
  return times;
}

double Level(double) { return 10; }

TEST(StabilityTest, FewRunsGiveNoVerdict) {
  EXPECT_EQ(Verdict::kUnknown, JudgeStability({}).verdict);
  const Stability s = JudgeStability(Times(kFewestRunsToJudge - 1, Level));
  EXPECT_EQ(Verdict::kUnknown, s.verdict);
  EXPECT_NEAR(10, s.warm_ms, 0.3);
  EXPECT_NE(std::string::npos, StabilitySentence(s, {}).find("--duration"));
}

TEST(StabilityTest, ALevelSeriesIsSteady) {
  for (int count : {kFewestRunsToJudge, 100, 5000}) {
    const Stability s = JudgeStability(Times(count, Level));
    EXPECT_EQ(Verdict::kSteady, s.verdict) << count;
    EXPECT_LT(s.spread, 0.02);
    EXPECT_NEAR(10, s.sustained_ms, 0.2);
  }
}

// A single run that was interrupted does not make a measurement useless.
TEST(StabilityTest, RareOutliersDoNotMatter) {
  std::vector<double> times = Times(100, Level);
  times[20] = 80;
  times[77] = 45;
  EXPECT_EQ(Verdict::kSteady, JudgeStability(times).verdict);
}

TEST(StabilityTest, ThrottlingIsATrendFromWarmToSustained) {
  const auto throttled = [](double at) { return at < 0.2 ? 10 : 10 + 5 * at; };
  const Stability s = JudgeStability(Times(300, throttled));
  EXPECT_EQ(Verdict::kSlowing, s.verdict);
  EXPECT_NEAR(10, s.warm_ms, 0.2);
  EXPECT_NEAR(14.5, s.sustained_ms, 0.2);
  EXPECT_NEAR(0.45, s.trend, 0.04);
  MachineChanges changes;
  changes.first_mhz = changes.most_mhz = 2400;
  changes.last_mhz = changes.least_mhz = 1800;
  const std::string sentence = StabilitySentence(s, changes);
  for (const char *piece :
       {"Slowing down: from ", "(warm)", "(sustained)",
        "the clock fell from 2400 to 1800 MHz", "throttles"}) {
    EXPECT_NE(std::string::npos, sentence.find(piece)) << sentence;
  }
  EXPECT_EQ(std::string::npos, StabilitySentence(s, {}).find("throttles"));
}

TEST(StabilityTest, TheTemperatureIsTold) {
  const Stability s = JudgeStability(Times(200, Level));
  MachineChanges changes;
  changes.first_celsius = 41;
  changes.last_celsius = changes.most_celsius = 78.4;
  std::string sentence = StabilitySentence(s, changes);
  EXPECT_NE(std::string::npos,
            sentence.find("; the processor went from 41 to 78 C."))
      << sentence;
  changes.most_celsius = 83;
  sentence = StabilitySentence(s, changes);
  EXPECT_NE(std::string::npos, sentence.find("to 78 C, at most 83 C."))
      << sentence;
}

TEST(StabilityTest, AShortWarmUpIsNamed) {
  const Stability s =
      JudgeStability(Times(200, [](double at) { return 14 - 4 * at; }));
  EXPECT_EQ(Verdict::kSpeeding, s.verdict);
  EXPECT_NE(std::string::npos,
            StabilitySentence(s, {}).find("the warm-up was too short"));
  MachineChanges changes;
  changes.cores = 2;
  changes.other_cores = 0.84;
  EXPECT_NE(std::string::npos,
            StabilitySentence(s, changes).find("on an idle machine"));
}

TEST(StabilityTest, ADisturbanceInTheMiddleIsNoiseAndNoTrend) {
  const Stability s = JudgeStability(
      Times(200, [](double at) { return at > 0.4 && at < 0.6 ? 13.0 : 10.0; }));
  EXPECT_EQ(Verdict::kNoisy, s.verdict);
  EXPECT_NEAR(0.3, s.spread, 0.02);
  MachineChanges changes;
  changes.cores = 2;
  changes.other_cores = 0.84;
  const std::string sentence = StabilitySentence(s, changes);
  EXPECT_NE(std::string::npos,
            sentence.find("other programs kept 0.8 of 2 cores busy"))
      << sentence;
}

TEST(StabilityTest, AnAverageMayBeBelowTheMedian) {
  const Stability s = JudgeStability(Times(
      200, [](double at) { return at > 0.2 && at < 0.4 ? 8.0 : 10.0; }, 1e-6));
  ASSERT_EQ(Verdict::kNoisy, s.verdict);
  EXPECT_NE(std::string::npos,
            StabilitySentence(s, {}).find("the average is 4.0 % below it"))
      << StabilitySentence(s, {});
}

TEST(StabilityTest, ManySlowRunsAreNoiseAlthoughMediansAgree) {
  std::vector<double> times = Times(200, Level);
  for (size_t i = 0; i < times.size(); i += 5) times[i] *= 1.6;
  const Stability s = JudgeStability(times);
  EXPECT_LT(s.spread, 0.05);
  EXPECT_EQ(Verdict::kNoisy, s.verdict);
}

// A busy machine takes the core away from one run in a hundred, for long.
TEST(StabilityTest, AnAverageFarAboveTheMedianIsNoise) {
  std::vector<double> times = Times(500, Level);
  for (size_t i = 50; i < times.size(); i += 100) times[i] = 500;
  const Stability s = JudgeStability(times);
  EXPECT_LT(s.spread, 0.05);
  EXPECT_LT(s.tail, 0.05);
  EXPECT_NEAR(0.49, s.excess, 0.02);
  EXPECT_EQ(Verdict::kNoisy, s.verdict);
}

TEST(StabilityTest, SentencesAreOneLine) {
  for (const Stability &s :
       {JudgeStability({}), JudgeStability(Times(50, Level)),
        JudgeStability(Times(50, [](double at) { return 1 + at; }))}) {
    const std::string text = StabilitySentence(s, {});
    EXPECT_EQ(std::string::npos, text.find('\n'));
    EXPECT_EQ('.', text.back());
  }
}

// A machine made of files: two cores, one of which others keep busy.
class Root {
 public:
  Root() : path_(testing::TempDir() + "machine_watch_test") {
    std::string folder = path_;
    mkdir(folder.c_str(), 0755);
    mkdir((path_ + "/proc").c_str(), 0755);
    for (const char *part :
         {"/sys", "/devices", "/system", "/cpu", "/cpu0", "/cpufreq"}) {
      folder += part;
      mkdir(folder.c_str(), 0755);
    }
  }
  const std::string &path() const { return path_; }
  void Busy(int ticks) const {
    std::ofstream(path_ + "/proc/stat")
        << "cpu  " << ticks << " 0 0 5000 0 0 0 0 0 0\ncpu0 1 0 0 1\n"
        << "cpu1 1 0 0 1\nintr 5\n";
  }
  void Clock(int khz) const {
    std::ofstream(path_ +
                  "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq")
        << khz << "\n";
  }

 private:
  std::string path_;
};

TEST(MachineWatchTest, SeesOtherLoadAndTheClock) {
  const Root root;
  root.Busy(1000);
  root.Clock(2000000);
  MachineWatch watch(root.path());
  root.Clock(1500000);
  const double begin = NowMs();
  while (NowMs() - begin < 300) watch.Sample();
  root.Busy(1000 + 130);  // 1.3 s in 0.3 s, 0.3 s of them ours
  root.Clock(1800000);
  const MachineChanges changes = watch.Changes();
  EXPECT_EQ(2, changes.cores);
  EXPECT_GT(changes.other_cores, 2.0);
  EXPECT_LT(changes.other_cores, 4.4);
  EXPECT_EQ(2000, changes.first_mhz);
  EXPECT_EQ(1800, changes.last_mhz);
  EXPECT_EQ(1500, changes.least_mhz);
  EXPECT_EQ(2000, changes.most_mhz);
}

TEST(MachineWatchTest, ASystemThatTellsNothingIsNoError) {
  MachineWatch watch("/no/such/folder");
  watch.Sample();
  const MachineChanges changes = watch.Changes();
  EXPECT_EQ(0, changes.cores);
  EXPECT_EQ(0, changes.other_cores);
  EXPECT_EQ(0, changes.first_mhz);
}

TEST(ProgressTest, SaysWhatIsLeft) {
  EXPECT_EQ("30 of 100 rounds, about 7 s left", ProgressText(30, 3, {100, 0}));
  // The time ends first.
  EXPECT_EQ("30 of 100 rounds, 2 s left", ProgressText(30, 3, {100, 5}));
  EXPECT_EQ("30 rounds, 57 s left", ProgressText(30, 3, {0, 60}));
}

TEST(ProgressTest, InAPipeLinesHaveNoControlCharacters) {
  testing::internal::CaptureStderr();
  {
    Progress progress("runs", {0, 0.5}, 0.02);
    for (int64_t i = 1; !progress.Finished(i); ++i) progress.Update(i);
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(0u, text.find("I progress.cc:"));
  EXPECT_NE(std::string::npos, text.find("runs: ")) << text;
  EXPECT_EQ(std::string::npos, text.find_first_of("\r\x1b")) << text;
  testing::internal::CaptureStderr();
  Progress("runs", {3, 0}, 0).Update(1);
  EXPECT_EQ("", testing::internal::GetCapturedStderr());
}

}  // namespace
}  // namespace tools
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/tune/opencl_tuner.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>
#include <utility>

#include "mace/runtimes/opencl_options/file_storage.h"

namespace mace {
namespace {

constexpr char kSource[] = "0123456789abcdef";

// A launch whose time follows from the values of its choices.
struct FakeLaunch {
  std::vector<TuningChoice> choices;
  std::function<int64_t(const std::vector<std::string> &)> nanos;
};

TuningChoice Choice(const std::string &key,
                    std::vector<std::string> values,
                    bool changes_program = false) {
  TuningChoice choice;
  choice.key = key;
  choice.source = kSource;
  choice.values = std::move(values);
  choice.changes_program = changes_program;
  return choice;
}

// A launch with one choice that takes so long with each of its values.
FakeLaunch Launch(const std::string &key,
                  std::vector<int64_t> nanos,
                  bool changes_program = false) {
  std::vector<std::string> values;
  for (size_t i = 0; i < nanos.size(); ++i) {
    values.push_back(std::to_string(i));
  }
  return {{Choice(key, std::move(values), changes_program)},
          [nanos = std::move(nanos)](const std::vector<std::string> &chosen) {
            return nanos[std::stoul(chosen[0])];
          }};
}

class FakeTrial final : public TuningTrial {
 public:
  struct Settings {
    double noise = 0;
    int64_t extra = 0;  // time between launches for each value but a guess
    double run_seconds = 0;
    size_t *runs = nullptr;
    double *seconds = nullptr;
  };

  FakeTrial(const std::vector<FakeLaunch> &launches,
            const TunedValues &values,
            const Settings &settings,
            uint32_t seed)
      : settings_(settings), random_(seed) {
    for (size_t i = 0; i < launches.size(); ++i) {
      std::vector<std::string> chosen;
      std::string program = "kernel";
      for (TuningChoice choice : launches[i].choices) {
        values.Apply(&choice);
        choice.begin = i;
        choice.end = i + 1;
        changed_ += choice.chosen != 0;
        chosen.push_back(choice.value());
        if (choice.changes_program) program += " " + choice.value();
        choices_.push_back(std::move(choice));
      }
      nanos_.push_back(launches[i].nanos(chosen));
      programs_.push_back(std::move(program));
    }
  }

  const std::vector<TuningChoice> &choices() const override { return choices_; }
  size_t launch_count() const override { return nanos_.size(); }
  std::string program(size_t launch) const override {
    return programs_[launch];
  }
  Result<int64_t> Run(std::vector<int64_t> *nanos) override {
    std::uniform_real_distribution<double> noise(1, 1 + settings_.noise);
    nanos->clear();
    for (int64_t time : nanos_) {
      nanos->push_back(
          static_cast<int64_t>(static_cast<double>(time) * noise(random_)));
    }
    ++*settings_.runs;
    *settings_.seconds += settings_.run_seconds;
    return std::accumulate(nanos->begin(), nanos->end(),
                           changed_ * settings_.extra);
  }

 private:
  const Settings settings_;
  std::mt19937 random_;
  std::vector<TuningChoice> choices_;
  std::vector<int64_t> nanos_;
  std::vector<std::string> programs_;
  int64_t changed_ = 0;
};

class FakeBench final : public TuningBench {
 public:
  explicit FakeBench(std::vector<FakeLaunch> launches)
      : launches_(std::move(launches)) {
    settings_.runs = &runs_;
    settings_.seconds = &seconds_;
  }
  FakeBench(const FakeBench &) = delete;

  Result<std::unique_ptr<TuningTrial>> Make(
      const TunedValues &values) override {
    for (const FakeLaunch &launch : launches_) {
      for (TuningChoice choice : launch.choices) {
        values.Apply(&choice);
        if (choice.value() == broken_) return RuntimeError("does not compile");
      }
    }
    return std::unique_ptr<TuningTrial>(
        std::make_unique<FakeTrial>(launches_, values, settings_, ++made_));
  }
  double Seconds() const override { return seconds_; }

  FakeTrial::Settings &settings() { return settings_; }
  void Break(const std::string &value) { broken_ = value; }
  size_t runs() const { return runs_; }

 private:
  const std::vector<FakeLaunch> launches_;
  FakeTrial::Settings settings_;
  std::string broken_ = "no value";
  uint32_t made_ = 0;
  size_t runs_ = 0;
  double seconds_ = 0;
};

class OpenclTunerTest : public ::testing::Test {
 protected:
  TuningSummary Tune(FakeBench *bench, double seconds = 1e9) {
    auto summary = TuneModel(bench, seconds, &parameters_);
    EXPECT_TRUE(summary.ok());
    return summary.ok() ? summary.value() : TuningSummary();
  }
  std::string Found(const std::string &key) const {
    return parameters_.Find(Choice(key, {"0"}));
  }

  TunedParameters parameters_{"gpu", CreateMemoryStorage({}),
                              CreateMemoryStorage({})};
};

TEST_F(OpenclTunerTest, FindsTheFastestValues) {
  FakeBench bench({Launch("a", {90000, 70000, 60000, 80000}),
                   Launch("b", {50000, 60000, 70000}),
                   Launch("a", {90000, 70000, 60000, 80000}),
                   Launch("c", {30000, 40000, 30000, 10000})});
  const TuningSummary summary = Tune(&bench);
  EXPECT_EQ(Found("a"), "2");
  EXPECT_EQ(Found("b"), "0");
  EXPECT_EQ(Found("c"), "3");
  EXPECT_EQ(summary.choices, 3u);
  EXPECT_EQ(summary.tuned, 3u);
  EXPECT_EQ(summary.changed, 2u);
  EXPECT_EQ(summary.known, 0u);
  EXPECT_EQ(summary.guess_nanos, 260000);
  EXPECT_EQ(summary.tuned_nanos, 180000);
}

TEST_F(OpenclTunerTest, MeasuresNothingTwice) {
  FakeBench first({Launch("a", {90000, 70000})});
  Tune(&first);
  FakeBench second({Launch("a", {90000, 70000}), Launch("b", {9000, 5000})});
  const TuningSummary summary = Tune(&second);
  EXPECT_EQ(summary.known, 1u);
  EXPECT_EQ(summary.tuned, 1u);
  FakeBench third({Launch("a", {90000, 70000}), Launch("b", {9000, 5000})});
  EXPECT_EQ(Tune(&third).tuned, 0u);
  EXPECT_LT(third.runs(), 5u);
}

// What differs less than times do from run to run is left as it is.
TEST_F(OpenclTunerTest, KeepsAGuessThatIsAsGood) {
  std::vector<FakeLaunch> launches;
  for (int i = 0; i < 100; ++i) {
    launches.push_back(Launch(std::to_string(i), {50000, 50000, 49500, 50000}));
  }
  FakeBench bench(std::move(launches));
  bench.settings().noise = 0.02;
  const TuningSummary summary = Tune(&bench);
  EXPECT_EQ(summary.tuned, 100u);
  EXPECT_EQ(summary.changed, 0u);
}

TEST_F(OpenclTunerTest, DropsValuesWithWhichTheModelIsSlower) {
  FakeBench bench({Launch("a", {90000, 70000}), Launch("b", {90000, 80000})});
  bench.settings().extra = 20000;
  const TuningSummary summary = Tune(&bench);
  EXPECT_EQ(summary.changed, 0u);
  EXPECT_EQ(summary.tuned_nanos, summary.guess_nanos);
  EXPECT_EQ(Found("a"), "0");
  EXPECT_EQ(Found("b"), "0");
}

TEST_F(OpenclTunerTest, TriesTheOthersIfAKernelDoesNotCompile) {
  FakeLaunch broken = Launch("broken", {50000, 10000, 40000});
  broken.choices[0].values[1] = "9";
  broken.nanos = [](const std::vector<std::string> &chosen) {
    return chosen[0] == "2" ? 40000 : 50000;
  };
  FakeBench bench({Launch("a", {90000, 70000}), std::move(broken),
                   Launch("c", {90000, 95000, 70000})});
  bench.Break("9");
  Tune(&bench);
  EXPECT_EQ(Found("a"), "1");
  EXPECT_EQ(Found("broken"), "2");
  EXPECT_EQ(Found("c"), "2");
}

// The second choice depends on the first.
TEST_F(OpenclTunerTest, DecidesChoicesOfALaunchOneAfterTheOther) {
  FakeLaunch launch;
  launch.choices = {Choice("kernel", {"direct", "winograd"}, true),
                    Choice("group", {"8", "16", "32"})};
  launch.nanos = [](const std::vector<std::string> &chosen) {
    if (chosen[0] == "direct") return chosen[1] == "32" ? 90000 : 100000;
    if (chosen[1] == "16") return 40000;
    return chosen[1] == "32" ? 70000 : 60000;
  };
  FakeBench bench({std::move(launch)});
  Tune(&bench);
  EXPECT_EQ(Found("kernel"), "winograd");
  EXPECT_EQ(Found("group"), "16");
}

// A program more must save 1 % of the model's time.
TEST_F(OpenclTunerTest, CountsProgramsAgainstAChoice) {
  std::vector<FakeLaunch> launches;
  launches.push_back(Launch("large", {1000000, 1000000, 900000}, true));
  for (int i = 0; i < 4; ++i) {
    // Value 1 of all of them is one program, which saves 4 x 0.9 %.
    launches.push_back(
        Launch(MakeString("shared", i), {50000, 37000, 60000, 60000}, true));
  }
  // Nobody else has value 3, which saves 0.4 %.
  launches.push_back(Launch("small", {50000, 50000, 50000, 44000}, true));
  FakeBench bench(std::move(launches));
  Tune(&bench);
  EXPECT_EQ(Found("large"), "2");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Found(MakeString("shared", i)), "1");
  EXPECT_EQ(Found("small"), "0");
}

// The slowest launches come first; the rest is for the next time. A choice is
// decided if all of its values were tried, or one of them is better.
TEST_F(OpenclTunerTest, EndsWhenTheTimeIsOver) {
  std::vector<FakeLaunch> launches;
  for (int i = 0; i < 50; ++i) {
    launches.push_back(
        Launch(std::to_string(i), {50000 + 100 * i, 50000, 20000}));
  }
  FakeBench bench(launches);
  bench.settings().run_seconds = 1;
  const TuningSummary summary = Tune(&bench, 20);
  EXPECT_EQ(summary.choices, 50u);
  EXPECT_EQ(summary.tuned, 8u);
  EXPECT_EQ(Found("49"), "2");
  EXPECT_EQ(Found("0"), "");
  FakeBench again(launches);
  EXPECT_EQ(Tune(&again).tuned, 42u);
  EXPECT_EQ(Found("0"), "2");

  FakeBench first_values(
      {Launch("x", {50000, 50000, 20000}), Launch("y", {50000, 20000})});
  first_values.settings().run_seconds = 1;
  EXPECT_EQ(Tune(&first_values, 3).tuned, 1u);
  EXPECT_EQ(Found("x"), "");
  EXPECT_EQ(Found("y"), "1");
}

TEST(TunedParametersTest, TrustsNoEntry) {
  TunedParameters parameters("gpu", CreateMemoryStorage({}),
                             CreateMemoryStorage({}));
  TuningChoice choice = Choice("a", {"4", "8"});
  parameters.Apply(&choice);
  EXPECT_FALSE(choice.is_tuned);
  EXPECT_EQ(choice.value(), "4");
  parameters.Insert(choice, "8");
  parameters.Apply(&choice);
  EXPECT_TRUE(choice.is_tuned);
  EXPECT_EQ(choice.value(), "8");

  // Other kernels, another choice, a value that is none of the possible ones.
  TuningChoice other_source = choice;
  other_source.source = "fedcba9876543210";
  TuningChoice other_key = Choice("b", {"4", "8"});
  TuningChoice other_values = Choice("a", {"4", "16"});
  for (TuningChoice *other : {&other_source, &other_key, &other_values}) {
    parameters.Apply(other);
    EXPECT_FALSE(other->is_tuned);
    EXPECT_EQ(other->value(), "4");
  }
}

TEST(TunedParametersTest, DamagedEntriesAreLeftOut) {
  for (const char *text :
       {"", " ", "8", "0123456789abcdef", "0123456789abcdef ",
        "0123456789abcdef 8 ", "0123456789abcdef8", "0123456789abcdef 88"}) {
    const std::string entry = text;
    TunedParameters parameters(
        "gpu", CreateMemoryStorage({{"gpu|a", {entry.begin(), entry.end()}}}),
        CreateMemoryStorage({}));
    TuningChoice choice = Choice("a", {"4", "8"});
    parameters.Apply(&choice);
    EXPECT_EQ(choice.value(), "4") << entry;
  }
}

TEST(TunedParametersTest, ShippedValuesComeFirst) {
  const auto table = [](const char *gpu, const std::string &value) {
    const std::string entry = kSource + (" " + value);
    return CreateMemoryStorage(
        {{MakeString(gpu, "|a"), {entry.begin(), entry.end()}}});
  };
  const auto value_of = [&](const char *shipped_for, const char *shipped,
                            const char *own_for, const char *own) {
    TuningChoice choice = Choice("a", {"4", "8", "16"});
    TunedParameters("gpu", table(shipped_for, shipped), table(own_for, own))
        .Apply(&choice);
    return choice.value();
  };
  EXPECT_EQ(value_of("gpu", "8", "gpu", "16"), "8");
  // Those of another GPU do not count.
  EXPECT_EQ(value_of("other gpu", "8", "gpu", "16"), "16");
  EXPECT_EQ(value_of("other gpu", "8", "other gpu", "16"), "4");
}

}  // namespace
}  // namespace mace

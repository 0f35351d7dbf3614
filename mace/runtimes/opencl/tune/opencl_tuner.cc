// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/tune/opencl_tuner.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "mace/core/base/logging.h"

namespace mace {
namespace {

// Times of kernels differ by 1 to 2 % from run to run.
constexpr double kMargin = 0.03;
// Of the model's time, which a program must save: it takes 10 to 500 ms to
// compile.
constexpr double kProgramShare = 0.01;
// At once: more take fewer runs, but if the time ends, less is decided.
constexpr size_t kMostTried = 8;
constexpr int kPasses = 5;
constexpr int kFinalPasses = 7;
// A model that seems slower with the values that were found may have been
// disturbed.
constexpr int kFinalRounds = 3;
// Between two launches, even if the host is fast enough.
constexpr int64_t kGapNanos = 1000;

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// The least and the middle time of several runs. Other programs that run at the
// same time change one or the other.
struct Times {
  int64_t least = 0;
  int64_t middle = 0;
};

Times TimesOf(std::vector<int64_t> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  return {samples.front(), samples[samples.size() / 2]};
}

// A trial, and the times of its runs.
class Measured {
 public:
  explicit Measured(std::unique_ptr<TuningTrial> trial)
      : trial_(std::move(trial)) {}

  // The first run of kernels may compile them, and find a cold GPU.
  MaceStatus WarmUp() {
    std::vector<int64_t> nanos;
    return trial_->Run(&nanos).status();
  }
  MaceStatus Run() {
    std::vector<int64_t> nanos;
    MACE_ASSIGN_OR_RETURN(const int64_t span, trial_->Run(&nanos));
    runs_.push_back(std::move(nanos));
    spans_.push_back(span);
    return MaceStatus();
  }
  void Forget() {
    runs_.clear();
    spans_.clear();
  }

  const TuningTrial &trial() const { return *trial_; }
  // From the first launch to the last.
  Times Spans() const { return TimesOf(spans_); }
  // Of all launches.
  Times Total() const { return Cost({{0, trial_->launch_count()}}); }
  // Of all launches on which a choice of the model depends.
  Times CostOf(const std::string &key) const {
    std::vector<std::pair<size_t, size_t>> ranges;
    for (const TuningChoice &choice : trial_->choices()) {
      if (choice.key == key) ranges.emplace_back(choice.begin, choice.end);
    }
    return Cost(ranges);
  }

 private:
  Times Cost(const std::vector<std::pair<size_t, size_t>> &ranges) const {
    std::vector<int64_t> costs;
    for (const std::vector<int64_t> &nanos : runs_) {
      int64_t cost = 0;
      for (const auto &[begin, end] : ranges) {
        for (size_t i = begin; i < end; ++i) cost += nanos[i] + kGapNanos;
      }
      costs.push_back(cost);
    }
    return TimesOf(std::move(costs));
  }

  std::unique_ptr<TuningTrial> trial_;
  std::vector<std::vector<int64_t>> runs_;
  std::vector<int64_t> spans_;
};

// A choice whose values are being tried.
struct Tried {
  TuningChoice choice;
  size_t best = 0;
  double best_ratio = 1 - kMargin;
  int64_t gain = 0;  // nanoseconds of a run
};

double Ratio(int64_t after, int64_t before) {
  return static_cast<double>(after) / static_cast<double>(before);
}

struct Decided {
  TuningChoice choice;
  std::string value;
  int64_t gain = 0;
};

std::set<std::string> ProgramsOf(const TuningTrial &trial) {
  std::set<std::string> programs;
  for (size_t i = 0; i < trial.launch_count(); ++i) {
    programs.insert(trial.program(i));
  }
  return programs;
}

class Tuner {
 public:
  Tuner(TuningBench *bench, double seconds, const TunedParameters &parameters)
      : bench_(bench), seconds_(seconds), parameters_(parameters) {}

  MaceStatus Run();
  const std::map<std::string, Decided> &decided() const { return decided_; }
  const TuningSummary &summary() const { return summary_; }

 private:
  // With the time to verify the result.
  bool IsLate() const {
    constexpr double kFinalRuns = 2 * (kFinalPasses + 1);
    return bench_->Seconds() + kFinalRuns * 1e-9 * guessed_span_ >= seconds_;
  }
  TrialValues Values() const;
  MaceStatus MakeBase();
  void Count();
  std::vector<Tried> Next(bool changes_program) const;
  MaceStatus Tune(std::vector<Tried> tried);
  MaceStatus TryValue(const std::vector<Tried *> &tried, size_t value);
  bool AnyIsFaster(const std::vector<Tried *> &tried,
                   const Measured &trial) const;
  void Judge(const std::vector<Tried *> &tried,
             const Measured &trial,
             size_t value) const;
  MaceStatus DropDearPrograms();
  MaceStatus Verify();

  TuningBench *bench_;
  const double seconds_;
  const TunedParameters &parameters_;
  std::map<std::string, Decided> decided_;  // by key
  std::unique_ptr<Measured> base_;          // with what is decided, and guesses
  std::set<std::string> guessed_programs_;
  double guessed_total_ = 0;  // nanoseconds
  double guessed_span_ = 0;
  TuningSummary summary_;
};

TrialValues Tuner::Values() const {
  TrialValues values(&parameters_);
  for (const auto &[key, decided] : decided_) values.Set(key, decided.value);
  return values;
}

MaceStatus Tuner::MakeBase() {
  MACE_ASSIGN_OR_RETURN(auto trial, bench_->Make(Values()));
  base_ = std::make_unique<Measured>(std::move(trial));
  MACE_RETURN_IF_ERROR(base_->WarmUp());
  return base_->Run();
}

void Tuner::Count() {
  std::set<std::string> keys;
  for (const TuningChoice &choice : base_->trial().choices()) {
    if (!keys.insert(choice.key).second) continue;
    ++summary_.choices;
    if (choice.is_tuned && decided_.count(choice.key) == 0) ++summary_.known;
  }
}

MaceStatus Tuner::Run() {
  MACE_RETURN_IF_ERROR(MakeBase());
  guessed_programs_ = ProgramsOf(base_->trial());
  guessed_total_ = static_cast<double>(base_->Total().least);
  guessed_span_ = static_cast<double>(base_->Spans().least);
  for (const bool changes_program : {true, false}) {
    while (!IsLate()) {
      std::vector<Tried> tried = Next(changes_program);
      if (tried.empty()) break;
      MACE_RETURN_IF_ERROR(Tune(std::move(tried)));
      MACE_RETURN_IF_ERROR(MakeBase());
    }
    if (changes_program) MACE_RETURN_IF_ERROR(DropDearPrograms());
  }
  Count();
  return Verify();
}

// The choices to try next, those of the slowest launches first. No launch
// depends on two of them.
std::vector<Tried> Tuner::Next(bool changes_program) const {
  const std::vector<TuningChoice> &choices = base_->trial().choices();
  std::map<std::string, const TuningChoice *> open;
  for (const TuningChoice &choice : choices) {
    if (choice.changes_program == changes_program && !choice.is_tuned) {
      open.emplace(choice.key, &choice);
    }
  }
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto &[key, choice] : open) {
    order.emplace_back(-base_->CostOf(key).least, key);
  }
  std::sort(order.begin(), order.end());
  std::vector<Tried> tried;
  std::vector<bool> taken(base_->trial().launch_count(), false);
  for (const auto &[cost, key] : order) {
    if (tried.size() == kMostTried) break;
    bool is_free = true;
    for (const TuningChoice &choice : choices) {
      if (choice.key != key) continue;
      for (size_t i = choice.begin; i < choice.end; ++i) {
        is_free = is_free && !taken[i];
      }
    }
    if (!is_free) continue;
    for (const TuningChoice &choice : choices) {
      if (choice.key != key) continue;
      std::fill(taken.begin() + static_cast<std::ptrdiff_t>(choice.begin),
                taken.begin() + static_cast<std::ptrdiff_t>(choice.end), true);
    }
    Tried entry;
    entry.choice = *open[key];
    tried.push_back(std::move(entry));
  }
  return tried;
}

// Tries all values. If the time ends before, only choices for which something
// better is known are decided.
MaceStatus Tuner::Tune(std::vector<Tried> tried) {
  size_t value = 1;
  while (!IsLate()) {
    std::vector<Tried *> with_value;
    for (Tried &entry : tried) {
      if (value < entry.choice.values.size()) with_value.push_back(&entry);
    }
    if (with_value.empty()) break;
    MACE_RETURN_IF_ERROR(TryValue(with_value, value));
    ++value;
  }
  for (Tried &entry : tried) {
    if (entry.best == 0 && value < entry.choice.values.size()) continue;
    Decided decided;
    decided.value = entry.choice.values[entry.best];
    decided.gain = entry.gain;
    decided.choice = std::move(entry.choice);
    VLOG(1) << "tuned " << decided.choice.key << ": " << decided.value
            << (entry.best == 0 ? ", as guessed" : "");
    decided_.emplace(decided.choice.key, std::move(decided));
  }
  return MaceStatus();
}

// If one of the kernels can't be made or run, the others are tried without it.
MaceStatus Tuner::TryValue(const std::vector<Tried *> &tried, size_t value) {
  TrialValues values = Values();
  for (const Tried *entry : tried) {
    values.Set(entry->choice.key, entry->choice.values[value]);
  }
  auto made = bench_->Make(values);
  MaceStatus status = made.status();
  if (IsOk(status)) {
    Measured trial(std::move(made.value()));
    status = trial.WarmUp();
    base_->Forget();
    bool is_promising = true;
    for (int pass = 0; pass < kPasses && is_promising; ++pass) {
      if (!IsOk(status)) break;
      MACE_RETURN_IF_ERROR(base_->Run());
      status = trial.Run();
      if (IsOk(status)) is_promising = AnyIsFaster(tried, trial);
    }
    if (IsOk(status)) {
      Judge(tried, trial, value);
      return MaceStatus();
    }
  }
  VLOG(1) << "tuning: " << StatusMessage(status);
  if (tried.size() == 1) return MaceStatus();
  const auto middle =
      tried.begin() + static_cast<std::ptrdiff_t>(tried.size() / 2);
  MACE_RETURN_IF_ERROR(TryValue({tried.begin(), middle}, value));
  return TryValue({middle, tried.end()}, value);
}

bool Tuner::AnyIsFaster(const std::vector<Tried *> &tried,
                        const Measured &trial) const {
  return std::any_of(tried.begin(), tried.end(), [&](const Tried *entry) {
    return trial.CostOf(entry->choice.key).least <
           base_->CostOf(entry->choice.key).least;
  });
}

void Tuner::Judge(const std::vector<Tried *> &tried,
                  const Measured &trial,
                  size_t value) const {
  for (Tried *entry : tried) {
    const Times before = base_->CostOf(entry->choice.key);
    const Times after = trial.CostOf(entry->choice.key);
    const double ratio = std::max(Ratio(after.least, before.least),
                                  Ratio(after.middle, before.middle));
    if (ratio >= entry->best_ratio) continue;
    entry->best_ratio = ratio;
    entry->best = value;
    entry->gain = before.least - after.least;
  }
}

// Values go back to the guess if they need a program more and save too little
// for that.
MaceStatus Tuner::DropDearPrograms() {
  while (true) {
    const TuningTrial &trial = base_->trial();
    const std::set<std::string> programs = ProgramsOf(trial);
    if (programs.size() <= guessed_programs_.size()) return MaceStatus();
    // Per program that the guess does not need: who needs it.
    std::map<std::string, std::set<std::string>> needed_by;
    for (const TuningChoice &choice : trial.choices()) {
      const auto decided = decided_.find(choice.key);
      if (decided == decided_.end() || decided->second.gain == 0) continue;
      for (size_t i = choice.begin; i < choice.end; ++i) {
        const std::string program = trial.program(i);
        if (guessed_programs_.count(program) == 0) {
          needed_by[program].insert(choice.key);
        }
      }
    }
    const std::set<std::string> *least = nullptr;
    int64_t least_gain = kNever;
    for (const auto &[program, keys] : needed_by) {
      int64_t gain = 0;
      for (const std::string &key : keys) gain += decided_[key].gain;
      if (gain >= least_gain) continue;
      least = &keys;
      least_gain = gain;
    }
    if (least == nullptr ||
        static_cast<double>(least_gain) >= kProgramShare * guessed_total_) {
      return MaceStatus();
    }
    for (const std::string &key : *least) {
      Decided &decided = decided_[key];
      VLOG(1) << "tuning: " << key << " is not worth a program";
      decided.value = decided.choice.guess();
      decided.gain = 0;
    }
    MACE_RETURN_IF_ERROR(MakeBase());
  }
}

// The model with the guesses, and with what was decided.
MaceStatus Tuner::Verify() {
  const auto is_changed = [](const auto &entry) {
    return entry.second.value != entry.second.choice.guess();
  };
  summary_.tuned = decided_.size();
  summary_.changed = static_cast<size_t>(
      std::count_if(decided_.begin(), decided_.end(), is_changed));
  summary_.guess_nanos = summary_.tuned_nanos = base_->Spans().least;
  if (summary_.changed == 0) return MaceStatus();
  TrialValues guesses(&parameters_);
  for (const auto &[key, decided] : decided_) {
    guesses.Set(key, decided.choice.guess());
  }
  MACE_ASSIGN_OR_RETURN(auto made, bench_->Make(guesses));
  Measured guessed(std::move(made));
  MACE_RETURN_IF_ERROR(guessed.WarmUp());
  base_->Forget();
  for (int round = 0; round < kFinalRounds; ++round) {
    for (int pass = 0; pass < kFinalPasses; ++pass) {
      MACE_RETURN_IF_ERROR(guessed.Run());
      MACE_RETURN_IF_ERROR(base_->Run());
    }
    summary_.guess_nanos = guessed.Spans().least;
    summary_.tuned_nanos = base_->Spans().least;
    if (summary_.tuned_nanos <= summary_.guess_nanos) return MaceStatus();
  }
  VLOG(1) << "tuning: the model takes " << summary_.tuned_nanos << " ns, and "
          << summary_.guess_nanos << " ns with the guesses, which stay";
  for (auto &[key, decided] : decided_) {
    decided.value = decided.choice.guess();
  }
  summary_.changed = 0;
  summary_.tuned_nanos = summary_.guess_nanos;
  return MaceStatus();
}

}  // namespace

Result<TuningSummary> TuneModel(TuningBench *bench,
                                double seconds,
                                TunedParameters *parameters) {
  Tuner tuner(bench, seconds, *parameters);
  MACE_RETURN_IF_ERROR(tuner.Run());
  for (const auto &[key, decided] : tuner.decided()) {
    parameters->Insert(decided.choice, decided.value);
  }
  return tuner.summary();
}

}  // namespace mace

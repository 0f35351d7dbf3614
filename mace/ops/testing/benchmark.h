// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Micro-benchmarks of operators and kernels. (OB-01 to OB-04)
//
//   const OpBenchmarks benchmarks(
//       "SOFTMAX", "", {{1, 56, 56, 64}, {1, 7, 7, 1024}},
//       [](op_test::Random *random, const Shape &shape) {
//         return op_test::OpCase("Softmax").Input(random->Floats(shape));
//       });
//
// Benchmarks that differ in more than a shape call RegisterOp for each case.

#ifndef MACE_OPS_TESTING_BENCHMARK_H_
#define MACE_OPS_TESTING_BENCHMARK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mace/kernels/cpu/isa.h"
#include "mace/ops/testing/benchmark.h"
#include "mace/ops/testing/op_case.h"

namespace mace::benchmark {

struct Settings {
  int threads = 1;
  CpuIsa isa = CpuIsa::kNone;
  // Call each body once, to check that it runs; its time means little.
  bool once = false;
};

// Limits of the number of iterations, which is chosen so that a benchmark takes
// about a second.
inline constexpr int64_t kMinIterations = 10;
inline constexpr int64_t kMaxIterations = 1000000000;
inline constexpr int64_t kTargetNanoseconds = 1000000000;

// Iterations for a body that takes `nanoseconds` each.
int64_t ChooseIterations(double nanoseconds);

struct Measurement {
  double nanoseconds = 0;  // per iteration
  int64_t iterations = 0;
  int64_t input_bytes = 0;  // per iteration
  int64_t macs = 0;         // per iteration; 0 if not meaningful
};

// Passed to a benchmark, which prepares its data and calls Measure once.
class State {
 public:
  explicit State(const Settings &settings) : settings_(settings) {}
  const Settings &settings() const { return settings_; }

  // Measures `body`: a few calls to warm up and to choose the number of
  // iterations, then the iterations; or one call, see Settings. Input bytes and
  // macs are per call.
  void Measure(int64_t input_bytes,
               int64_t macs,
               const std::function<void()> &body);
  // The same by the clock of a device: `nanoseconds` makes a call and returns
  // the time that it took there, or a negative number after Fail.
  void MeasureByDevice(int64_t input_bytes,
                       int64_t macs,
                       const std::function<double()> &nanoseconds);
  // Reports that there is nothing to measure; that is no failure.
  void Skip(const std::string &reason) { skipped_ = reason; }
  const std::string &skipped() const { return skipped_; }
  // Reports why the benchmark cannot run.
  void Fail(const std::string &reason) { failure_ = reason; }

  const Measurement &measurement() const { return measurement_; }
  const std::string &failure() const { return failure_; }

 private:
  Settings settings_;
  Measurement measurement_;
  std::string skipped_;
  std::string failure_;
};

using Function = std::function<void(State *)>;
using MakeCase = std::function<op_test::OpCase(op_test::Random *)>;

// Adds a benchmark for Run; called before main.
void Register(const std::string &name, Function function);
// One operator, through its real Init, shape function and Plan; only Run is
// timed. `name`: of OpName. One of floats runs on each other device, too.
void RegisterOp(const std::string &name, MakeCase make);

// A device besides the CPU, which a program has by being linked with it.
struct OpDevice {
  std::string name;  // "GPU"
  // The types of floats by which benchmarks are named, each with the
  // deployment's data type: {"half", "fp16_fp32"}.
  std::vector<std::pair<std::string, std::string>> types;
  std::function<void(
      const op_test::OpCase &op_case, const std::string &data_type, State *)>
      measure;
};

// Called before main.
void AddDevice(OpDevice device);

// Registers one for each of the shapes, as OpName(op, shape, details).
struct OpBenchmarks {
  OpBenchmarks(const std::string &op,
               const std::string &details,
               const std::vector<Shape> &shapes,
               op_test::OpCase (*make)(op_test::Random *, const Shape &));
};

// Adds packed weights at the next port of `op_case`. `type`, which is also used
// in OpName: "float"; "half", "bfloat16" or "int8" for weights stored in these
// types; "fp16" or "bf16" if operators also compute in them (in float32 on a
// processor without the arithmetic).
void AddWeights(const std::string &type,
                const op_test::Value &plain,
                int64_t groups,
                op_test::OpCase *op_case);

// MACE_BM_<op>_<dims>[_<details>]_<type>_<device>, where a shape [N, H, W, C]
// reads N_C_H_W:
//   OpName("CONV_2D", {1, 7, 7, 1024}, "K1x1S1D1_SAME_1024")
//   = "MACE_BM_CONV_2D_1_1024_7_7_K1x1S1D1_SAME_1024_float_CPU"
std::string OpName(const std::string &op,
                   const Shape &shape,
                   const std::string &details,
                   const std::string &type = "float",
                   const std::string &device = "CPU");

// Whether `filter` selects `name`: as a regular expression that matches any
// part of it, or as a shell pattern (* and ?) that matches all of it. Empty
// and "all" select everything. (BA-05)
bool Selects(const std::string &filter, const std::string &name);

// "Benchmark   Time(ns)   Iterations   Input(MB/s)   GMACPS", and a line of it.
std::string Header(size_t name_width);
std::string Line(const std::string &name,
                 size_t name_width,
                 const Measurement &measurement);

// All registered benchmarks, by name.
std::vector<std::pair<std::string, Function>> Registered();

// Runs what the filter selects and prints the table to stdout. Returns the
// number of benchmarks that failed, or -1 if none was selected.
int Run(const std::string &filter, const Settings &settings);

// Part of the benchmark framework: benchmarks of operators on the CPU.

// Of the values of all benchmarks of operators.
inline constexpr uint32_t kSeed = 1;

// RegisterOp, for the CPU alone.
void RegisterOnCpu(const std::string &name, MakeCase make);

}  // namespace mace::benchmark

#endif  // MACE_OPS_TESTING_BENCHMARK_H_

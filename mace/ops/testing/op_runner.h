// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Runs one operator through its real Init, shape function, Plan and Run, under
// the worst conditions that the contract of cpu_op.h allows: poisoned outputs
// and scratch memory between guard zones, inputs of the exact size that must
// not change, work divided into uneven parts that run in random order on random
// threads.

#ifndef MACE_OPS_TESTING_OP_RUNNER_H_
#define MACE_OPS_TESTING_OP_RUNNER_H_

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/kernels/cpu/isa.h"
#include "mace/ops/testing/op_case.h"

namespace mace::op_test {

struct RunOptions {
  CpuIsa isa = BestCpuIsa();
  int threads = 1;
  // The index of the AllowInPlace call of Plan to use; -1 for none.
  int in_place = -1;
  // Make all inputs and outputs strided that may be.
  bool strided = false;
  // Place every input that may be a part of an output in that output.
  bool parts = false;
  // Compute bands of rows one by one, if the operator supports it
  // (row_bands.h).
  bool bands = false;
};

struct OpResult {
  MaceStatus status;
  std::vector<Value> outputs;
  // Of each output: the elements that are planned for it, more than there are
  // if the data determine its shape.
  std::vector<int64_t> planned_elements;
  // (output, input) of every AllowInPlace.
  std::vector<std::pair<size_t, size_t>> in_place;
  bool may_be_strided = false;  // any input or output
  bool may_have_parts = false;
  bool may_run_in_bands = false;
  // Memory for transformed constants: of Init, and of the Plan of this run.
  size_t init_prepared_bytes = 0;
  size_t prepared_bytes = 0;
  // Violations of the contract of cpu_op.h, which are errors whatever the
  // status is; empty if none.
  std::string violation;
  std::string kernel_name;
  int64_t macs = 0;
};

// The engine's checks before an operator is created: ports, types, constants,
// attribute kinds. INVALID_ARGS or UNSUPPORTED names all problems.
MaceStatus CheckAgainstSchema(const OpSchema &schema, const OpCase &op_case);

// An operator that is used for several runs.
class OpSession {
 public:
  // Finds the type among the registered CPU operators, checks the schema, and
  // calls Init.
  OpSession(const OpCase &op_case, const RunOptions &options);
  ~OpSession();

  // Calls the shape function, Plan and Run with the inputs of the case, or with
  // others, of which only computed ones may differ. Outputs larger than
  // kMaxOutputBytes are an error of the test, not of the operator.
  OpResult Run();
  OpResult Run(const std::vector<CaseInput> &inputs);

  static constexpr int64_t kMaxOutputBytes = int64_t{1} << 28;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// One session, one run.
OpResult RunOp(const OpCase &op_case, const RunOptions &options = RunOptions());

// "isa avx2, 3 threads, in place -1, rows apart"
std::string OptionsText(const RunOptions &options);

// Expects that `other` satisfies the contract and has the same status and the
// same bits as `first`; `text` says what differed between the runs.
void ExpectSame(const OpResult &first,
                const OpResult &other,
                const std::string &text);

struct IsaResult {
  CpuIsa isa;
  OpResult result;
};

// The ISAs that this processor can run.
std::vector<CpuIsa> AvailableIsas();

// Runs the case on every available ISA, with 1 and 3 threads, in place wherever
// the operator allows it, and twice in one session. All runs must succeed or
// fail in the same way and give the same bits (checked with EXPECT). Returns
// one result per ISA.
std::vector<IsaResult> RunEverywhere(const OpCase &op_case);

// From now on, RunEverywhere calls `run` once for each case, except those of
// the CPU alone: for a program that runs the cases of the tests in other ways.
// The tests expect the same of each result. `all`: also those of the CPU alone.
void RunCasesBy(std::vector<OpResult> (*run)(const OpCase &op_case),
                bool all = false);

// RunEverywhere must fail with `code` and a message that names the operator and
// contains `text`.
void ExpectError(const OpCase &op_case,
                 MaceStatus::Code code,
                 const std::string &text);

// |actual - expected| <= absolute + relative * |expected|; Inf and NaN must
// match exactly.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

// Compares with EXPECT; reports how many differ and the worst.
void ExpectNear(const std::vector<float> &actual,
                const std::vector<double> &expected,
                const Tolerance &tolerance);

// Calls RunEverywhere, then checks shape and values of output 0 for every ISA.
void ExpectFloats(const OpCase &op_case,
                  const Shape &shape,
                  const std::vector<double> &expected,
                  const Tolerance &tolerance);

// The same for exact results of any type.
void ExpectValue(const OpCase &op_case, const Value &expected);
void ExpectValues(const OpCase &op_case, const std::vector<Value> &expected);

// Of how many cases one is tried in every way, where the processor is emulated,
// which is slow (MACE_TEST_CASES_DIVISOR, from .bazelrc); 1 elsewhere.
inline int CasesDivisor() {
  const char *divisor = std::getenv("MACE_TEST_CASES_DIVISOR");
  return divisor == nullptr ? 1 : std::max(1, std::atoi(divisor));
}

}  // namespace mace::op_test

#endif  // MACE_OPS_TESTING_OP_RUNNER_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Part of the benchmark framework: benchmarks of operators on the CPU.

#ifndef MACE_OPS_TESTING_BENCHMARK_OP_H_
#define MACE_OPS_TESTING_BENCHMARK_OP_H_

#include <cstdint>
#include <string>

#include "mace/ops/testing/benchmark.h"

namespace mace::benchmark {

// Of the values of all benchmarks of operators.
inline constexpr uint32_t kSeed = 1;

// RegisterOp, for the CPU alone.
void RegisterOnCpu(const std::string &name, MakeCase make);

}  // namespace mace::benchmark

#endif  // MACE_OPS_TESTING_BENCHMARK_OP_H_

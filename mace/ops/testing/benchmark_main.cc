// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>

#include <cstdio>
#include <string>

#include "mace/ops/testing/benchmark.h"

int main(int argc, char **argv) {
  constexpr int kBadArguments = 2;
  std::string filter;
  int threads = 1;
  bool list = false;
  CLI::App app("Operator benchmarks of MACE");
  app.add_option("--filter", filter,
                 "Regular expression for a part of the name, or shell pattern "
                 "for all of it");
  app.add_option("--threads", threads, "Threads that an operator may use")
      ->check(CLI::Range(1, 1024));
  bool once = false;
  app.add_flag("--once", once,
               "Run each just once, to see that it runs; what it takes then "
               "says little");
  app.add_flag("--list", list, "Print the names that the filter selects");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : kBadArguments;
  }

  if (list) {
    for (const auto &entry : mace::benchmark::Registered()) {
      if (mace::benchmark::Selects(filter, entry.first)) {
        std::printf("%s\n", entry.first.c_str());
      }
    }
    return 0;
  }
  const mace::CpuIsaChoice choice = mace::ChooseCpuIsaFromEnv();
  if (choice.request == mace::CpuIsaRequest::kUnknown ||
      choice.request == mace::CpuIsaRequest::kUnsupported ||
      choice.isa == mace::CpuIsa::kNone) {
    std::fprintf(stderr,
                 "MACE_CPU_ISA: this processor cannot run it; accepted: %s\n",
                 mace::kCpuIsaNames);
    return kBadArguments;
  }
  mace::benchmark::Settings settings;
  settings.threads = threads;
  settings.once = once;
  settings.isa = choice.isa;
  std::printf("%s, %d thread%s\n", mace::CpuIsaName(settings.isa), threads,
              threads == 1 ? "" : "s");
  const int failed = mace::benchmark::Run(filter, settings);
  if (failed < 0) {
    std::fprintf(stderr,
                 "--filter=%s selects no benchmark; --list prints all names\n",
                 filter.c_str());
    return kBadArguments;
  }
  return failed == 0 ? 0 : 1;
}

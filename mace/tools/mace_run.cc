// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// mace_run: runs a converted model on this machine; time, memory, outputs.
//
//   mace_run --model_file=m.pb --model_data_file=m.data
//       --input_node=input --input_shape=1,224,224,3 --input_file=in
//       --output_node=prob --output_shape=1,1000 --output_file=out
//       --round=10 --benchmark --report_json=report.json

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>

#include "mace/public/mace.h"
#include "mace/tools/console.h"
#include "mace/tools/model_runner.h"
#include "mace/tools/options.h"
#include "mace/tools/tensor_io.h"

namespace mace {
namespace tools {
namespace {

// Other programs parse these lines: their format must not change. (MR-06)
void PrintTimes(const Measurements &measurements) {
  const RestartTimes &times = measurements.restarts.back();
  const double run_ms = times.run_ms.Summarize().avg;
  std::FILE *const out = ResultStream();
  const char rule[] =
      "========================================================";
  std::fprintf(out, "%s\n", rule);
  std::fprintf(out,
               "     capability(CPU)        init      warmup     run_avg\n");
  std::fprintf(out, "%s\n", rule);
  std::fprintf(out, "time %15.3f %11.3f %11.3f %11.3f\n",
               measurements.capability_ms, times.init_ms, times.warmup_ms,
               run_ms);
  std::fflush(out);
}

MaceStatus WriteToStdout(const std::string &text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      std::fflush(stdout) == 0) {
    return MaceStatus::MACE_SUCCESS;
  }
  return MaceStatus(MaceStatus::MACE_RUNTIME_ERROR,
                    "cannot write the report to standard output");
}

int StatusToExit(const MaceStatus &status) {
  switch (status.code()) {
    case MaceStatus::MACE_SUCCESS:
      return kExitSuccess;
    case MaceStatus::MACE_INVALID_ARGS:
    case MaceStatus::MACE_UNSUPPORTED:
      return kExitBadRequest;
    default:
      return kExitFailed;
  }
}

int Main(int argc, const char *const *argv) {
  Options options;
  const ParseOutcome outcome = ParseOptions(argc, argv, &options);
  if (!outcome.run) return outcome.status;
  if (options.vlog_level > 0) {
    setenv("MACE_CPP_MIN_VLOG_LEVEL",
           std::to_string(options.vlog_level).c_str(), 1);
  }
  const bool to_stdout = options.report_json == "-";
  if (to_stdout) KeepStdoutForReport();
  ModelRunner runner(options);
  MaceStatus status = runner.RunAll();
  if (!options.report_json.empty()) {
    const std::string report = JsonReport(options, runner, status);
    const MaceStatus written =
        to_stdout
            ? WriteToStdout(report)
            : WriteFile(options.report_json, report.data(), report.size());
    if (status == MaceStatus::MACE_SUCCESS) status = written;
  }
  if (status != MaceStatus::MACE_SUCCESS) {
    MACE_TOOL_ERROR(status.information());
    return StatusToExit(status);
  }
  if (!options.plan_only) PrintTimes(runner.measurements());
  return kExitSuccess;
}

}  // namespace
}  // namespace tools
}  // namespace mace

int main(int argc, char **argv) {
  try {
    return mace::tools::Main(argc, argv);
  } catch (const std::bad_alloc &) {
    MACE_TOOL_ERROR("out of memory");
  } catch (const std::exception &error) {
    MACE_TOOL_ERROR(std::string("unexpected: ") + error.what());
  }
  return mace::tools::kExitFailed;
}

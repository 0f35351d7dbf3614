// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything mace_run measured, as JSON.

#ifndef MACE_TOOLS_JSON_REPORT_H_
#define MACE_TOOLS_JSON_REPORT_H_

#include <string>

#include "mace/public/mace.h"
#include "mace/tools/model_runner.h"
#include "mace/tools/options.h"

namespace mace {
namespace tools {

// The report of a run that ended with `status`; README.md in this folder
// describes its members. Failed runs have a report, too.
std::string JsonReport(const Options &options,
                       const ModelRunner &runner,
                       const MaceStatus &status);

}  // namespace tools
}  // namespace mace

#endif  // MACE_TOOLS_JSON_REPORT_H_

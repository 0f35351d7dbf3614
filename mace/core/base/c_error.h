// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_C_ERROR_H_
#define MACE_CORE_BASE_C_ERROR_H_

#include <string>

#include "mace/core/base/status.h"
#include "mace/public/mace_c.h"

namespace mace {

// The code of a status, whose message mace_last_error gives from now on: for
// functions of the C interface.
mace_code ReportToC(const MaceStatus &status);

// The message of this thread's last failure; empty before the first.
const std::string &LastErrorOfC();

}  // namespace mace

#endif  // MACE_CORE_BASE_C_ERROR_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/missing_part.h"

namespace mace {

const char kBuiltWithout[] = "this library was built without ";
const char kBuildForThisModel[] =
    "; build it for this model, with `bash tools/build-standalone-lib.sh "
    "-models=FILE.pb,...` naming all models that it is to run";

}  // namespace mace

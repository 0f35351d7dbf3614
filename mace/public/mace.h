// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The C++ interface of MACE: the only header that a C++ application needs. It
// consists of the headers that it includes; each of them can be read, and
// included, by itself.
//
//   std::shared_ptr<mace::MaceEngine> engine;
//   mace::MaceEngineConfig config;
//   config.SetCPUThreadPolicy(4, mace::CPUAffinityPolicy::AFFINITY_BIG_ONLY);
//   mace::MaceStatus status = mace::CreateMaceEngineFromProto(
//       graph, graph_size, weights, weights_size, {"input"}, {"output"},
//       config, &engine);
//   if (status != mace::MaceStatus::MACE_SUCCESS) {
//     // status.information() says what is wrong; use a fallback.
//   }
//   status = engine->Run(inputs, &outputs);
//
// No function of this library ends the process or throws: a function that fails
// returns a MaceStatus. A function that is documented as thread-compatible may
// be called from any thread, but not from two at once on the same object. The
// destructor counts as such a call: if a thread runs an engine, give that
// thread its own copy of the shared_ptr.
//
// After fork() the parent and the child may each run or destroy an engine. The
// child does not inherit the parent's threads, so its first run starts new
// ones; if that fails, it runs on the calling thread and logs a warning. No
// other thread may run or create an engine while fork() is called: the child
// would wait for these threads for ever.

#ifndef MACE_PUBLIC_MACE_H_
#define MACE_PUBLIC_MACE_H_

#include <memory>

#include "mace/public/mace_accelerators.h"  // IWYU pragma: export
#include "mace/public/mace_config.h"        // IWYU pragma: export
#include "mace/public/mace_devices.h"       // IWYU pragma: export
#include "mace/public/mace_engine.h"        // IWYU pragma: export
#include "mace/public/mace_file_system.h"   // IWYU pragma: export
#include "mace/public/mace_gpu.h"           // IWYU pragma: export
#include "mace/public/mace_statistics.h"    // IWYU pragma: export
#include "mace/public/mace_status.h"        // IWYU pragma: export
#include "mace/public/mace_tensor.h"        // IWYU pragma: export

namespace mace {

// Version of the library, e.g. "1.0.0-8-gdeadbee". The text is constant.
MACE_API const char *MaceVersion();

// Sources for release 1.0 call it without std::. (AP-21)
using std::make_unique;

}  // namespace mace

#endif  // MACE_PUBLIC_MACE_H_

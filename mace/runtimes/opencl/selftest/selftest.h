// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Starts the GPU for a model, after its kernels gave the CPU's results
// (kernel_comparison.h), so that a driver with defects can't make a model wrong
// in silence, or crash or stop the application again and again.
//
// When. Once for each model, set of declared input shapes, GPU, driver and
// version of this library; the verdict is kept in the storage path (or the
// application's KVStorage), and later starts only read it. Without storage
// there is no test, because it would run at every start and take as long as
// compiling; MACE_OPENCL_SELF_TEST=1 asks for it in any case (the verdict is
// then kept in the process), =0 for none. What the plan for the declared shapes
// does not have (other shapes, orders of dimensions or sources of kernels, and
// all of a model that declares no shapes) is tested before the first run, in
// this process.
//
// Where. If this process has not opened the driver yet:
//
//   this process ---fork--- supervisor ---fork--- worker
//     opens the driver        sets time limits      opens the driver,
//     meanwhile, then         and starts another    compiles and tests;
//     waits for the           worker, without the   writes a line before and
//     verdict                 kernel, if one ends   after each kernel
//
//   The worker has a driver that it opened itself, so no driver has to survive
//   a fork. Neither child runs anything of the application: all signals have
//   their default actions (crash reporters see nothing), inherited files are
//   closed, there is no core dump, and they end by _exit, or with their parent.
//   fork() in an application with threads leaves locks of other threads
//   locked; malloc's are not among them on Linux and Android. If a child waits
//   for one (an old bionic's loader may), the time limit ends it, and it says
//   nothing about kernels.
//   Guarantee: a wrong result, a crash and a hang (10 s; 60 s for compiling) of
//   a kernel or of the driver's compiler are found before this process runs the
//   kernel.
//
// Otherwise (another engine or GetRuntimeTypes opened the driver, it was
// replaced since the last start, fork fails, or no trivial kernel runs in the
// worker), the test runs in this process. The kernel's name is stored before
// the kernel runs; a name that is found at the next start is that of a crash or
// of a hang.
//   Guarantee: a wrong result is found before the first run; a crash or hang
//   happens once. This needs storage; without it, nothing is tested here.
//
// Verdicts: kernels that crash or hang are not run again: their operators run
// on the CPU; after three of them, the GPU is left out. Wrong results lead to
// float, then to buffers, then to the CPU; see TestKernels.
//
// SIGCHLD: the application gets one when the supervisor ends, as of any child.
// This process waits for the supervisor's process only, and takes all it needs
// to know from a pipe: an application that ignores SIGCHLD, or reaps all
// children itself, changes nothing.

#ifndef MACE_RUNTIMES_OPENCL_SELFTEST_SELFTEST_H_
#define MACE_RUNTIMES_OPENCL_SELFTEST_SELFTEST_H_

#include <memory>
#include <string>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/public/mace_runtime.h"
#include "mace/runtimes/opencl/run/bound_plan.h"
#include "mace/runtimes/opencl/run/gpu_session.h"
#include "mace/runtimes/opencl/selftest/kernel_comparison.h"

namespace mace {

class SelfTest {
 public:
  // `session` is that of `device`, and closed; all must outlive the object.
  SelfTest(GpuSession *session, Device *device, HostDevice *host);
  ~SelfTest();

  // Opens the session and sets its verdict; arguments as of
  // Device::Start. A status says why the GPU can't be used.
  MaceStatus Start(const Graph &graph,
                   const std::vector<Shape> &shapes,
                   const std::vector<std::vector<DeviceType>> &wishes);

  // Before the first run of a plan that is bound to memory: tests, in this
  // process, the variants that are not known to be right. A status names the
  // kernel that is wrong; the next start keeps its operators from the GPU.
  MaceStatus TestNew(BoundPlan *bound);

 private:
  class Children;
  class StoreProgress;

  bool ReadVerdict(std::string *owner, GpuVerdict *verdict);
  void WriteVerdict(const GpuVerdict &verdict);
  MaceStatus Use(const GpuVerdict &verdict);
  void ReadCrashes();
  MaceStatus TestHere(const TestedModel &model);

  GpuSession *session_;
  Device *device_;
  HostDevice *host_;
  std::unique_ptr<KVStorage> stored_;  // null without storage
  KVStorage *table_;
  std::string key_;  // of the model
  KernelResults results_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_SELFTEST_SELFTEST_H_

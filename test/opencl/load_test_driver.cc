// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "test/opencl/load_test_driver.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

namespace mace {
namespace test_opencl {
namespace {

constexpr char kLibrary[] = "test/opencl/libmace_test_opencl.so";
constexpr char kNativeWindow[] = "test/opencl/libmace_test_native_window.so";
// What pocl-opencl-icd installs.
constexpr char kPocl[] = "/etc/OpenCL/vendors/pocl.icd";

bool Exists(const std::string &path) { return access(path.c_str(), R_OK) == 0; }

std::string Environment(const char *name) {
  const char *value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void ChooseTarget() {
  constexpr int kUnlessSet = 0;
  // One driver, so that a computer's other ones do not run the tests by chance.
  if (Exists(kPocl)) setenv("OCL_ICD_VENDORS", kPocl, kUnlessSet);
  // PoCL's own default is below the home, which tests do not have.
  std::string temporary = Environment("TEST_TMPDIR");
  if (temporary.empty()) temporary = "/tmp";
  setenv("POCL_CACHE_DIR", (temporary + "/pocl").c_str(), kUnlessSet);
  // Of the processors of a build machine, two are enough for a test.
  setenv("POCL_MAX_PTHREAD_COUNT", "2", kUnlessSet);
}

// Empty if the library is not beside the program.
std::string PathOf(const char *library) {
  // Bazel's tests start in the folder of their runfiles.
  const std::string folders[] = {Environment("TEST_SRCDIR") + "/mace/", "./",
                                 "bazel-bin/"};
  for (const std::string &folder : folders) {
    if (!Exists(folder + library)) continue;
    char *whole = realpath((folder + library).c_str(), nullptr);
    const std::string path = whole == nullptr ? "" : whole;
    std::free(whole);
    return path;
  }
  return "";
}

}  // namespace

std::string TestDriverPath() { return PathOf(kLibrary); }

const MaceTestOpenclControl *LoadTestDriver(std::string *why) {
  const std::string path = TestDriverPath();
  if (path.empty()) {
    *why = std::string("there is no ") + kLibrary +
           " beside this program; build //test/opencl:libmace_test_opencl.so";
    return nullptr;
  }
  ChooseTarget();
  setenv("MACE_OPENCL_LIBRARY", path.c_str(), 1);
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *why = dlerror();
    return nullptr;
  }
  const auto control = reinterpret_cast<MaceTestOpenclControlFunction>(
      dlsym(library, "mace_test_opencl_control"));
  if (control == nullptr) {
    *why = path + " is not the test driver";
    return nullptr;
  }
  if (const char *error = control()->target_error()) {
    *why = error;
    return nullptr;
  }
  return control();
}

const MaceTestNativeWindow *LoadTestNativeWindow(std::string *why) {
  const std::string path = PathOf(kNativeWindow);
  if (path.empty()) {
    *why = std::string("there is no ") + kNativeWindow + " beside this program";
    return nullptr;
  }
  setenv("MACE_NATIVE_WINDOW_LIBRARY", path.c_str(), 1);
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *why = dlerror();
    return nullptr;
  }
  const auto functions = reinterpret_cast<MaceTestNativeWindowFunction>(
      dlsym(library, "mace_test_native_window"));
  if (functions == nullptr) {
    *why = path + " is not the stand-in";
    return nullptr;
  }
  return functions();
}

std::string Problems(const MaceTestOpenclControl &control) {
  std::string text;
  for (size_t i = 0; i < control.problems(); ++i)
    text += std::string(control.problem(i)) + "\n";
  return text;
}

}  // namespace test_opencl
}  // namespace mace

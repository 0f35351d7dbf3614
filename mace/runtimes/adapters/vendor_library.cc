// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/adapters/vendor_library.h"

#include <dlfcn.h>

#include <cstdlib>

namespace mace {
namespace {

// Empty, or what is wrong.
std::string TryOpen(const char *name,
                    const LibraryFunction *functions,
                    size_t count) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char *error = dlerror();
    return error == nullptr ? std::string(name) : std::string(error);
  }
  for (size_t i = 0; i < count; ++i) {
    const LibraryFunction &function = functions[i];
    *function.address = dlsym(library, function.name);
    if (*function.address == nullptr && function.required) {
      return MakeString(name, " has no ", function.name);
    }
  }
  return std::string();
}

}  // namespace

Result<std::string> OpenLibrary(const LibraryNames &names,
                                const LibraryFunction *functions,
                                size_t count) {
  const char *own = std::getenv(names.variable);
  if (own != nullptr && own[0] != '\0') {
    const std::string problem = TryOpen(own, functions, count);
    if (problem.empty()) return std::string(own);
    return Unsupported("no ", names.what, ": ", names.variable, " names ", own,
                       ", but ", problem);
  }
  std::string problems;
  for (size_t i = 0; i < names.count; ++i) {
    const std::string problem = TryOpen(names.names[i], functions, count);
    if (problem.empty()) return std::string(names.names[i]);
    problems += (problems.empty() ? "" : "; ") + problem;
  }
  return Unsupported("no ", names.what, " on this device; set ", names.variable,
                     " to the path of its library if it has "
                     "one (",
                     problems, ")");
}

}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A vendor's library, which is opened at run time: nothing is linked.

#ifndef MACE_RUNTIMES_ADAPTERS_VENDOR_LIBRARY_H_
#define MACE_RUNTIMES_ADAPTERS_VENDOR_LIBRARY_H_

#include <cstddef>
#include <string>

#include "mace/core/base/status.h"

namespace mace {

// Where a vendor's library may be.
struct LibraryNames {
  const char *what;      // "NeuroPilot", for messages
  const char *variable;  // of the environment: the path of the library
  const char *const *names;
  size_t count;
};

// One function that the library must have, or may have.
struct LibraryFunction {
  const char *name;
  void **address;  // set to the function, or to null
  bool required;
};

// Opens the file that the variable names, or else the first of the names that
// has all required functions; sets the functions. MACE_UNSUPPORTED says what
// was tried and what was wrong with each. A library is never closed: vendors'
// libraries keep threads.
Result<std::string> OpenLibrary(const LibraryNames &names,
                                const LibraryFunction *functions,
                                size_t count);

}  // namespace mace

#endif  // MACE_RUNTIMES_ADAPTERS_VENDOR_LIBRARY_H_

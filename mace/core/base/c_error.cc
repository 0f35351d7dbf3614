// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/c_error.h"

namespace mace {
namespace {

std::string &Message() {
  static thread_local std::string message;
  return message;
}

// The code of a status, whose message is kept.
mace_code Report(const MaceStatus &status) {
  if (IsOk(status)) return MACE_OK;
  try {
    Message() = status.information();
  } catch (...) {
    // Fits the string's own storage, so that it needs no memory.
    Message() = "out of memory";
  }
  return static_cast<mace_code>(status.code());
}

}  // namespace

const std::string &LastErrorOfC() { return Message(); }

MaceStatus IsNull(const char *name) {
  return InvalidArgs("`", name, "` is NULL");
}

mace_code GuardBody(MaceStatus (*body)(const void *), const void *function) {
  try {
    return Report(body(function));
  } catch (...) {
    return Report(CurrentExceptionStatus());
  }
}

}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/status.h"

#include <cstdio>
#include <exception>
#include <new>

namespace mace {
namespace {

const char *CodeName(MaceStatus::Code code) {
  switch (code) {
    case MaceStatus::MACE_SUCCESS:
      return "Success";
    case MaceStatus::MACE_INVALID_ARGS:
      return "Invalid Arguments";
    case MaceStatus::MACE_OUT_OF_RESOURCES:
      return "Out of resources";
    case MaceStatus::MACE_UNSUPPORTED:
      return "Unsupported";
    case MaceStatus::MACE_RUNTIME_ERROR:
      return "Runtime error";
  }
  return "Unknown error";
}

}  // namespace

void MessagePart::AppendTo(std::string *text) const {
  switch (kind_) {
    case Kind::kText:
      text->append(value_.text);
      break;
    case Kind::kString:
      text->append(*value_.string);
      break;
    case Kind::kLetter:
      text->push_back(value_.letter);
      break;
    case Kind::kSigned:
      text->append(std::to_string(value_.integer));
      break;
    case Kind::kUnsigned:
      text->append(std::to_string(value_.natural));
      break;
    case Kind::kReal: {
      // Six digits, as a stream prints them: at most "-1.23457e-308".
      char digits[32];
      std::snprintf(digits, sizeof(digits), "%g", value_.real);
      text->append(digits);
      break;
    }
  }
}

std::string JoinMessage(std::initializer_list<MessagePart> parts) {
  std::string text;
  for (const MessagePart &part : parts) part.AppendTo(&text);
  return text;
}

MaceStatus JoinStatus(MaceStatus::Code code,
                      std::initializer_list<MessagePart> parts) {
  return MaceStatus(code, JoinMessage(parts));
}

MaceStatus::MaceStatus() : code_(MACE_SUCCESS) {}
MaceStatus::MaceStatus(Code code) : code_(code) {}

// If the message can't be stored, the code must still be returned: this happens
// exactly when memory runs out.
MaceStatus::MaceStatus(Code code, std::string information) : code_(code) {
  try {
    message_ = std::make_shared<const std::string>(std::move(information));
  } catch (const std::bad_alloc &) {
    message_.reset();
  }
}

MaceStatus::MaceStatus(const MaceStatus &) = default;
MaceStatus::MaceStatus(MaceStatus &&) noexcept = default;
MaceStatus &MaceStatus::operator=(const MaceStatus &) = default;
MaceStatus &MaceStatus::operator=(MaceStatus &&) noexcept = default;
MaceStatus::~MaceStatus() = default;

MaceStatus::Code MaceStatus::code() const { return code_; }

std::string MaceStatus::information() const {
  try {
    std::string text = CodeName(code_);
    if (message_ != nullptr && !message_->empty()) {
      text += ": ";
      text += *message_;
    }
    return text;
  } catch (...) {
    return std::string();  // no memory for the text
  }
}

bool MaceStatus::operator==(const MaceStatus &other) const {
  return code_ == other.code_;
}
bool MaceStatus::operator!=(const MaceStatus &other) const {
  return code_ != other.code_;
}

std::string StatusMessage(const MaceStatus &status) {
  std::string text = status.information();
  const size_t prefix = std::string(CodeName(status.code())).size() + 2;
  return text.size() > prefix ? text.substr(prefix) : std::string();
}

MaceStatus CurrentExceptionStatus() {
  try {
    throw;
  } catch (const std::bad_alloc &) {
    return MaceStatus(MaceStatus::MACE_OUT_OF_RESOURCES);
  } catch (const std::exception &error) {
    // Only the standard library throws; this library does not.
    try {
      return RuntimeError("unexpected exception: ", error.what());
    } catch (...) {
      return MaceStatus(MaceStatus::MACE_RUNTIME_ERROR);
    }
  } catch (...) {
    return MaceStatus(MaceStatus::MACE_RUNTIME_ERROR);
  }
}

}  // namespace mace

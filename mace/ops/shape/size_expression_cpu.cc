// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/shape/size_expression_schema.h"

namespace mace {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// Quotient and remainder as Python defines them: the remainder has the sign of
// the divisor.
double Mod(double a, double b) {
  if (b == 0 || !std::isfinite(a)) return kNoNumber;
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double FloorDivide(double a, double b) {
  if (b == 0 || !std::isfinite(a)) return kNoNumber;
  const double quotient = (a - Mod(a, b)) / b;
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

// That of double has a version in glibc that toolchains/glibc has no place for.
double Power(double a, double b) {
  return static_cast<double>(std::pow(static_cast<long double>(a), b));
}

struct Function {
  std::string_view name;
  size_t operands;
  double (*compute)(const double *);
};

constexpr Function kFunctions[] = {
    {"add", 2, [](const double *x) { return x[0] + x[1]; }},
    {"sub", 2, [](const double *x) { return x[0] - x[1]; }},
    {"mul", 2, [](const double *x) { return x[0] * x[1]; }},
    {"truediv", 2,
     [](const double *x) {
       return x[1] == 0 || !std::isfinite(x[0]) ? kNoNumber : x[0] / x[1];
     }},
    {"floordiv", 2, [](const double *x) { return FloorDivide(x[0], x[1]); }},
    {"mod", 2, [](const double *x) { return Mod(x[0], x[1]); }},
    {"pow", 2, [](const double *x) { return Power(x[0], x[1]); }},
    {"max", 2, [](const double *x) { return x[1] > x[0] ? x[1] : x[0]; }},
    {"min", 2, [](const double *x) { return x[1] < x[0] ? x[1] : x[0]; }},
    {"lt", 2, [](const double *x) { return x[0] < x[1] ? 1.0 : 0.0; }},
    {"le", 2, [](const double *x) { return x[0] <= x[1] ? 1.0 : 0.0; }},
    {"gt", 2, [](const double *x) { return x[0] > x[1] ? 1.0 : 0.0; }},
    {"ge", 2, [](const double *x) { return x[0] >= x[1] ? 1.0 : 0.0; }},
    {"eq", 2, [](const double *x) { return x[0] == x[1] ? 1.0 : 0.0; }},
    {"ne", 2, [](const double *x) { return x[0] != x[1] ? 1.0 : 0.0; }},
    {"and", 2,
     [](const double *x) { return x[0] != 0 && x[1] != 0 ? 1.0 : 0.0; }},
    {"or", 2,
     [](const double *x) { return x[0] != 0 || x[1] != 0 ? 1.0 : 0.0; }},
    {"neg", 1, [](const double *x) { return -x[0]; }},
    {"trunc", 1, [](const double *x) { return std::trunc(x[0]); }},
    {"floor", 1, [](const double *x) { return std::floor(x[0]); }},
    {"ceil", 1, [](const double *x) { return std::ceil(x[0]); }},
    {"round", 1, [](const double *x) { return std::nearbyint(x[0]); }},
    {"sqrt", 1, [](const double *x) { return std::sqrt(x[0]); }},
    {"not", 1, [](const double *x) { return x[0] == 0 ? 1.0 : 0.0; }},
    {"ite", 3, [](const double *x) { return x[0] != 0 ? x[1] : x[2]; }},
};

// The numbers that the functions to come have as operands.
class Numbers {
 public:
  // False if there are too many.
  bool Push(double number) {
    if (count_ == numbers_.size()) return false;
    numbers_[count_++] = number;
    return true;
  }
  // False if it has more operands than there are numbers.
  bool Apply(const Function &function) {
    if (count_ < function.operands) return false;
    count_ -= function.operands;
    return Push(function.compute(numbers_.data() + count_));
  }
  size_t count() const { return count_; }
  double front() const { return numbers_[0]; }

 private:
  std::array<double, 32> numbers_;
  size_t count_ = 0;
};

// Reads all of `text` as a number of at most `most` digits, 18 or fewer.
bool ReadInteger(std::string_view text, size_t most, int64_t *number) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > most) return false;
  *number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return false;
    *number = 10 * *number + (digit - '0');
  }
  if (negative) *number = -*number;
  return true;
}

bool ReadNumber(std::string_view word, double *number) {
  const size_t at = word.find('p');
  int64_t mantissa;
  int64_t exponent = 0;
  if (!ReadInteger(word.substr(0, at), 18, &mantissa)) return false;
  if (at != std::string_view::npos &&
      !ReadInteger(word.substr(at + 1), 4, &exponent)) {
    return false;
  }
  *number =
      std::ldexp(static_cast<double>(mantissa), static_cast<int>(exponent));
  return true;
}

class SizeExpressionOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<SizeExpressionAttributes>();
    return MaceStatus();
  }

  // What is wrong with the text is found here, too.
  MaceStatus Run(RunContext *context) const override {
    Numbers numbers;
    std::string_view rest = attributes_.expression;
    bool more = true;
    while (more) {
      const size_t space = rest.find(' ');
      const std::string_view word = rest.substr(0, space);
      if (!Take(word, *context, &numbers)) {
        return Invalid("expression has the word '", std::string(word), "'");
      }
      more = space != std::string_view::npos;
      if (more) rest.remove_prefix(space + 1);
    }
    if (numbers.count() != 1) {
      return Invalid("expression leaves ", numbers.count(), " numbers");
    }
    const double found = numbers.front();
    Tensor *output = context->output(0);
    if (!attributes_.whole) {
      *output->MutableAs<float>() = static_cast<float>(found);
      return MaceStatus();
    }
    if (found != std::floor(found) || !(found >= -0x1p31 && found < 0x1p31)) {
      return Invalid("the result is ", found, ", no integer of 32 bits");
    }
    *output->MutableAs<int32_t>() = static_cast<int32_t>(found);
    return MaceStatus();
  }

 private:
  static bool Take(std::string_view word,
                   const RunContext &context,
                   Numbers *numbers) {
    for (const Function &function : kFunctions) {
      if (function.name == word) return numbers->Apply(function);
    }
    double number;
    if (word.empty() || word[0] != '$') {
      return ReadNumber(word, &number) && numbers->Push(number);
    }
    int64_t place;
    if (!ReadInteger(word.substr(1), 4, &place) || place < 0 ||
        static_cast<size_t>(place) >= context.input_count()) {
      return false;
    }
    const Tensor *input = context.input(static_cast<size_t>(place));
    if (input->data_type == DataType::kInt32) {
      return numbers->Push(static_cast<double>(*input->As<int32_t>()));
    }
    return numbers->Push(static_cast<double>(*input->As<float>()));
  }

  SizeExpressionAttributes attributes_;
};

MACE_REGISTER_OP(SizeExpression, CPU, SizeExpressionOp);

}  // namespace
}  // namespace mace

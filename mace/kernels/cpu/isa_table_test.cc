// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/isa_table.h"

#include <string>

#include "gtest/gtest.h"

namespace mace::isa_table_test {

// Stands for the kernels of a family, with one table for every possible copy.
struct Table {
  const char *copy;
};

#define MACE_DEFINE_COPY(name, base) \
  namespace name {                   \
  extern const Table kTable;         \
  const Table kTable = {#name};      \
  }
MACE_FOR_EACH_ISA_AND_BASE(MACE_DEFINE_COPY)
#undef MACE_DEFINE_COPY

// As in a family, before the copies are declared.
MACE_DECLARE_TABLES(BASE, Table, kTable)
MACE_DECLARE_TABLES(FP16, Table, kTable)
MACE_DECLARE_TABLES(INT8, Table, kTable)
MACE_DECLARE_TABLES(BF16, Table, kTable)
MACE_DECLARE_TABLES(BF16_AND_AMX, Table, kTable)

namespace {

std::string Copy(const Table *table) {
  return table == nullptr ? "" : table->copy;
}

std::string Base(CpuIsa isa) {
  return Copy(MACE_FIND_TABLE(BASE, isa, kTable));
}
std::string Fp16(CpuIsa isa) {
  return Copy(MACE_FIND_TABLE(FP16, isa, kTable));
}
std::string Int8(CpuIsa isa) {
  return Copy(MACE_FIND_TABLE(INT8, isa, kTable));
}
std::string Int8OrBase(CpuIsa isa) {
  return Copy(MACE_FIND_TABLE(INT8_OR_BASE, isa, kTable));
}
std::string NoDots(CpuIsa isa) {
  return Copy(MACE_FIND_TABLE(NO_DOTS, isa, kTable));
}
std::string Bf16(CpuIsa isa) {
  return Copy(MACE_FIND_TABLE(BF16, isa, kTable));
}
std::string Bf16AndAmx(CpuIsa isa) {
  return Copy(MACE_FIND_TABLE(BF16_AND_AMX, isa, kTable));
}

struct Isa {
  CpuIsa isa;
  std::string name;
  std::string base;
};

const Isa kIsas[] = {
#define MACE_ISA_ROW(name, base) {CpuIsa::name, #name, #base},
    MACE_FOR_EACH_ISA_AND_BASE(MACE_ISA_ROW)
#undef MACE_ISA_ROW
};

TEST(IsaTable, ExtensionsFindTheirBase) {
  for (const Isa &isa : kIsas) EXPECT_EQ(Base(isa.isa), isa.base) << isa.name;
}

TEST(IsaTable, OnlyIsasWithTheArithmeticFindKernelsOf16Bits) {
  for (const Isa &isa : kIsas) {
    SCOPED_TRACE(isa.name);
    EXPECT_EQ(Fp16(isa.isa), HasFp16(isa.isa) ? "neon_fp16" : "");
    EXPECT_EQ(Bf16(isa.isa), HasBf16(isa.isa) ? "avx512_bf16" : "");
    EXPECT_EQ(Bf16AndAmx(isa.isa), HasBf16(isa.isa) ? isa.name : "");
  }
}

TEST(IsaTable, ProductsOfInt8AreTheLastExtensionThatHasThem) {
  for (const Isa &isa : kIsas) {
    std::string copy;
    if (isa.base == "avx512" && isa.name != "avx512") copy = "avx512_vnni";
    if (isa.name == "neon_dotprod" || isa.name == "avx2_vnni") copy = isa.name;
    EXPECT_EQ(Int8(isa.isa), copy) << isa.name;
    EXPECT_EQ(Int8OrBase(isa.isa), copy.empty() ? isa.base : copy) << isa.name;
  }
}

TEST(IsaTable, WithoutProductsOfInt8ABaseIsFoundOrWhatItRunsInstead) {
  for (const Isa &isa : kIsas) {
    const std::string copy = isa.name == "avx512" ? "avx2" : isa.base;
    EXPECT_EQ(NoDots(isa.isa), Int8(isa.isa).empty() ? copy : "") << isa.name;
  }
}

TEST(IsaTable, NoIsaFindsNone) {
  EXPECT_EQ(Int8(CpuIsa::kNone), "");
  EXPECT_EQ(Int8OrBase(CpuIsa::kNone), "");
  EXPECT_EQ(NoDots(CpuIsa::kNone), "");
  EXPECT_EQ(Base(CpuIsa::kNone), "");
  EXPECT_EQ(Fp16(CpuIsa::kNone), "");
  EXPECT_EQ(Bf16(CpuIsa::kNone), "");
  EXPECT_EQ(Bf16AndAmx(CpuIsa::kNone), "");
}

}  // namespace
}  // namespace mace::isa_table_test

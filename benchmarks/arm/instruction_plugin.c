// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A plugin of QEMU's user-mode emulation that counts executed instructions by
// class, by function of the executable, and between marks.
//
// A block of guest code is looked at once, when it is translated; executing it
// then costs one addition. Counts are exact while one thread runs at a time;
// threads that run together may lose increments of a block that they share.
//
// Marks: the guest calls close(0x4D414345), which fails and is harmless. Each
// mark reports the instructions since the one before it.
//
// Arguments: out=FILE for the results, as one JSON object per line, and
// hottest=N for the N blocks that executed most instructions.
//
// The functions used are those of the plugin API, version 1 (QEMU 4.2 to 8.2);
// they are declared here, since few systems package its header.

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t PluginId;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef struct {
  const char *target_name;
  int min_version;
  int version;
  bool system_emulation;
} PluginInfo;

void qemu_plugin_register_vcpu_tb_trans_cb(
    PluginId id, void (*call)(PluginId, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
                                          void (*call)(unsigned, void *),
                                          int flags,
                                          void *data);
void qemu_plugin_register_vcpu_syscall_cb(PluginId id,
                                          void (*call)(PluginId,
                                                       unsigned,
                                                       int64_t,
                                                       uint64_t,
                                                       uint64_t,
                                                       uint64_t,
                                                       uint64_t,
                                                       uint64_t,
                                                       uint64_t,
                                                       uint64_t,
                                                       uint64_t));
void qemu_plugin_register_atexit_cb(PluginId id,
                                    void (*call)(PluginId, void *),
                                    void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(
    const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *insn);

EXPORT int qemu_plugin_version = 1;

// ---- classes ---------------------------------------------------------------

// The order of counts.py.
enum Class {
  kFmla,      // vector multiply-accumulate of fp32 or fp64
  kFmlaHalf,  // of fp16
  kFmadd,     // scalar
  kDot,       // of 8-bit integers or bf16, several products per lane
  kMla,       // of integers
  kSimd,      // all other work on SIMD registers
  kLoadSimd,
  kStoreSimd,
  kLoad,
  kStore,
  kBranch,  // and system instructions
  kInteger,
  kOther,  // SVE, unknown, and everything of a 32-bit guest
  kClasses
};
static const char *const kClassNames[kClasses] = {
    "fmla",   "fmla_half", "fmadd",      "dot",  "mla",
    "simd",   "load_simd", "store_simd", "load", "store",
    "branch", "integer",   "other"};

// Encodings by "Arm Architecture Reference Manual for A-profile", C4.1.
typedef struct {
  uint32_t mask;
  uint32_t value;
  enum Class which;
} Encoding;
static const Encoding kEncodings[] = {
    {0xbf20fc00, 0x0e20cc00, kFmla},      // FMLA, FMLS
    {0xbf80b400, 0x0f801000, kFmla},      // by element
    {0xbf60fc00, 0x0e400c00, kFmlaHalf},  // FMLA, FMLS
    {0xbfc0b400, 0x0f001000, kFmlaHalf},  // by element
    {0xbf60fc00, 0x0e20ec00, kFmlaHalf},  // FMLAL, FMLSL
    {0xbf60fc00, 0x2e20cc00, kFmlaHalf},  // FMLAL2, FMLSL2
    {0xbfc0b400, 0x0f800000, kFmlaHalf},  // FMLAL, FMLSL by element
    {0xbfc0b400, 0x2f808000, kFmlaHalf},  // FMLAL2, FMLSL2 by element
    {0xff000000, 0x1f000000, kFmadd},     // FMADD, FMSUB, FNMADD, FNMSUB
    {0xff00b400, 0x5f001000, kFmadd},     // FMLA, FMLS of one element
    {0x9fe0fc00, 0x0e809400, kDot},       // SDOT, UDOT
    {0xbfe0fc00, 0x0e809c00, kDot},       // USDOT
    {0x9fc0f400, 0x0f80e000, kDot},       // SDOT, UDOT by element
    {0xbf40f400, 0x0f00f000, kDot},       // SUDOT, USDOT by element
    {0xdfe0fc00, 0x4e80a400, kDot},       // SMMLA, UMMLA
    {0xffe0fc00, 0x4e80ac00, kDot},       // USMMLA
    {0xffe0fc00, 0x6e40ec00, kDot},       // BFMMLA
    {0xbf60fc00, 0x2e40fc00, kDot},       // BFDOT, BFMLALB, BFMLALT
    {0xbf40f400, 0x0f40f000, kDot},       // by element
    {0x9f20fc00, 0x0e209400, kMla},       // MLA, MLS
    {0xbf00b400, 0x2f000000, kMla},       // by element
    {0x9f20dc00, 0x0e208000, kMla},       // SMLAL, UMLAL, SMLSL, UMLSL
    {0x9f00b400, 0x0f002000, kMla},       // by element
};

static enum Class MemoryClass(uint32_t word) {
  const bool simd = (word >> 26 & 1) != 0;
  bool load = (word >> 22 & 1) != 0;
  if ((word & 0x3b000000) == 0x18000000) {
    load = true;  // of a literal
  } else if ((word & 0x3a000000) == 0x38000000 && !simd) {
    const bool atomic = (word & 0x01200c00) == 0x00200000;
    load = atomic || (word >> 22 & 3) != 0;
  }
  if (simd) return load ? kLoadSimd : kStoreSimd;
  return load ? kLoad : kStore;
}

static enum Class ClassOf(uint32_t word) {
  switch (word >> 25 & 15) {
    case 4:
    case 6:
    case 12:
    case 14:
      return MemoryClass(word);
    case 5:
    case 8:
    case 9:
    case 13:
      return kInteger;
    case 7:
    case 15:
      break;
    case 10:
    case 11:
      return kBranch;
    default:
      return kOther;
  }
  for (size_t i = 0; i < sizeof(kEncodings) / sizeof(kEncodings[0]); ++i) {
    if ((word & kEncodings[i].mask) == kEncodings[i].value) {
      return kEncodings[i].which;
    }
  }
  return kSimd;
}

// ---- blocks ----------------------------------------------------------------

typedef struct Block {
  struct Block *next;
  uint64_t executed;
  uint64_t executed_at_first_mark;
  uint64_t executed_at_mark;  // the latest
  uint64_t address;
  const char *symbol;  // owned by QEMU; null if it has none
  size_t size;
  uint32_t *words;  // null for a 32-bit guest
  uint32_t counts[kClasses];
} Block;

typedef struct {
  uint64_t of[kClasses];
} Counts;

static Block *g_blocks;  // pushed by any thread, never removed
static FILE *g_out;
static size_t g_hottest;
static bool g_wide;  // a 64-bit guest
static size_t g_marks;
static Counts g_last;

static void OnExecute(unsigned vcpu, void *data) {
  (void)vcpu;
  ++((Block *)data)->executed;
}

static void OnTranslate(PluginId id, struct qemu_plugin_tb *tb) {
  (void)id;
  Block *block = calloc(1, sizeof(*block));
  if (block == NULL) abort();
  block->size = qemu_plugin_tb_n_insns(tb);
  block->address = qemu_plugin_tb_vaddr(tb);
  if (g_wide) block->words = calloc(block->size, sizeof(uint32_t));
  for (size_t i = 0; i < block->size; ++i) {
    const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
    if (i == 0) block->symbol = qemu_plugin_insn_symbol(insn);
    if (block->words == NULL) {
      ++block->counts[kOther];
      continue;
    }
    memcpy(&block->words[i], qemu_plugin_insn_data(insn), sizeof(uint32_t));
    ++block->counts[ClassOf(block->words[i])];
  }
  block->next = __atomic_load_n(&g_blocks, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&g_blocks, &block->next, block, false,
                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
  qemu_plugin_register_vcpu_tb_exec_cb(tb, OnExecute, 0, block);
}

// ---- reports ---------------------------------------------------------------

static Counts Total(void) {
  Counts sum = {{0}};
  for (Block *b = g_blocks; b != NULL; b = b->next) {
    for (int c = 0; c < kClasses; ++c) sum.of[c] += b->executed * b->counts[c];
  }
  return sum;
}

static void WriteCounts(const char *type,
                        const Counts *to,
                        const Counts *from) {
  fprintf(g_out, "{\"type\":\"%s\"", type);
  for (int c = 0; c < kClasses; ++c) {
    fprintf(g_out, ",\"%s\":%" PRIu64, kClassNames[c], to->of[c] - from->of[c]);
  }
  fputs("}\n", g_out);
}

static void OnSystemCall(PluginId id,
                         unsigned vcpu,
                         int64_t number,
                         uint64_t a1,
                         uint64_t a2,
                         uint64_t a3,
                         uint64_t a4,
                         uint64_t a5,
                         uint64_t a6,
                         uint64_t a7,
                         uint64_t a8) {
  const int64_t close_number = g_wide ? 57 : 6;
  if (number != close_number || (uint32_t)a1 != 0x4d414345u) return;
  const Counts now = Total();
  WriteCounts("mark", &now, &g_last);
  g_last = now;
  for (Block *b = g_blocks; b != NULL; b = b->next) {
    b->executed_at_mark = b->executed;
    if (g_marks == 0) b->executed_at_first_mark = b->executed;
  }
  ++g_marks;
}

// Instructions of a block: between the first and the last mark, if there are
// two, else of the whole run.
static uint64_t Weight(const Block *b) {
  const uint64_t executed =
      g_marks < 2 ? b->executed
                  : b->executed_at_mark - b->executed_at_first_mark;
  return executed * b->size;
}

static int Heavier(const void *a, const void *b) {
  const uint64_t x = Weight(*(Block *const *)a);
  const uint64_t y = Weight(*(Block *const *)b);
  return x < y ? 1 : x > y ? -1 : 0;
}

static void WriteBlock(const Block *b) {
  fprintf(g_out,
          "{\"type\":\"block\",\"function\":\"%s\",\"instructions\":%" PRIu64,
          b->symbol == NULL ? "" : b->symbol, Weight(b));
  uint32_t macs = 0;
  for (int c = 0; c <= kMla; ++c) macs += b->counts[c];
  fprintf(g_out, ",\"address\":%" PRIu64, b->address);
  fprintf(g_out, ",\"size\":%zu,\"macs\":%" PRIu32 ",\"words\":[", b->size,
          macs);
  for (size_t i = 0; b->words != NULL && i < b->size; ++i) {
    fprintf(g_out, "%s%" PRIu32, i == 0 ? "" : ",", b->words[i]);
  }
  fputs("]}\n", g_out);
}

static void OnExit(PluginId id, void *data) {
  static const Counts kNone;
  const Counts total = Total();
  size_t count = 0;
  for (Block *b = g_blocks; b != NULL; b = b->next) ++count;
  Block **blocks = calloc(count + 1, sizeof(*blocks));
  if (blocks == NULL) abort();
  size_t i = 0;
  for (Block *b = g_blocks; b != NULL; b = b->next) blocks[i++] = b;
  qsort(blocks, count, sizeof(*blocks), Heavier);
  for (i = 0; i < count && i < g_hottest && Weight(blocks[i]) > 0; ++i) {
    WriteBlock(blocks[i]);
  }
  // Last, so that a file without it is known to be cut off.
  WriteCounts("total", &total, &kNone);
  fclose(g_out);
}

EXPORT int qemu_plugin_install(PluginId id,
                               const PluginInfo *info,
                               int argc,
                               char **argv) {
  for (int i = 0; i < argc; ++i) {
    if (strncmp(argv[i], "out=", 4) == 0) {
      g_out = fopen(argv[i] + 4, "we");
    } else if (strncmp(argv[i], "hottest=", 8) == 0) {
      g_hottest = strtoul(argv[i] + 8, NULL, 10);
    } else {
      fprintf(stderr, "instruction_plugin: unknown argument %s\n", argv[i]);
      return -1;
    }
  }
  if (g_out == NULL) {
    fprintf(stderr, "instruction_plugin: out= names no file to write\n");
    return -1;
  }
  g_wide = strcmp(info->target_name, "aarch64") == 0;
  qemu_plugin_register_vcpu_tb_trans_cb(id, OnTranslate);
  qemu_plugin_register_vcpu_syscall_cb(id, OnSystemCall);
  qemu_plugin_register_atexit_cb(id, OnExit, NULL);
  return 0;
}

/* Copyright 2026 The MACE Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A plugin of QEMU that counts the packets that a Hexagon program executes, and
 * those that multiply by vrmpy. Built by packets.py:
 *
 *   cc -O2 -shared -fPIC -o packets.so packets.c
 *
 * The functions of the plugin interface that it needs are declared here
 * (version 1, QEMU 4.2 to 8.2), so that no header of QEMU has to be installed.
 * QEMU translates a packet as one instruction. Prints "packets N one N two N":
 * all, and those with one and with two vrmpy; and "thread I packets N" for each
 * thread, the first of which is 0.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
typedef void (*vcpu_udata_cb)(unsigned int vcpu, void *data);
typedef void (*udata_cb)(qemu_plugin_id_t id, void *data);
typedef void (*tb_trans_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_trans_cb cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
                                          vcpu_udata_cb cb,
                                          enum qemu_plugin_cb_flags flags,
                                          void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
                                    udata_cb cb,
                                    void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(
    const struct qemu_plugin_tb *tb, size_t index);
char *qemu_plugin_insn_disas(const struct qemu_plugin_insn *insn);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

struct counts {
  uint64_t packets, one, two;
};
/* Of each thread, which alone changes them. */
enum { MOST_THREADS = 64 };
static struct {
  struct counts counts;
  char unshared[64];
} threads[MOST_THREADS];

static void executed(unsigned int vcpu, void *data) {
  const struct counts *block = data;
  struct counts *total;
  if (vcpu >= MOST_THREADS) abort();
  total = &threads[vcpu].counts;
  total->packets += block->packets;
  total->one += block->one;
  total->two += block->two;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
  /* Lives as long as the program, as the code does. */
  struct counts *block = calloc(1, sizeof *block);
  (void)id;
  if (block == NULL) abort();
  block->packets = qemu_plugin_tb_n_insns(tb);
  for (size_t i = 0; i < block->packets; ++i) {
    char *text = qemu_plugin_insn_disas(qemu_plugin_tb_get_insn(tb, i));
    const char *first = strstr(text, "vrmpy");
    if (first != NULL) {
      if (strstr(first + 1, "vrmpy") != NULL) {
        ++block->two;
      } else {
        ++block->one;
      }
    }
    free(text);
  }
  qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, QEMU_PLUGIN_CB_NO_REGS,
                                       block);
}

static void ended(qemu_plugin_id_t id, void *data) {
  (void)id;
  (void)data;
  struct counts total = {0, 0, 0};
  for (int i = 0; i < MOST_THREADS; ++i) {
    const struct counts *of_thread = &threads[i].counts;
    if (of_thread->packets == 0) continue;
    fprintf(stderr, "thread %d packets %" PRIu64 "\n", i, of_thread->packets);
    total.packets += of_thread->packets;
    total.one += of_thread->one;
    total.two += of_thread->two;
  }
  fprintf(stderr, "packets %" PRIu64 " one %" PRIu64 " two %" PRIu64 "\n",
          total.packets, total.one, total.two);
}

__attribute__((visibility("default"))) int qemu_plugin_install(
    qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv) {
  (void)info;
  (void)argc;
  (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}

/* Copyright 2026 The MACE Authors */
/* SPDX-License-Identifier: Apache-2.0 */

/* An application in C outside of Bazel: the library loads, answers, and reports
 * a file that is no model as an error instead of ending the process. */

#include <stdio.h>
#include <string.h>

#include "mace/public/mace_c.h"

static int failures = 0;

static void Expect(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "expected: %s\n", what);
  ++failures;
}

int main(void) {
  unsigned char no_model[100];
  mace_model model = {0};
  mace_gpu gpu = {0};
  mace_config *config = NULL;
  mace_engine *engine = NULL;

  Expect(strlen(mace_version()) > 0, "a version");
  Expect(mace_config_create(&config) == MACE_OK, "a configuration");
  Expect(mace_config_set_cpu_threads(config, 1, MACE_AFFINITY_NONE) == MACE_OK,
         "one thread");
  gpu.storage_path = "/nonexistent";
  Expect(mace_config_set_gpu(config, &gpu) == MACE_OK, "settings of the GPU");

  memset(no_model, 0xFF, sizeof(no_model));
  model.graph = no_model;
  model.graph_size = sizeof(no_model);
  Expect(mace_engine_create(&model, config, &engine) == MACE_ERROR_INVALID_ARGS,
         "MACE_ERROR_INVALID_ARGS");
  Expect(strlen(mace_last_error()) > 0, "a reason");
  Expect(engine == NULL, "no engine");

  mace_engine_destroy(engine);
  mace_config_destroy(config);
  printf("libmace %s: %d failures\n", mace_version(), failures);
  return failures == 0 ? 0 : 1;
}

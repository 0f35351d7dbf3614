/* Copyright 2026 The MACE Authors */
/* SPDX-License-Identifier: Apache-2.0 */

/* The shortest complete application in C: loads a converted model, feeds it
 * one input of zeros and prints the largest element of its output.
 *
 *   example_c model.pb model.data input 1,224,224,3 output 1,1000 */

#include <stdio.h>
#include <stdlib.h>

#include "mace/public/mace_c.h"

/* Reads "1,224,224,3" into the tensor and gives it zeros; 0 on failure. */
static int prepare(const char *name, const char *shape, mace_tensor *tensor) {
  size_t count = 1;
  char *end = NULL;
  tensor->name = name;
  tensor->type = MACE_TYPE_FLOAT;
  tensor->format = MACE_FORMAT_NHWC;
  tensor->rank = 0;
  while (*shape != '\0') {
    const long long dim = strtoll(shape, &end, 10);
    if (end == shape || dim <= 0 || tensor->rank == MACE_MAX_RANK) return 0;
    tensor->dims[tensor->rank++] = dim;
    count *= (size_t)dim;
    shape = *end == ',' ? end + 1 : end;
  }
  tensor->bytes = count * sizeof(float);
  tensor->data = calloc(count, sizeof(float));
  return tensor->data != NULL;
}

/* The whole file, or NULL. */
static void *read_file(const char *path, size_t *size) {
  void *bytes = NULL;
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  if (fseek(file, 0, SEEK_END) == 0) {
    const long length = ftell(file);
    rewind(file);
    bytes = length > 0 ? malloc((size_t)length) : NULL;
    if (bytes != NULL) {
      *size = fread(bytes, 1, (size_t)length, file);
    }
  }
  fclose(file);
  return bytes;
}

static int run(mace_engine *engine, mace_tensor *input, mace_tensor *output) {
  const float *values = output->data;
  size_t count = 1;
  size_t best = 0;
  size_t i;
  if (mace_engine_run(engine, input, 1, output, 1) != MACE_OK) {
    fprintf(stderr, "%s\n", mace_last_error());
    return 1;
  }
  for (i = 0; i < output->rank; ++i) count *= (size_t)output->dims[i];
  for (i = 1; i < count; ++i) {
    if (values[i] > values[best]) best = i;
  }
  printf("largest of %zu elements: [%zu] = %g\n", count, best,
         (double)values[best]);
  return 0;
}

int main(int argc, char **argv) {
  mace_model model = {0};
  mace_tensor input = {0};
  mace_tensor output = {0};
  mace_engine *engine = NULL;
  void *graph;
  const char *names[2];
  int status = 1;

  if (argc != 7) {
    fprintf(stderr,
            "usage: %s model.pb model.data input 1,224,224,3 output 1,1000\n",
            argv[0]);
    return 2;
  }
  names[0] = argv[3];
  names[1] = argv[5];

  /* 1. The model: the graph in memory, the weights mapped. */
  graph = read_file(argv[1], &model.graph_size);
  model.graph = graph;
  model.weights_path = argv[2];
  model.inputs = &names[0];
  model.input_count = 1;
  model.outputs = &names[1];
  model.output_count = 1;

  /* 2. Inputs and outputs; the same buffers serve every run. */
  if (graph == NULL) {
    fprintf(stderr, "cannot read %s\n", argv[1]);
  } else if (!prepare(names[0], argv[4], &input)) {
    fprintf(stderr, "no input can have the shape %s\n", argv[4]);
  } else if (!prepare(names[1], argv[6], &output)) {
    fprintf(stderr, "no output can have the shape %s\n", argv[6]);
  } else if (mace_engine_create(&model, NULL, &engine) != MACE_OK) {
    /* 3. The engine, with default settings. */
    fprintf(stderr, "%s\n", mace_last_error());
  } else {
    /* 4. Run. */
    status = run(engine, &input, &output);
  }

  mace_engine_destroy(engine);
  free(output.data);
  free(input.data);
  free(graph);
  return status;
}

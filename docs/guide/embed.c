/* Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
 * Two ranks send each token to its one expert and back, on emulated devices; the experts leave the rows as they are. */
#include <interlock/interlock.h>
#include <stdio.h>
#include <string.h>
enum { ranks = 2, tokens = 4, hidden = 64 };
#define CHECK(call) if ((call) != ILK_OK) return fprintf(stderr, "%s\n", ilk_message()), 1

int main(void) {
  static float rows[ranks][tokens * hidden], back[ranks][tokens * hidden], weights[tokens] = {1, 1, 1, 1};
  static const int32_t ids[tokens] = {0, 1, 1, 0}; /* expert e lives on rank e */
  ilk_driver_options emulator = {.size = sizeof emulator, .kind = ILK_DRIVER_EMULATOR, .devices = ranks};
  ilk_layer layer = {.size = sizeof layer, .ranks = ranks, .experts = ranks, .topk = 1, .hidden = hidden,
                     .dtype = ILK_F32, .max_tokens = tokens};
  ilk_driver *driver; ilk_cache *cache; ilk_operation *moe; ilk_routing *routing[ranks];
  ilk_stream stream[ranks]; ilk_address x, i, w, out;
  CHECK(ilk_driver_open(&emulator, &driver));
  CHECK(ilk_cache_open(NULL, &cache));
  CHECK(ilk_operation_create(driver, cache, &layer, NULL, &moe));
  for (uint32_t r = 0; r < ranks; ++r) {
    for (int n = 0; n < tokens * hidden; ++n) rows[r][n] = (float)(1000 * r + n);
    CHECK(ilk_driver_stream_create(driver, r, &stream[r]));
    CHECK(ilk_driver_allocate(driver, r, sizeof rows[r], &x));
    CHECK(ilk_driver_allocate(driver, r, sizeof ids, &i));
    CHECK(ilk_driver_allocate(driver, r, sizeof weights, &w));
    CHECK(ilk_driver_allocate(driver, r, sizeof back[r], &out));
    CHECK(ilk_driver_copy_in(driver, stream[r], x, rows[r], sizeof rows[r]));
    CHECK(ilk_driver_copy_in(driver, stream[r], i, ids, sizeof ids));
    CHECK(ilk_driver_copy_in(driver, stream[r], w, weights, sizeof weights));
    ilk_dispatch_arguments send = {.size = sizeof send, .x = x, .ids = i, .weights = w, .tokens = tokens};
    CHECK(ilk_operation_dispatch(moe, r, stream[r], &send, &routing[r]));
    ilk_landed at = {.size = sizeof at};
    CHECK(ilk_operation_landed(moe, routing[r], &at)); /* the experts would run here, on the same stream */
    CHECK(ilk_driver_copy(driver, stream[r], at.expert_out, at.rows, ranks * at.rows_per_source * at.row_stride));
    ilk_combine_arguments gather = {.size = sizeof gather, .out = out, .tokens = tokens};
    CHECK(ilk_operation_combine(moe, r, stream[r], routing[r], &gather));
    CHECK(ilk_driver_copy_out(driver, stream[r], back[r], out, sizeof back[r]));
  }
  for (uint32_t r = 0; r < ranks; ilk_routing_destroy(routing[r++])) CHECK(ilk_driver_synchronize(driver, stream[r]));
  ilk_operation_destroy(moe), ilk_cache_close(cache), ilk_driver_close(driver);
  return memcmp(rows, back, sizeof rows) ? puts("expected every token as it was sent"), 1 : 0;
}

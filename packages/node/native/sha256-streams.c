/*
 * sha2-256 of several streams at once on one core, by the SHA instructions of x86-64.
 *
 * A round waits for the one before it, so a single stream leaves the SHA unit idle half of the time. Here the rounds of
 * two streams alternate, and two take little longer than one. A stream is a sequence of messages. Between two calls its
 * state lies in a typed array that JavaScript owns, so nothing is left to free.
 *
 * See FIPS 180-4 for the function, and Intel's "SHA Extensions" for the instructions.
 */
/* For madvise. */
#define _DEFAULT_SOURCE
#include <cpuid.h>
#include <node_api.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "part-digests.h"
#include "sha256-lanes.h"

/* How long two streams stay together where there are more: 16 KiB, so that what one has read is near for the next. */
enum { TURN_BLOCKS = 256 };

WITH_SHA static void compress_one(uint32_t *h, const uint8_t *blocks, size_t count) {
  struct lane lane = load_words(h);
  for (; count > 0; count -= 1, blocks += BLOCK_BYTES) {
    const struct lane before = lane;
#define ONE(group) four_rounds(&lane, blocks, group);
    ALL_GROUPS(ONE)
    add_words(&lane, before);
  }
  store_words(h, &lane);
}

WITH_SHA static void compress_two(uint32_t *h, const uint8_t *blocks, uint32_t *other_h, const uint8_t *other_blocks,
                                  size_t count) {
  struct lane lane = load_words(h), other = load_words(other_h);
  for (; count > 0; count -= 1, blocks += BLOCK_BYTES, other_blocks += BLOCK_BYTES) {
    const struct lane before = lane, other_before = other;
#define BOTH(group) four_rounds(&lane, blocks, group); four_rounds(&other, other_blocks, group);
    ALL_GROUPS(BOTH)
    add_words(&lane, before);
    add_words(&other, other_before);
  }
  store_words(h, &lane);
  store_words(other_h, &other);
}

/* ---- Streams ---- */

/* What JavaScript keeps of a stream from call to call; zeros are a fresh one. The tail makes no whole block yet. */
struct state {
  uint32_t h[WORDS];
  uint64_t length;
  uint8_t tail[BLOCK_BYTES];
};

/* Bytes of a message. With a place for the digest they are its last, and another message begins behind them. */
struct part {
  uint8_t *bytes, *digest;
  size_t length;
};

struct stream {
  struct state state;
  /* Where JavaScript keeps the state. */
  uint8_t *kept;
  struct part *parts, *part, *end;
  /* Whole blocks that come next. */
  const uint8_t *blocks;
  size_t count;
  /* The end of a message: its tail, a one bit, zeros and the length. */
  uint8_t padding[2 * BLOCK_BYTES];
  int is_padded;
  /* Bytes to go; only to choose who is next. */
  size_t left;
};

static void begin_message(struct state *state) {
  memcpy(state->h, FIRST, sizeof FIRST);
  state->length = 0;
}

static void pad(struct stream *stream) {
  const size_t held = stream->state.length % BLOCK_BYTES;
  const uint64_t bits = stream->state.length * 8;
  stream->count = held < BLOCK_BYTES - sizeof bits ? 1 : 2;
  stream->blocks = stream->padding;
  memset(stream->padding, 0, sizeof stream->padding);
  memcpy(stream->padding, stream->state.tail, held);
  stream->padding[held] = 0x80;
  uint8_t *end = stream->padding + stream->count * BLOCK_BYTES;
  for (int i = 1; i <= 8; i += 1) end[-i] = (uint8_t)(bits >> (8 * (i - 1)));
  stream->is_padded = 1;
}

static void end_message(struct stream *stream) {
  uint8_t *digest = stream->part->digest;
  for (int i = 0; i < DIGEST_BYTES; i += 1) digest[i] = (uint8_t)(stream->state.h[i / 4] >> (24 - 8 * (i % 4)));
  begin_message(&stream->state);
  stream->is_padded = 0;
  stream->part += 1;
}

/* Goes on to the next whole blocks; there are none behind the last part. The blocks before must have been taken. */
static void find_blocks(struct stream *stream) {
  struct state *state = &stream->state;
  while (stream->count == 0 && stream->part < stream->end) {
    struct part *part = stream->part;
    const size_t held = state->length % BLOCK_BYTES;
    size_t taken = 0;
    if (stream->is_padded) {
      end_message(stream);
    } else if (part->length == 0) {
      if (part->digest == NULL) stream->part += 1;
      else pad(stream);
    } else if (held == 0 && part->length >= BLOCK_BYTES) {
      stream->blocks = part->bytes;
      stream->count = part->length / BLOCK_BYTES;
      taken = stream->count * BLOCK_BYTES;
    } else {
      taken = part->length < BLOCK_BYTES - held ? part->length : BLOCK_BYTES - held;
      memcpy(state->tail + held, part->bytes, taken);
      stream->blocks = state->tail;
      stream->count = held + taken == BLOCK_BYTES;
    }
    part->bytes += taken;
    part->length -= taken;
    state->length += taken;
  }
}

static void take_blocks(struct stream *stream, size_t count) {
  const size_t taken = count * BLOCK_BYTES;
  stream->blocks += taken;
  stream->count -= count;
  stream->left -= taken < stream->left ? taken : stream->left;
}

/* The two streams with the most to go are always the next, so that none is left alone before the end. */
static void run_streams(struct stream *streams, size_t stream_count) {
  for (;;) {
    struct stream *most = NULL, *second = NULL;
    for (struct stream *next = streams; next < streams + stream_count; next += 1) {
      find_blocks(next);
      if (next->count == 0) continue;
      if (most == NULL || next->left > most->left) {
        second = most;
        most = next;
      } else if (second == NULL || next->left > second->left) {
        second = next;
      }
    }
    if (most == NULL) return;
    size_t count = most->count;
    if (second == NULL) {
      compress_one(most->state.h, most->blocks, count);
    } else {
      if (second->count < count) count = second->count;
      if (count > TURN_BLOCKS) count = TURN_BLOCKS;
      compress_two(most->state.h, most->blocks, second->state.h, second->blocks, count);
      take_blocks(second, count);
    }
    take_blocks(most, count);
  }
}

/* ---- Node-API ---- */

/* Reads a Uint8Array or Buffer, of memory that threads may share. */
static int read_bytes(napi_env env, napi_value array, uint32_t at, uint8_t **bytes, size_t *length) {
  napi_value value;
  napi_typedarray_type type;
  return napi_get_element(env, array, at, &value) == napi_ok &&
         napi_get_typedarray_info(env, value, &type, length, (void **)bytes, NULL, NULL) == napi_ok &&
         type == napi_uint8_array;
}

/* Reads `[state, bytes, digest, bytes, digest, ...]`. */
static int read_stream(napi_env env, napi_value queue, struct stream *stream) {
  uint32_t length;
  size_t state_length, digest_length;
  if (napi_get_array_length(env, queue, &length) != napi_ok || length % 2 != 1) return 0;
  if (!read_bytes(env, queue, 0, &stream->kept, &state_length) || state_length != sizeof stream->state) return 0;
  memcpy(&stream->state, stream->kept, sizeof stream->state);
  if (stream->state.length == 0) begin_message(&stream->state);
  stream->parts = stream->part = stream->end = calloc(length, sizeof *stream->parts);
  if (stream->parts == NULL) return 0;
  for (uint32_t at = 1; at < length; at += 2, stream->end += 1) {
    struct part *part = stream->end;
    if (!read_bytes(env, queue, at, &part->bytes, &part->length)) return 0;
    if (!read_bytes(env, queue, at + 1, &part->digest, &digest_length)) return 0;
    if (digest_length == 0) part->digest = NULL;
    else if (digest_length != DIGEST_BYTES) return 0;
    stream->left += part->length;
  }
  return 1;
}

/* run(queues): takes the bytes of all queues, writes digests and states. Throws before it writes anything. */
static napi_value run(napi_env env, napi_callback_info info) {
  size_t argument_count = 1;
  napi_value queues, queue;
  uint32_t count = 0, read = 0;
  int is_read = napi_get_cb_info(env, info, &argument_count, &queues, NULL, NULL) == napi_ok &&
                napi_get_array_length(env, queues, &count) == napi_ok;
  struct stream *streams = calloc((size_t)count + 1, sizeof *streams);
  is_read = is_read && streams != NULL;
  for (; is_read && read < count; read += 1)
    is_read = napi_get_element(env, queues, read, &queue) == napi_ok && read_stream(env, queue, &streams[read]);
  if (is_read) {
    run_streams(streams, count);
    for (uint32_t at = 0; at < count; at += 1) memcpy(streams[at].kept, &streams[at].state, sizeof streams[at].state);
  } else {
    napi_throw_type_error(env, NULL, "These are not queues of sha2-256 streams");
  }
  for (uint32_t at = 0; at < read; at += 1) free(streams[at].parts);
  free(streams);
  return NULL;
}

static int has_sha_instructions(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1)) return 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1u << 29));
}

/* ---- The memory of the process ---- */

#ifdef __GLIBC__
#include <malloc.h>
/* Left alone, glibc has an arena for each thread and raises the size from which a block is given back to the system at once. */
enum { MAX_ARENAS = 2, MAPPED_FROM_BYTES = 1 << 20 };
#endif

/* Has memory that is freed go back to the system; does nothing where the C library is not glibc. */
static napi_value return_memory(napi_env env, napi_callback_info info) {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, MAX_ARENAS);
  mallopt(M_MMAP_THRESHOLD, MAPPED_FROM_BYTES);
  mallopt(M_TRIM_THRESHOLD, MAPPED_FROM_BYTES);
#endif
  return NULL;
}

/* Gives memory back to the system that is free now, also between what is in use. */
static napi_value trim_memory(napi_env env, napi_callback_info info) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  return NULL;
}

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

/* Gives the whole pages of a typed array back to the system; does nothing where that is not Linux. */
static napi_value discard_pages(napi_env env, napi_callback_info info) {
  napi_value view;
  size_t count = 1, length;
  void *data;
  if (napi_get_cb_info(env, info, &count, &view, NULL, NULL) != napi_ok || count != 1 ||
      napi_get_typedarray_info(env, view, NULL, &length, &data, NULL, NULL) != napi_ok) {
    napi_throw_type_error(env, NULL, "This is not a typed array");
    return NULL;
  }
#ifdef __linux__
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t from = ((uintptr_t)data + page - 1) / page * page;
  const uintptr_t to = ((uintptr_t)data + length) / page * page;
  /* A page that is not given back costs memory, and nothing else. */
  if (to > from) madvise((void *)from, to - from, MADV_DONTNEED);
#endif
  return NULL;
}

/* Exports what is about memory, and on a processor with the instructions what hashes. */
NAPI_MODULE_INIT() {
  const napi_property_descriptor properties[] = {
      {.utf8name = "returnMemory", .method = return_memory, .attributes = napi_enumerable},
      {.utf8name = "trimMemory", .method = trim_memory, .attributes = napi_enumerable},
      {.utf8name = "discardPages", .method = discard_pages, .attributes = napi_enumerable},
      {.utf8name = "run", .method = run, .attributes = napi_enumerable},
      {.utf8name = "digestParts", .method = digest_parts, .attributes = napi_enumerable},
  };
  if (napi_define_properties(env, exports, has_sha_instructions() ? 5 : 3, properties) != napi_ok)
    napi_throw_error(env, NULL, "The addon cannot be set up");
  return exports;
}

/*
 * md5 and sha2-256 of the same bytes in one pass, of one part or of two at once, on a thread of libuv.
 *
 * A step of md5 waits for the one before it and leaves most of a core idle, more so than a round of sha2-256. Here the steps of one or two
 * parts alternate with the rounds of sha2-256, which then cost next to nothing beside md5; and two parts take a little longer than one.
 *
 * See RFC 1321 for md5.
 */
#include "part-digests.h"

#include <stdlib.h>
#include <string.h>

#include "sha256-lanes.h"

enum { MD5_WORDS = 4, MD5_BYTES = 16, MOST_PARTS = 2 };
/* What JavaScript reads of a part: its md5, and behind it its sha2-256. */
enum { DIGESTS_BYTES = MD5_BYTES + DIGEST_BYTES };

/* ---- md5 ---- */

struct md5 {
  uint32_t a, b, c, d;
};

#define ROTATED(x, bits) (((x) << (bits)) | ((x) >> (32 - (bits))))
#define ROUND_F(a, b, c, d, x, k, bits) a += ((((c) ^ (d)) & (b)) ^ (d)) + (x) + k; a = ROTATED(a, bits) + b;
/* The two terms have no bit in common, so that a sum does for an or, and only one of them waits for the step before. */
#define ROUND_G(a, b, c, d, x, k, bits) a += ((c) & ~(d)) + (x) + k; a += (b) & (d); a = ROTATED(a, bits) + b;
#define ROUND_H(a, b, c, d, x, k, bits) a += ((b) ^ ((c) ^ (d))) + (x) + k; a = ROTATED(a, bits) + b;
#define ROUND_I(a, b, c, d, x, k, bits) a += ((c) ^ ((b) | ~(d))) + (x) + k; a = ROTATED(a, bits) + b;

/* Four steps, after which the names are where they were. */
#define FOUR_STEPS(on, round, b0, b1, b2, b3, x0, k0, x1, k1, x2, k2, x3, k3) \
  on(round, a, b, c, d, x0, k0, b0) on(round, d, a, b, c, x1, k1, b1) \
  on(round, c, d, a, b, x2, k2, b2) on(round, b, c, d, a, x3, k3, b3)
#define F(on, ...) FOUR_STEPS(on, ROUND_F, 7, 12, 17, 22, __VA_ARGS__)
#define G(on, ...) FOUR_STEPS(on, ROUND_G, 5, 9, 14, 20, __VA_ARGS__)
#define H(on, ...) FOUR_STEPS(on, ROUND_H, 4, 11, 16, 23, __VA_ARGS__)
#define I(on, ...) FOUR_STEPS(on, ROUND_I, 6, 10, 15, 21, __VA_ARGS__)

#define MD5_FIRST(on) \
  F(on, 0, 0xd76aa478, 1, 0xe8c7b756, 2, 0x242070db, 3, 0xc1bdceee) \
  F(on, 4, 0xf57c0faf, 5, 0x4787c62a, 6, 0xa8304613, 7, 0xfd469501) \
  F(on, 8, 0x698098d8, 9, 0x8b44f7af, 10, 0xffff5bb1, 11, 0x895cd7be) \
  F(on, 12, 0x6b901122, 13, 0xfd987193, 14, 0xa679438e, 15, 0x49b40821)
#define MD5_SECOND(on) \
  G(on, 1, 0xf61e2562, 6, 0xc040b340, 11, 0x265e5a51, 0, 0xe9b6c7aa) \
  G(on, 5, 0xd62f105d, 10, 0x02441453, 15, 0xd8a1e681, 4, 0xe7d3fbc8) \
  G(on, 9, 0x21e1cde6, 14, 0xc33707d6, 3, 0xf4d50d87, 8, 0x455a14ed) \
  G(on, 13, 0xa9e3e905, 2, 0xfcefa3f8, 7, 0x676f02d9, 12, 0x8d2a4c8a)
#define MD5_THIRD(on) \
  H(on, 5, 0xfffa3942, 8, 0x8771f681, 11, 0x6d9d6122, 14, 0xfde5380c) \
  H(on, 1, 0xa4beea44, 4, 0x4bdecfa9, 7, 0xf6bb4b60, 10, 0xbebfbc70) \
  H(on, 13, 0x289b7ec6, 0, 0xeaa127fa, 3, 0xd4ef3085, 6, 0x04881d05) \
  H(on, 9, 0xd9d4d039, 12, 0xe6db99e5, 15, 0x1fa27cf8, 2, 0xc4ac5665)
#define MD5_FOURTH(on) \
  I(on, 0, 0xf4292244, 7, 0x432aff97, 14, 0xab9423a7, 5, 0xfc93a039) \
  I(on, 12, 0x655b59c3, 3, 0x8f0ccc92, 10, 0xffeff47d, 1, 0x85845dd1) \
  I(on, 8, 0x6fa87e4f, 15, 0xfe2ce6e0, 6, 0xa3014314, 13, 0x4e0811a1) \
  I(on, 4, 0xf7537e82, 11, 0xbd3af235, 2, 0x2ad7d2bb, 9, 0xeb86d391)

INLINED uint32_t word(const uint8_t *block, int index) {
  uint32_t value;
  memcpy(&value, block + 4 * index, sizeof value);
  return value;
}

INLINED void add_md5(struct md5 *md5, struct md5 before) {
  md5->a += before.a;
  md5->b += before.b;
  md5->c += before.c;
  md5->d += before.d;
}

/* ---- One and two parts ---- */

struct part {
  const uint8_t *bytes;
  size_t length;
  struct md5 md5;
  uint32_t sha256[WORDS];
};

/* Always inlined with constants for what is to be done: blocks of one part or two, by md5, sha2-256 or both. */
INLINED void take_blocks(struct part *one, const uint8_t *at, struct part *two, const uint8_t *at_two, size_t count,
                         int with_md5, int with_sha256) {
  struct md5 m = one->md5, n = {0};
  struct lane x = load_words(one->sha256), y = x;
  if (two != NULL) {
    n = two->md5;
    y = load_words(two->sha256);
  }
  for (; count > 0; count -= 1, at += BLOCK_BYTES, at_two += BLOCK_BYTES) {
    const struct md5 m_before = m, n_before = n;
    const struct lane x_before = x, y_before = y;
#define STEP(round, a, b, c, d, index, k, bits) \
  round(m.a, m.b, m.c, m.d, word(at, index), k, bits) \
  if (two != NULL) { round(n.a, n.b, n.c, n.d, word(at_two, index), k, bits) }
#define GROUP(group) four_rounds(&x, at, group); if (two != NULL) four_rounds(&y, at_two, group);
    if (with_md5) { MD5_FIRST(STEP) }
    if (with_sha256) { FOUR_TIMES(GROUP, 0) }
    if (with_md5) { MD5_SECOND(STEP) }
    if (with_sha256) { FOUR_TIMES(GROUP, 4) }
    if (with_md5) { MD5_THIRD(STEP) }
    if (with_sha256) { FOUR_TIMES(GROUP, 8) }
    if (with_md5) { MD5_FOURTH(STEP) }
    if (with_sha256) { FOUR_TIMES(GROUP, 12) }
    add_md5(&m, m_before);
    add_md5(&n, n_before);
    add_words(&x, x_before);
    add_words(&y, y_before);
  }
  if (with_md5) one->md5 = m;
  if (with_sha256) store_words(one->sha256, &x);
  if (two == NULL) return;
  if (with_md5) two->md5 = n;
  if (with_sha256) store_words(two->sha256, &y);
}

WITH_SHA static void md5_of_one(struct part *one, const uint8_t *at, size_t count) {
  take_blocks(one, at, NULL, at, count, 1, 0);
}
WITH_SHA static void sha256_of_one(struct part *one, const uint8_t *at, size_t count) {
  take_blocks(one, at, NULL, at, count, 0, 1);
}
WITH_SHA static void both_of_one(struct part *one, const uint8_t *at, size_t count) {
  take_blocks(one, at, NULL, at, count, 1, 1);
}
WITH_SHA static void md5_of_two(struct part *one, struct part *two, size_t count) {
  take_blocks(one, one->bytes, two, two->bytes, count, 1, 0);
}
WITH_SHA static void both_of_two(struct part *one, struct part *two, size_t count) {
  take_blocks(one, one->bytes, two, two->bytes, count, 1, 1);
}

/* Takes the blocks behind `done`, and the end: a one bit, zeros and the length, which the two functions write the other way round. */
static void finish(struct part *part, size_t done, int with_sha256) {
  const uint8_t *at = part->bytes + done * BLOCK_BYTES;
  const size_t count = part->length / BLOCK_BYTES - done, rest = part->length % BLOCK_BYTES;
  if (with_sha256) both_of_one(part, at, count);
  else md5_of_one(part, at, count);
  uint8_t end[2 * BLOCK_BYTES] = {0};
  memcpy(end, at + count * BLOCK_BYTES, rest);
  end[rest] = 0x80;
  const size_t blocks = rest < BLOCK_BYTES - 8 ? 1 : 2;
  const uint64_t bits = (uint64_t)part->length * 8;
  uint8_t *length = end + blocks * BLOCK_BYTES - 8;
  for (int i = 0; i < 8; i += 1) length[i] = (uint8_t)(bits >> (8 * i));
  md5_of_one(part, end, blocks);
  if (!with_sha256) return;
  for (int i = 0; i < 8; i += 1) length[i] = (uint8_t)(bits >> (56 - 8 * i));
  sha256_of_one(part, end, blocks);
}

static void write_digests(const struct part *part, uint8_t *digests) {
  const uint32_t md5[MD5_WORDS] = {part->md5.a, part->md5.b, part->md5.c, part->md5.d};
  for (int i = 0; i < MD5_BYTES; i += 1) digests[i] = (uint8_t)(md5[i / 4] >> (8 * (i % 4)));
  for (int i = 0; i < DIGEST_BYTES; i += 1)
    digests[MD5_BYTES + i] = (uint8_t)(part->sha256[i / 4] >> (24 - 8 * (i % 4)));
}

/* ---- Node-API ---- */

struct job {
  napi_async_work work;
  /* Keeps the bytes and the digests where they are: `[digests, onEnd, part, part]`. */
  napi_ref held;
  struct part parts[MOST_PARTS];
  uint32_t count;
  uint8_t *digests;
  bool with_sha256;
};

/* On a thread of libuv. */
static void execute(napi_env env, void *data) {
  struct job *job = data;
  struct part *one = &job->parts[0], *two = &job->parts[1];
  size_t together = 0;
  for (uint32_t at = 0; at < job->count; at += 1) {
    job->parts[at].md5 = (struct md5){0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    memcpy(job->parts[at].sha256, FIRST, sizeof FIRST);
  }
  if (job->count == 2) {
    together = (one->length < two->length ? one->length : two->length) / BLOCK_BYTES;
    if (job->with_sha256) both_of_two(one, two, together);
    else md5_of_two(one, two, together);
  }
  for (uint32_t at = 0; at < job->count; at += 1) finish(&job->parts[at], together, job->with_sha256);
}

static void complete(napi_env env, napi_status status, void *data) {
  struct job *job = data;
  napi_value held, on_end, nobody;
  if (status == napi_ok)
    for (uint32_t at = 0; at < job->count; at += 1) write_digests(&job->parts[at], job->digests + at * DIGESTS_BYTES);
  const bool is_found = napi_get_reference_value(env, job->held, &held) == napi_ok &&
                        napi_get_element(env, held, 1, &on_end) == napi_ok && napi_get_undefined(env, &nobody) == napi_ok;
  napi_delete_reference(env, job->held);
  napi_delete_async_work(env, job->work);
  free(job);
  if (is_found && status == napi_ok) napi_call_function(env, nobody, on_end, 0, NULL, NULL);
}

static bool read_bytes(napi_env env, napi_value value, uint8_t **bytes, size_t *length) {
  napi_typedarray_type type;
  return napi_get_typedarray_info(env, value, &type, length, (void **)bytes, NULL, NULL) == napi_ok &&
         type == napi_uint8_array;
}

/* Reads the arguments, whose bytes stay where they are while the array of them is held. */
static bool read_job(napi_env env, const napi_value arguments[4], struct job *job) {
  size_t length;
  napi_value held, part;
  napi_valuetype type;
  if (napi_get_array_length(env, arguments[0], &job->count) != napi_ok) return false;
  if (job->count < 1 || job->count > MOST_PARTS) return false;
  if (napi_create_array_with_length(env, 2 + job->count, &held) != napi_ok) return false;
  for (uint32_t at = 0; at < job->count; at += 1) {
    if (napi_get_element(env, arguments[0], at, &part) != napi_ok) return false;
    if (!read_bytes(env, part, (uint8_t **)&job->parts[at].bytes, &job->parts[at].length)) return false;
    if (napi_set_element(env, held, 2 + at, part) != napi_ok) return false;
  }
  if (!read_bytes(env, arguments[1], &job->digests, &length) || length != job->count * DIGESTS_BYTES) return false;
  if (napi_get_value_bool(env, arguments[2], &job->with_sha256) != napi_ok) return false;
  if (napi_typeof(env, arguments[3], &type) != napi_ok || type != napi_function) return false;
  return napi_set_element(env, held, 0, arguments[1]) == napi_ok && napi_set_element(env, held, 1, arguments[3]) == napi_ok &&
         napi_create_reference(env, held, 1, &job->held) == napi_ok;
}

napi_value digest_parts(napi_env env, napi_callback_info info) {
  napi_value arguments[4], name;
  size_t count = 4;
  struct job *job = calloc(1, sizeof *job);
  if (job == NULL || napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok || count != 4 ||
      !read_job(env, arguments, job)) {
    free(job);
    napi_throw_type_error(env, NULL, "These are not parts with a place for their digests");
    return NULL;
  }
  if (napi_create_string_utf8(env, "digestParts", NAPI_AUTO_LENGTH, &name) == napi_ok &&
      napi_create_async_work(env, NULL, name, execute, complete, job, &job->work) == napi_ok) {
    if (napi_queue_async_work(env, job->work) == napi_ok) return NULL;
    napi_delete_async_work(env, job->work);
  }
  napi_delete_reference(env, job->held);
  free(job);
  napi_throw_error(env, NULL, "No thread takes these parts");
  return NULL;
}

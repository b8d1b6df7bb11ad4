/*
 * The compression function of sha2-256 by the SHA instructions of x86-64, in steps of four rounds, so that whoever includes this can do
 * other work between them: a round waits for the one before it.
 *
 * See FIPS 180-4 for the function, and Intel's "SHA Extensions" for the instructions.
 */
#ifndef SHA256_LANES_H
#define SHA256_LANES_H
#include <immintrin.h>
#include <stdint.h>

#define WITH_SHA __attribute__((target("sha,sse4.1,ssse3")))
#define INLINED static inline __attribute__((always_inline)) WITH_SHA

enum { BLOCK_BYTES = 64, DIGEST_BYTES = 32, WORDS = 8 };

static const uint32_t K[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};

static const uint32_t FIRST[WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/* ---- The compression function ---- */

/* One block of one stream on its way: the working variables as the instructions want them, and the last 16 words. */
struct lane {
  __m128i abef, cdgh, w[4];
};

INLINED struct lane load_words(const uint32_t *h) {
  return (struct lane){.abef = _mm_set_epi32((int)h[0], (int)h[1], (int)h[4], (int)h[5]),
                       .cdgh = _mm_set_epi32((int)h[2], (int)h[3], (int)h[6], (int)h[7])};
}

INLINED void store_words(uint32_t *h, const struct lane *lane) {
  uint32_t abef[4], cdgh[4];
  _mm_storeu_si128((__m128i *)abef, lane->abef);
  _mm_storeu_si128((__m128i *)cdgh, lane->cdgh);
  for (int i = 0; i < 2; i += 1) {
    h[i] = abef[3 - i];
    h[2 + i] = cdgh[3 - i];
    h[4 + i] = abef[1 - i];
    h[6 + i] = cdgh[1 - i];
  }
}

/* Four rounds. Always inlined with a constant `group` of 0 to 15, so that the words stay in registers. */
INLINED void four_rounds(struct lane *lane, const uint8_t *block, int group) {
  __m128i *w = lane->w;
  const int at = group % 4;
  if (group < 4) {
    const __m128i big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    w[at] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)block + group), big_endian);
  } else {
    const __m128i last = w[(at + 3) % 4], seven_back = _mm_alignr_epi8(last, w[(at + 2) % 4], 4);
    const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[at], w[(at + 1) % 4]), seven_back);
    w[at] = _mm_sha256msg2_epu32(sum, last);
  }
  const __m128i wk = _mm_add_epi32(w[at], _mm_load_si128((const __m128i *)K + group));
  /* Two rounds make a new ABEF of both, and the old ABEF is the new CDGH: the names swap, and swap back. */
  lane->cdgh = _mm_sha256rnds2_epu32(lane->cdgh, lane->abef, wk);
  lane->abef = _mm_sha256rnds2_epu32(lane->abef, lane->cdgh, _mm_shuffle_epi32(wk, 0x0e));
}

INLINED void add_words(struct lane *lane, struct lane before) {
  lane->abef = _mm_add_epi32(lane->abef, before.abef);
  lane->cdgh = _mm_add_epi32(lane->cdgh, before.cdgh);
}

#define FOUR_TIMES(step, first) step((first)) step((first) + 1) step((first) + 2) step((first) + 3)
#define ALL_GROUPS(step) FOUR_TIMES(step, 0) FOUR_TIMES(step, 4) FOUR_TIMES(step, 8) FOUR_TIMES(step, 12)

#endif

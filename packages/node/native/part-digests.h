#ifndef PART_DIGESTS_H
#define PART_DIGESTS_H
#include <node_api.h>

/* digestParts(parts, digests, withSha256, onEnd): see part-digests.c. */
napi_value digest_parts(napi_env env, napi_callback_info info);

#endif

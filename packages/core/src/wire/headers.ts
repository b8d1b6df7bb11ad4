/** Header names of this API, lower case as Node gives them; each has a meaning of its own here. */
export const HEADER = {
  filename: 'x-filename',
  visibility: 'x-visibility',
  termDays: 'x-term-days',
  claimDigest: 'x-claim-digest',
  idempotencyKey: 'idempotency-key',
  requestId: 'x-request-id',
  cid: 'x-cid',
  ipfsPath: 'x-ipfs-path',
  ipfsRoots: 'x-ipfs-roots',
  rateLimitLimit: 'x-ratelimit-limit',
  rateLimitRemaining: 'x-ratelimit-remaining',
  rateLimitReset: 'x-ratelimit-reset',
} as const

/** The media type that clients give to parts, which listings leave out unless they are asked for it. */
export const PART_MEDIA_TYPE = 'application/vnd.lade.part'

/** Bytes of the secret of a claim, at least and at most. */
export const CLAIM_SECRET_BYTES = { min: 16, max: 64 } as const

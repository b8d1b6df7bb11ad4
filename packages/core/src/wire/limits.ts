/** 1 MB is 1,048,576 bytes everywhere in this API, so `quotaMb: 1024` is 1 GiB. */
export const BYTES_PER_MB = 1_048_576

/** The JSON bodies of this API are small; more than this is refused before it is read. */
export const MAX_JSON_BYTES = 65_536

/** The request line and the headers together. */
export const MAX_HEAD_BYTES = 16_384

/** The largest body that has no `Content-Length`: as much as 10,000 parts of an S3 store hold. */
export const UNKNOWN_LENGTH_MAX_BYTES = 48 * 1024 ** 3

/** The largest page of `GET /api/files`. */
export const MAX_FILES_PER_PAGE = 1000

/** The largest page of `GET /api/deals`. */
export const MAX_DEALS_PER_PAGE = 1000

/** The longest time within which `GET /api/files` looks for the ends of files, in days. */
export const MAX_ENDS_WITHIN_DAYS = 3650

/** How many days of usage are shown at most. */
export const MAX_USAGE_DAYS = 90

/** What a deal may be shown as. */
export const DEAL_STATUSES = ['staged', 'proposed', 'active', 'expiring', 'failed', 'expired', 'removed'] as const

/** The same for a file; a part of a composed file has no deal of its own. */
export const FILE_STATUSES = [...DEAL_STATUSES, 'composed'] as const

/** What a token allows by default, in the order in which it lists them. */
export const SCOPES = ['put', 'get', 'list', 'pin'] as const
export type CallerScope = (typeof SCOPES)[number]

/** All that a token may allow. `admin` is for operators: only `lade keys mint` gives it. */
export const TOKEN_SCOPES = [...SCOPES, 'admin'] as const
export type Scope = (typeof TOKEN_SCOPES)[number]

/** How many seconds from now a share link may live: at most 30 days. */
export const MAX_SHARE_SECONDS = 30 * 86_400

/** Token lifetime where the signup does not ask for a shorter one, and the most that it may ask for. */
export const DEFAULT_TOKEN_DAYS = 365

/** How many provers a file may be asked to be held by. */
export const MAX_COPIES = 16

/** Characters of the nonce of a challenge. */
export const MAX_NONCE_LENGTH = 128

/** How many times one /64's share the /64s of one /48 have together, of whatever is shared out. A /48 has 65,536 of them. */
export const NETWORK_SHARES = 16

/** What stands for the line before the first one of the audit log. */
export const FIRST_AUDIT_PREVIOUS = '0'.repeat(64)

import { bytesText, comparedBytes, countText, waitText } from './amounts-text.ts'
import { choiceText } from './choice-text.ts'
import type { ErrorCode, ErrorEvidence, LimitEvidence } from './error-evidence.ts'

/** The codes whose evidence always has a `reason`, which is their sentence for people. */
type ReasonedCode = {
  [Code in ErrorCode]: ErrorEvidence[Code] extends { readonly reason: string } ? Code : never
}[ErrorCode]
/** `gone` has a reason that is a word for programs, and a prover's reason leaves out what became of the upload. */
type OwnSentence = 'gone' | 'unreachable' | 'stage_failed' | 'caller_blocked'

type Details = {
  readonly [Code in Exclude<ErrorCode, Exclude<ReasonedCode, OwnSentence>>]: (evidence: ErrorEvidence[Code]) => string
}

const SIGN_UP = 'Get one with `lade login` or POST /api/auth/signup.'
const NEW_CODE = 'Get a new code with POST /api/auth/start.'

/**
 * What is wrong with this request, with its numbers and names, and what to do next: one sentence or a few, for a person.
 *
 * A sentence stands by itself. It does not repeat the title of its code, and fits two lines of a terminal unless a name in it is long.
 */
const DETAILS: Details = {
  headers_too_large: ({ limitBytes }) =>
    `The request line and the headers have more than ${countText(limitBytes, 'byte')} or 256 lines. Send fewer or shorter headers.`,
  body_timeout: ({ receivedBytes }) =>
    `The body stalled or was too slow after ${countText(receivedBytes, 'byte')}. Nothing was stored. Send it again.`,
  request_timeout: () => 'The headers were not complete after 10 seconds. Send the request again.',
  expectation_failed: ({ expect }) => `Expect is ${quoted(expect)}. Send "Expect: 100-continue" or no Expect header.`,
  misdirected_request: ({ host }) =>
    `Host is ${quoted(host)}, which is not a name of this service. The operator can add the name to LADE_TRUSTED_HOSTS.`,
  length_required: () =>
    'Transfer-Encoding: chunked is accepted only for the body of an upload to /api/upload or /api/tus. Send Content-Length instead.',
  no_body: () =>
    'The request has no body: it has neither Content-Length nor Transfer-Encoding. Send the bytes of the file as its body.',
  empty_body: () => 'The body is empty, but the cid is not the cid of an empty file. Send the bytes of the file.',
  invalid_cursor: () =>
    'The cursor is not a nextCursor that this service returned to you. Leave it out to get the first page.',
  idempotency_key_reused: () => 'The key belongs to a request with other values. Send a new key with each new request.',
  not_found: ({ reason }) =>
    reason ??
    'Nothing is stored here under this id. For a private file of yours, send your token with the scope get, or use a share link.',
  method_not_allowed: ({ allow, method, hint }) =>
    `Use ${choiceText(allow)} here${method === undefined ? '' : `, not ${method}`}.${hint === undefined ? '' : ` ${hint}`}`,
  internal_error: () =>
    'The service failed in an unforeseen way. Try again. If it fails again, give the operator the request id.',
  no_token: ({ reason }) =>
    reason ?? `There is no Authorization header. Send "Authorization: Bearer pk_live_…". ${SIGN_UP}`,
  invalid_token: ({ reason }) =>
    reason ??
    `The token is damaged, or was signed with a key that is no longer used. Copy it again, or get a new one with \`lade login\` or POST /api/auth/signup.`,
  revoked_token: ({ jti }) =>
    `The token ${jti} was revoked. Get a new one with \`lade login\` or POST /api/auth/signup.`,
  insufficient_scope: ({ required, scopes }) => {
    const has = scopes && `; the token has ${scopes.length === 0 ? 'no scopes' : scopes.join(', ')}`
    const next =
      required === 'admin'
        ? 'The operator creates a token with it: lade keys mint --scopes admin.'
        : `Create a token with the scope ${required}.`
    return `This request needs the scope ${required}${has ?? ''}. ${next}`
  },
  unverified_account: ({ setting }) =>
    `${setting} is open, so email addresses are not verified. Use a wallet, or ask the operator to set ${setting} to email or closed.`,
  admin_refused: ({ setting }) =>
    `${setting} is open, and this service can be reached from other machines. Set it to email or closed, then send the token again.`,
  signup_closed: () => 'The operator mints tokens with `lade keys mint`. Ask for one.',
  invalid_session: () => 'The session was not used for 12 hours, was ended, or its token was revoked. Sign in again.',
  foreign_origin: ({ origin }) =>
    origin === ''
      ? 'The request does not name the page that sent it. Send a token instead of the cookie, or use a page of this service.'
      : `The page at ${quoted(origin)} cannot do this. Use a page of this service, or the command line.`,
  caller_blocked: ({ caller, reason }) =>
    `This ${caller} is blocked: ${withFullStop(reason)} Ask the operator of the service if this is wrong.`,
  email_code_required: () =>
    'Request a login code with POST /api/auth/start, or send an existing token of this user as Authorization: Bearer.',
  invalid_challenge: () =>
    `A login code expires after 15 minutes, after five wrong attempts, or once it has been used to get a token. ${NEW_CODE}`,
  invalid_code: ({ attemptsLeft }) =>
    attemptsLeft === 0
      ? `The code does not match, and no attempts are left. ${NEW_CODE}`
      : `The code does not match. ${countText(attemptsLeft, 'attempt')} ${attemptsLeft === 1 ? 'is' : 'are'} left.`,
  mail_failed: ({ retryAfterSeconds }) =>
    `The mail server did not accept the mail with the login code. Check the address. ${again(retryAfterSeconds)}`,
  auth_offline: () =>
    'The service has no usable signing key, so it can neither check nor issue tokens. The operator can find the cause in the log of the service.',
  replayed_signature: () => 'A signature is accepted once. Sign the request again, with a new nonce.',
  digest_mismatch: ({ actual }) =>
    `The digest of the received bytes is ${actual}. Nothing was stored. Send the bytes again, or correct the header.`,
  invalid_nonce: () =>
    'A nonce works for one sign-in and expires after a few minutes. Get a new one with POST /api/auth/wallet/nonce.',
  chain_offline: ({ retryAfterSeconds }) =>
    `The RPC node of the chain does not respond, so wallets cannot be checked. ${again(retryAfterSeconds)}`,
  too_large: ({ limit, size, reason }) => {
    const [sizeText, limitText] = comparedBytes(size, limit)
    return reason ?? `The file is ${sizeText}; the limit is ${limitText}.`
  },
  rate_limited: limitText,
  quota_exceeded: limitText,
  too_many_uploads: ({ used, limit }) =>
    `You have ${countText(used, 'upload')} in progress; the limit is ${limit}. Wait until one of them ends.`,
  over_budget: ({ work, unit, used, limit, retryAfterSeconds }) =>
    `${usedText(unit, used, limit)} Refused work: ${WORK[work] ?? work}. ${again(retryAfterSeconds)}`,
  insufficient_storage: () =>
    'The disk of the service is nearly full. Try a smaller file, or try again later. The operator must free space or lower LADE_MIN_FREE_MB.',
  storage_offline: () => 'The service runs with LADE_STORAGE=none. Its operator must set a storage backend.',
  storage_failed: ({ reason, retryAfterSeconds }) =>
    reason ?? `The service could not read or write its data. ${again(retryAfterSeconds)}`,
  read_only: ({ retryAfterSeconds }) =>
    `The disk or database of the service refuses writes; downloads still work. The operator must restore write access. ${again(retryAfterSeconds)}`,
  shutting_down: ({ retryAfterSeconds }) => `The service is stopping or restarting. ${again(retryAfterSeconds)}`,
  incomplete_body: ({ expectedBytes, receivedBytes }) => {
    const arrived = countText(receivedBytes, 'byte')
    return expectedBytes === undefined
      ? `The connection ended after ${arrived}, before the last chunk. Nothing was stored. Send the file again.`
      : `Content-Length is ${expectedBytes}, but only ${arrived} arrived. Nothing was stored. Send the file again.`
  },
  cid_mismatch: ({ actual, received }) =>
    received === undefined
      ? `The cid of the received bytes is ${actual}. Nothing was stored. Send them under that cid, or send the right bytes.`
      : `Send the raw bytes: this body is ${received}, and its cid is ${actual}. Nothing was stored.`,
  cid_conflict: ({ cid, actual }) =>
    `The cid ${cid} belongs to other bytes here, and always will. Use an id computed from your bytes: ${actual}.`,
  incomplete_dag: ({ missing }) =>
    `${countText(missing.length, 'block')} of the DAG ${missing.length === 1 ? 'is' : 'are'} not in the CAR, such as ${missing[0]}. Nothing was stored.`,
  offset_mismatch: ({ expectedOffset, providedOffset }) =>
    `The upload has ${countText(expectedOffset, 'byte')}, but Upload-Offset is ${providedOffset}. Ask for the offset with HEAD, and continue there.`,
  upload_in_use: ({ retryAfterSeconds }) =>
    `Another request writes to this upload, or did until now. ${again(retryAfterSeconds)}`,
  checksum_mismatch: ({ algorithm, actual }) =>
    `The ${algorithm} checksum of the received bytes is ${actual}. None of them was kept. Send them again.`,
  unsupported_tus_version: ({ supported }) => `Send "Tus-Resumable: ${supported}".`,
  lease_lost: () => 'No more bytes of the upload arrived. Nothing was stored. Send the file again.',
  stage_failed: ({ reason, retryAfterSeconds }) =>
    `${reason} Nothing was stored or charged.${retryAfterSeconds === undefined ? '' : ` ${again(retryAfterSeconds)}`}`,
  missing_parts: ({ missing, count }) =>
    `${countText(count, 'part')} ${count === 1 ? 'is' : 'are'} missing, such as ${missing[0]}. Upload the missing parts, then compose again.`,
  foreign_parts: ({ parts, count }) =>
    `${countText(count, 'part')} ${count === 1 ? 'is' : 'are'} not yours, such as ${parts[0]}. Upload the same bytes yourself, then compose again.`,
  missing_entries: ({ missing, count }) =>
    `${countText(count, 'file')} ${count === 1 ? 'is' : 'are'} missing, such as ${missing[0]}. Upload the missing files, then send the directory again.`,
  private_entries: ({ entries, count }) =>
    `${countText(count, 'file')} ${count === 1 ? 'is' : 'are'} private, such as ${entries[0]}. Make the folder private, or make the files public first.`,
  not_enough_provers: ({ asked, available }) =>
    `${countText(available, 'prover')} ${available === 1 ? 'is' : 'are'} configured; you asked for ${asked === 1 ? '1 copy' : `${asked} copies`}.`,
  deal_ended: ({ dealStatus }) => `The deal is ${dealStatus}. Upload the file again to get a new deal.`,
  not_placed: ({ dealStatus, reason }) => reason ?? `The deal is ${dealStatus}. Try again when its status is active.`,
  blocked: ({ reason, blockedAt }) =>
    reason === undefined
      ? 'This service neither serves nor accepts this content. Ask its operator why.'
      : `Blocked${blockedAt === undefined ? '' : ` on ${blockedAt.slice(0, 10)}`}: ${withFullStop(reason)} Ask the operator of the service if this is wrong.`,
  gone: ({ reason }) => GONE[reason] ?? 'Upload the file again.',
  only_if_cached: () =>
    'Cache-Control is only-if-cached, but this service does not store the content. Request it from another gateway.',
  range_not_satisfiable: ({ size }) =>
    size === 0
      ? 'The file is empty. Leave out Range.'
      : `The file has ${countText(size, 'byte')}. Request a range within 0-${size - 1}.`,
  precondition_failed: ({ etag }) =>
    `The file has the ETag ${etag}. Request the file without If-Match and If-Unmodified-Since, or with this ETag.`,
  invalid_share_link: () =>
    'The link is incomplete or expired, or its token was revoked. Ask the owner of the file for a new link.',
  unreachable: ({ url, reason }) => `Cannot reach ${url}. ${reason}`,
}

const WORK: Readonly<Record<string, string>> = {
  chain: 'checking wallets',
  challenge: 'possession proofs',
  compose: 'composing files',
  hash: 'hashing uploads',
  links: 'reading DAGs',
  read: 'downloads',
}

const GONE: Readonly<Record<string, string>> = {
  expired: 'The term of the file has ended. Upload the file again.',
  removed: 'The owner removed the file. To make it available again, upload it again.',
  composed: 'This file was a part and is now in a composed file. Download the composed file instead, by its own cid.',
}

/** What an error says to a person. */
export function detailOf<Code extends ErrorCode>(code: Code, evidence: ErrorEvidence[Code]): string {
  const own = (DETAILS as { readonly [Known in ErrorCode]?: (evidence: ErrorEvidence[Code]) => string })[code]
  if (own !== undefined) return own(evidence)
  return (evidence as { readonly reason: string }).reason
}

function limitText({ reason, used, limit, unit, retryAfterSeconds }: LimitEvidence): string {
  if (reason !== undefined) return reason
  const amount = (value: number) => (unit === 'bytes' ? bytesText(value) : value.toLocaleString('en-US'))
  return `${amount(used)} of ${amount(limit)} used. ${retryAfterSeconds === undefined ? '' : again(retryAfterSeconds)}`.trim()
}

function usedText(unit: ErrorEvidence['over_budget']['unit'], used: number, limit: number): string {
  const number = (amount: number) => Math.round(amount).toLocaleString('en-US')
  switch (unit) {
    case 'milliseconds':
      return `Your requests used ${number(used)} ms of processor time; the limit is ${number(limit)} ms.`
    case 'requests':
      return `You have ${countText(used, 'request')} in progress or waiting; the limit is ${number(limit)}.`
    case 'bytes':
      return `All ${bytesText(limit)} of memory for requests are in use; your requests hold ${bytesText(used)} of that.`
  }
}

function again(seconds: number): string {
  return `Try again in ${waitText(seconds)}.`
}

function withFullStop(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** What a caller sent, on one line and not too long. */
function quoted(text: string): string {
  const plain = text.replace(/[^\x20-\x7e]/g, '?')
  return plain.length > 80 ? `"${plain.slice(0, 80)}…"` : `"${plain}"`
}

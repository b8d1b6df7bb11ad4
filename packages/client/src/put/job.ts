import { type ContentId, parseContentId } from '@lade/core/content'
import { choiceText, LadeError } from '@lade/core/errors'
import { HEADER } from '@lade/core/wire/headers'
import { bytesToHex } from '@noble/hashes/utils.js'
import { claimSecretBytes } from '../claim-secret.ts'
import { type HashWants, wantBoth, wantsFor } from '../hashing/hash-wants.ts'
import type { Http } from '../http/http.ts'
import { type OptionNames, refuseUnknownOptions } from '../known-options.ts'
import type { Limits } from '../limits.ts'
import type { PutCidForm, PutOptions, PutState } from '../options.ts'
import type { Platform } from '../platform/platform.ts'
import { type OwnFiles, ownFiles } from './own-files.ts'
import { ProgressMeter } from './progress.ts'
import { TaskGroup } from './task-group.ts'

/** What every put works with. */
export interface PutContext {
  readonly http: Http
  readonly platform: Platform
  readonly threads: boolean
  readonly limits: Limits
}

/** One put: what was asked for, read and with its defaults, and what keeps it together. */
export interface PutJob extends PutContext {
  readonly form: PutCidForm
  readonly expected: ContentId | undefined
  readonly filename: string | undefined
  readonly contentType: string
  readonly visibility: 'public' | 'private' | undefined
  readonly termDays: number | undefined
  /** The headers that say how a file is kept, for the whole and for its parts. */
  readonly keeping: Readonly<Record<string, string>>
  /** The header by which an account can claim the file, for the whole alone. */
  readonly claiming: Readonly<Record<string, string>>
  readonly concurrency: number
  readonly state: PutState | undefined
  /** True for a put that goes on over several days of quota. */
  readonly overDays: boolean
  readonly beforePart: (() => Promise<void>) | undefined
  /** The ids of the parts that this put has sent. */
  readonly sentParts: Set<string>
  readonly own: OwnFiles
  readonly progress: ProgressMeter
  readonly group: TaskGroup
  /** The caller's own. */
  readonly signal: AbortSignal | undefined
}

const PUT_OPTIONS: OptionNames<PutOptions> = {
  cid: true,
  expectedCid: true,
  filename: true,
  contentType: true,
  visibility: true,
  termDays: true,
  concurrency: true,
  overDays: true,
  beforePart: true,
  onProgress: true,
  state: true,
  claim: true,
  signal: true,
}
const FORMS: readonly PutCidForm[] = ['unixfs', 'raw', 'piece', 'sha256']
const MAX_CONCURRENCY = 4
const DEFAULT_CONTENT_TYPE = 'application/octet-stream'

/**
 * Reads the options of a put.
 *
 * @param source - what the source says of itself, where the options do not.
 * @throws {LadeError} `invalid_cid` for an `expectedCid` that is none, or that nothing can be checked against.
 * @throws {TypeError} for other options that are none.
 */
export function readJob(
  context: PutContext,
  options: PutOptions,
  source: { readonly name: string | undefined; readonly contentType: string | undefined },
): PutJob {
  refuseUnknownOptions('put', options, PUT_OPTIONS)
  const { cid: form = 'unixfs', concurrency = MAX_CONCURRENCY, visibility, termDays, state, overDays = false } = options
  if (!FORMS.includes(form)) throw new TypeError(`cid is ${form}, but it must be ${choiceText(FORMS)}`)
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > MAX_CONCURRENCY) {
    throw new TypeError(`concurrency is ${concurrency}, but it must be 1 to ${MAX_CONCURRENCY}`)
  }
  for (const name of ['filename', 'contentType'] as const) {
    if (typeof (options[name] ?? '') !== 'string') throw new TypeError(`${name} must be a string, not ${options[name]}`)
  }
  if (typeof (options.onProgress ?? (() => {})) !== 'function') throw new TypeError('onProgress must be a function')
  const expected = options.expectedCid === undefined ? undefined : readExpected(options.expectedCid, context.platform)
  const group = new TaskGroup(options.signal)
  return {
    ...context,
    form,
    expected,
    filename: options.filename === undefined ? source.name : (options.filename ?? undefined),
    contentType: options.contentType ?? source.contentType ?? DEFAULT_CONTENT_TYPE,
    visibility,
    termDays,
    keeping: keepingOf({ visibility, termDays }),
    claiming: claimingOf(options.claim, context.platform),
    concurrency,
    state,
    overDays,
    beforePart: options.beforePart,
    sentParts: new Set(),
    own: ownFiles(context.http),
    progress: new ProgressMeter(options.onProgress, (error) => group.fail(error)),
    group,
    signal: options.signal,
  }
}

/**
 * What a put has to hash: its own id and the expected one, the leaves that the ids of parts are made from, and the bodies
 * that are signed.
 */
export function wantsOf({ form, expected, http, limits }: PutJob, sizeBytes: number | undefined): HashWants {
  const isWhole = sizeBytes !== undefined && sizeBytes <= limits.singleMaxBytes
  const own: HashWants = {
    leaves: ['raw-1m'],
    sha256: form === 'raw' || form === 'sha256' || (http.coversBodies && isWhole),
    partSha256: http.coversBodies && !isWhole,
    blake3: false,
    blake2b256: false,
    piece: form === 'piece',
  }
  return expected === undefined ? own : wantBoth(own, wantsFor(expected, sizeBytes))
}

/** The headers that say how a file is kept. */
export function keepingOf({
  visibility,
  termDays,
}: Pick<PutOptions, 'visibility' | 'termDays'>): Readonly<Record<string, string>> {
  return {
    ...(visibility === undefined ? {} : { [HEADER.visibility]: visibility }),
    ...(termDays === undefined ? {} : { [HEADER.termDays]: String(termDays) }),
  }
}

/** The header by which an account can claim a file. @throws {TypeError} for a secret that is none. */
export function claimingOf(secret: string | undefined, { sha256 }: Platform): Readonly<Record<string, string>> {
  return secret === undefined ? {} : { [HEADER.claimDigest]: bytesToHex(sha256.of(claimSecretBytes(secret))) }
}

function readExpected(text: string, { sha256 }: Platform): ContentId {
  const id = parseContentId(text, (bytes) => bytesToHex(sha256.of(bytes)))
  if (id.verified) return id
  throw new LadeError('invalid_cid', {
    reason: `Bytes cannot be checked against ${JSON.stringify(text.slice(0, 80))}.`,
  })
}

import type {
  EndSessionResult,
  FileEntry,
  FileKind,
  FileList,
  InfoResult,
  ListedEntry,
  PieceCidsResult,
  RevokeResult,
  Session,
  SessionList,
  SessionRequest,
  SessionState,
  ShareResult,
  SignupRequest,
  SignupResult,
  StartRequest,
  StartResult,
  TokenList,
  UploadResult,
  UsageResult,
  VerifyRequest,
} from '@lade/core/wire'
import type { AdminOperations } from './admin-options.ts'
import type { CallOptions } from './call-options.ts'
import type { ChallengeOptions, CheckedChallenge, DealOperations } from './deal-options.ts'
import type {
  EntriesOptions,
  FolderNode,
  FolderSource,
  PutFolderOptions,
  PutFolderResult,
  ReadFolderOptions,
} from './folder-options.ts'
import type { RequestRetry, RetryPolicy } from './http/retry.ts'
import type { PutOptions, PutSource } from './put-options.ts'
import type { SignedSignIn, SignInWallet, Wallet } from './wallet/wallet-options.ts'

export type {
  EndSessionResult,
  FileEntry,
  FileKind,
  FileList,
  InfoResult,
  ListedEntry,
  PieceCidsResult,
  RevokeResult,
  Session,
  SessionList,
  SessionRequest,
  SessionState,
  ShareResult,
  SignupRequest,
  SignupResult,
  StartRequest,
  StartResult,
  TokenList,
  UploadResult,
  UsageResult,
  VerifyRequest,
} from '@lade/core/wire'
export type * from './admin-options.ts'
export type { CallOptions } from './call-options.ts'
export type * from './deal-options.ts'
export type * from './folder-options.ts'
export type { PutCidForm } from './hashing/put-cid-form.ts'
export type { RequestRetry, RetryPolicy } from './http/retry.ts'
export type * from './moderation-options.ts'
export type * from './put-options.ts'

export interface LadeClientOptions {
  /** Where the service is; a path in it is kept as a prefix. @default 'http://127.0.0.1:8080' */
  readonly url?: string | URL | undefined
  /** `pk_live_…`. Without it, or a wallet, uploads are sponsored, and what needs a token answers `no_token`. */
  readonly token?: string | undefined
  /**
   * In place of a token: an account that signs every request by itself, or what `walletOf` makes of a wallet that somebody sits
   * at, who signs in. What the wallet ends by, such as its user's no, is what calls reject with.
   */
  readonly wallet?: Wallet | undefined
  /**
   * On a page of the service itself, in place of a token: the session that this browser is signed in with. The browser sends its cookie, which
   * no script sees; see `session`. @default false
   */
  readonly session?: boolean | undefined
  /** What sends requests, in place of the runtime's own. With it, a browser reports no progress inside of a part. */
  readonly fetch?: typeof globalThis.fetch | undefined
  readonly retry?: Partial<RetryPolicy> | undefined
  /**
   * Called when a request has failed and is sent again, before the wait, for example to show why it takes longer. Not called when the service
   * refuses some files of a request for many and those are sent again. If it throws, the request rejects with that.
   */
  readonly onRetry?: ((retry: RequestRetry) => void) | undefined
  /** Hash big files that are put in a worker where there is one, so that this thread stays free. @default true */
  readonly threads?: boolean | undefined
}

export interface GetOptions extends CallOptions {
  /** The first byte wanted. @default 0 */
  readonly from?: number | undefined
  /** The last byte wanted. @default the last of the file */
  readonly to?: number | undefined
  /**
   * What is there already of the beginning of the file, such as a download that was interrupted: it is hashed, and only the
   * rest is fetched and handed over. The whole is verified all the same.
   */
  readonly have?: Blob | undefined
  readonly onProgress?: ((progress: GetProgress) => void) | undefined
  /** The signature of a share link: what follows `share=` in it. */
  readonly share?: string | undefined
  /** Check the bytes against the cid. @default true */
  readonly verify?: boolean | undefined
}

/** How far a download has come. */
export interface GetProgress {
  /** Of the whole file. */
  readonly sizeBytes: number
  /** Bytes of the file that are here: those of `have`, and those handed over so far. */
  readonly receivedBytes: number
}

/** A file that is being downloaded. The body is fetched as it is read, once, in one of three ways. */
export interface Download {
  /** As asked for. */
  readonly cid: string
  /** Of the whole file, also when a range was asked for. */
  readonly sizeBytes: number
  readonly contentType: string
  /** The name it was staged with. Not a path, yet not a name that every file system takes. */
  readonly filename: string | undefined
  /** True when the body ends without an error only if the bytes have the cid: not for a range, nor for an opaque id. */
  readonly verified: boolean
  /**
   * The bytes. A connection that breaks is taken up again where it broke. On a mismatch it ends by a `cid_mismatch` in place
   * of the last bytes.
   */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>
  bytes(): Promise<Uint8Array<ArrayBuffer>>
  blob(): Promise<Blob>
}

export interface FileListOptions extends CallOptions {
  /** Files a page, 1 to 1000. @default 100 */
  readonly limit?: number | undefined
  /** A part of the name or the cid. */
  readonly q?: string | undefined
  readonly contentType?: string | undefined
  /** Only files of this kind, by their media type. */
  readonly kind?: FileKind | undefined
  /** Only live files that end within so many days, 1 to 3650. */
  readonly endsWithinDays?: number | undefined
  /** Only files that are shown with this status. @default all live files */
  readonly status?: FileEntry['status'] | undefined
}

export interface FilePageOptions extends FileListOptions {
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

/** What is changed of a file; absent fields stay as they are. */
export interface ChangeFileOptions extends CallOptions {
  /** Private to public needs the scope `get` as well. */
  readonly visibility?: 'public' | 'private' | undefined
  readonly contentType?: string | undefined
  /** Null for none. */
  readonly filename?: string | null | undefined
  /** The whole term from the upload, in days. Longer only, and with the scope `pin`. */
  readonly termDays?: number | undefined
}

export interface ClaimOptions extends CallOptions {
  /** The secret that the file was put with. */
  readonly secret: string
}

/** Seconds from now, 1 to 2,592,000 (30 days). */
export interface ShareOptions extends CallOptions {
  readonly ttlSeconds: number
}

export interface UsageOptions extends CallOptions {
  /** How many days `days` lists, with today: 1 to 90. @default 7 */
  readonly days?: number | undefined
}

export interface RevokeOptions extends CallOptions {
  /** Leaves the share links that the token made. @default false */
  readonly keepLinks?: boolean | undefined
}

/** What a browser does with its session. */
export interface SessionOperations {
  /** The session, null without one, and the ways to sign in that this service has. */
  get(options?: CallOptions): Promise<SessionState>
  /**
   * Signs in: with a `token`, with an `email` where signup is open, with `challenge` and `code` after `signIn.start`, or with the `message` and
   * `signature` of a wallet. A session that the browser has already ends. It is sent once.
   *
   * @throws {LadeError} `foreign_origin`, `bad_request`, `invalid_token`, `revoked_token`, `signup_closed`, `email_code_required`,
   *   `invalid_challenge`, `invalid_code`, `invalid_signature`, `invalid_nonce`, `rate_limited`.
   */
  open(request: SessionRequest, options?: CallOptions): Promise<Session>
  /** Signs out; again is no error. */
  close(options?: CallOptions): Promise<void>
  /** The sessions of this user. Scope `list`. */
  list(options?: CallOptions): Promise<SessionList>
  /** Ends one of them, and the share links that were made in it. @throws {LadeError} `not_found`. */
  end(id: string, options?: CallOptions): Promise<EndSessionResult>
}

/** One service, for one caller. It holds no connection and no thread between calls. */
export interface LadeClient {
  /**
   * Stages a file and answers once it is durable.
   *
   * The content id is computed here, in one pass. Up to 100 MB (104,857,600 bytes) the file is sent whole; beyond that it is
   * cut into parts of 127 MiB, which are sent side by side while the rest is still being hashed, and composed at the end. With
   * a wallet, or a token that has the `list` scope, what the service has already is not sent: neither the whole file, when it
   * is a live file of this caller, nor parts of an earlier attempt. Putting the same file again is free. A part that is in the file more
   * than once is sent once, and charged as often as it is there.
   *
   * A path or a Blob is read twice, once to hash and once to send. A stream is read once: parts of it lie in a temporary
   * file (in browsers in memory) until they are sent. An array must not change until the put has ended.
   *
   * @throws {LadeError} what the service refuses by its own code; `cid_mismatch` against `expectedCid`; `source_changed`;
   *   `unreachable`; `unexpected_answer`.
   * @throws {TypeError} for options that are none, and for a path in a browser.
   * @see docs/protocol/uploads.md
   *
   * @example
   * const client = createLadeClient({ token })
   * const { cid } = await client.put(new TextEncoder().encode('hello world'))
   * // 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'
   */
  put(source: PutSource, options?: PutOptions): Promise<UploadResult>
  /**
   * Stages a folder as one UnixFS directory and answers once it is durable: its `cid` is the one that `ipfs add -r` prints with the profile
   * `unixfs-v1-2025`, and all of it can be read below that.
   *
   * The CIDs of the files and of the folder are computed here. Then the service says which files it does not have, and only these are sent:
   * files of up to 1 MiB many at a time, larger ones like `put` sends them. So a put that was interrupted goes on where it was, and a folder of
   * which one file changed sends that file. The folder is one file of this caller, and files that were sent for it are not files by themselves.
   *
   * Empty files, empty folders and symbolic links are part of it; links are stored as they are and never followed. Memory is the list of the
   * files, and a few MiB of their bytes.
   *
   * @throws {LadeError} as `put`; `bad_request` for names that no folder can have, two items of one path, and more than 100,000 items.
   * @throws {TypeError} for options that are none, a path that is no folder, and for a path in a browser.
   * @see docs/protocol/batches.md
   *
   * @example
   * const { cid, retrievalUrl } = await client.putFolder('site', { state: fileState('site.json') })
   * // in a browser: input.webkitdirectory = true
   * await client.putFolder(input.files)
   */
  putFolder(source: FolderSource, options?: PutFolderOptions): Promise<PutFolderResult>
  /**
   * Begins to fetch a file, and checks it on the way: its last byte is handed over only once all of them have the cid.
   *
   * Memory is a chunk or two. An error of the body means that what was read so far is not to be trusted.
   *
   * @param cid - any name that the file has: CIDs of every form, hex, or an opaque id, which cannot be verified.
   * @throws {LadeError} `invalid_cid`, `not_found`, `gone`, `range_not_satisfiable`, and what `put` throws of the connection;
   *   from the body also `cid_mismatch`, `invalid_car` and `incomplete_dag`.
   * @see docs/protocol/retrieval.md
   *
   * @example
   * const download = await client.get('bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e')
   * new TextDecoder().decode(await download.bytes()) // 'hello world'
   */
  get(cid: string, options?: GetOptions): Promise<Download>
  /**
   * What is at a path of a folder and below it, folders before what is in them, each block of a directory checked against its CID. Bytes of files
   * are not fetched: `get` fetches each by its own CID.
   *
   * @param cid - the root of a folder, or of a file, which is then all there is.
   * @throws {LadeError} from the generator: `invalid_cid`, `not_found`, `unexpected_answer` for what cannot be read as a folder.
   *
   * @example
   * for await (const { names, kind, cid } of client.readFolder(root)) print(kind, names.join('/'), cid)
   */
  readFolder(cid: string, options?: ReadFolderOptions): AsyncIterable<FolderNode>
  /** What this caller has staged. Needs a token or a wallet. */
  readonly files: {
    /** All of them, newest first, page by page as they are read. Scope `list`. */
    list(options?: FileListOptions): AsyncIterable<FileEntry>
    /** One page of them. Scope `list`. */
    page(options?: FilePageOptions): Promise<FileList>
    /** What is in a folder, as the service lists it, of anybody who may read the folder. @throws {LadeError} `not_found`. */
    entries(cid: string, options?: EntriesOptions): AsyncIterable<ListedEntry>
    /** One of them, also one that has ended. Scope `list`. @throws {LadeError} `not_found`. */
    get(cid: string, options?: CallOptions): Promise<FileEntry>
    /**
     * Changes one of them, and charges nothing. Scope `put`.
     *
     * @returns the file as it is now.
     * @throws {LadeError} `not_found`, `gone`, `insufficient_scope`, `unverified_account`, `invalid_term`.
     *
     * @example
     * await client.files.change(cid, { visibility: 'private', filename: 'plans.txt' })
     */
    change(cid: string, options: ChangeFileOptions): Promise<FileEntry>
    /**
     * Makes a file this caller's that was put without an account and with a secret (`claim` of `put`). It gets the term of the account, and is
     * charged to its day; nothing is sent again. Where the account has the file already, that is the answer. Scope `put`.
     *
     * @throws {LadeError} `not_found` for no such file, or another secret; `quota_exceeded`, where the file stays as it was; `too_large`.
     * @throws {TypeError} for a secret that is none.
     *
     * @example
     * const secret = newClaimSecret()
     * const { cid } = await createLadeClient({ url }).put(file, { claim: secret })
     * // later, with an account:
     * await createLadeClient({ url, token }).files.claim(cid, { secret })
     */
    claim(cid: string, options: ClaimOptions): Promise<UploadResult>
    /** Ends one of them. Scope `pin`. @throws {LadeError} `not_found`, `gone`. */
    remove(cid: string, options?: CallOptions): Promise<void>
    /**
     * A link to a private file that works without a token, until its time is over or the token that made it is revoked. Scope `get`.
     *
     * @throws {LadeError} `not_found`, `gone`.
     */
    share(cid: string, options: ShareOptions): Promise<ShareResult>
  }
  /** What is charged today, and what is left. Scope `list`. */
  usage(options?: UsageOptions): Promise<UsageResult>
  readonly tokens: {
    /** The tokens of this user, never themselves. Scope `list`. */
    list(options?: CallOptions): Promise<TokenList>
    /**
     * Ends one of them for good, and the share links that it made unless told to keep them; again is no error.
     *
     * @throws {LadeError} `invalid_jti`, `not_found`.
     */
    revoke(jti: string, options?: RevokeOptions): Promise<RevokeResult>
  }
  /** The storage agreements of this caller's files. Needs a token or a wallet. */
  readonly deals: DealOperations
  /**
   * Has it proved, here and now, that a file is held, and checks the proof itself. Whoever may retrieve the file may ask; nothing is charged.
   *
   * What resolves shows that five leaves of 32 bytes, which follow from the nonce, were at hand behind the service after the nonce was chosen:
   * where a tenth of the piece is lost, that is found out by 41 of 100 challenges, where half of it is, by 97. Two things it does not show. That
   * they came from `answer.prover` and not from the service itself is the service's word. And that the piece is the file is, too, unless
   * `isPieceOfCid` is true, which takes the piece CID v2 as the cid, computed over bytes of one's own (`put` with `cid: 'piece'`, `lade hash`).
   * Of a file in several pieces, as those of more than 1,065,353,216 bytes are, it never is.
   *
   * It is sent once: asked again by the same nonce, a prover could have fetched what it lacks.
   *
   * @param cid - any name that the file has.
   * @throws {LadeError} `unexpected_answer` for a proof that does not hold, and why; `not_placed` while no prover has proved that it holds the
   *   file; `prove_failed`; `over_budget`; `invalid_cid`, `not_found`, `gone`.
   * @throws {TypeError} for a nonce that is none.
   * @see docs/protocol/deals.md
   *
   * @example
   * const { pieceCid } = await client.put(bytes, { cid: 'piece' })
   * // and once the deal is active:
   * const { answer, isPieceOfCid } = await client.challenge(pieceCid)
   * // isPieceOfCid is true, answer.prover 'local' or the address of a provider
   */
  challenge(cid: string, options?: ChallengeOptions): Promise<CheckedChallenge>
  /** The pieces of up to 1000 files, by any of their ids. Scope `list`. */
  pieceCids(cids: readonly string[], options?: CallOptions): Promise<PieceCidsResult>
  /**
   * Makes a token, which is shown in this answer only and is not taken over by this client.
   *
   * Where the signup of `info` is `email`, it needs a token of the same address, and the new one allows no more than that and ends no later;
   * without one see `signIn`.
   *
   * @throws {LadeError} `invalid_email`, `invalid_label`, `invalid_scopes`, `signup_closed`, `rate_limited`,
   *   `email_code_required`, `insufficient_scope`.
   */
  signup(request: SignupRequest, options?: CallOptions): Promise<SignupResult>
  /**
   * The two steps to a token where the signup of `info` is `email`; elsewhere both are `not_found`.
   *
   * @see docs/protocol/tokens.md
   *
   * @example
   * const { challenge } = await client.signIn.start({ email: 'ada@example.org', label: 'laptop' })
   * const { token } = await client.signIn.verify({ challenge, code: '314 159' })
   */
  readonly signIn: {
    /**
     * Has a code of six digits mailed to the address. The answer is the same whether or not the service knows it.
     *
     * @returns the challenge, which `verify` needs besides the code, and for how many seconds both are good.
     * @throws {LadeError} `invalid_email`, `invalid_label`, `rate_limited`, and `mail_failed`, which is not sent again.
     */
    start(request: StartRequest, options?: CallOptions): Promise<StartResult>
    /**
     * Makes the token that a challenge was started for. It is shown in this answer only, and is not taken over by this client.
     *
     * @throws {LadeError} `invalid_code` with `attemptsLeft`; `invalid_challenge`, when it has none left, was answered, or is too
     *   old; `invalid_scopes`.
     */
    verify(request: VerifyRequest, options?: CallOptions): Promise<SignupResult>
    /**
     * Has a wallet sign in, and gives what it signed: for `POST /api/session`, which makes a session of it. The wallet of a client signs in by
     * itself.
     *
     * @throws {LadeError} `invalid_signature` where the service takes no wallets; whatever the wallet ends by, such as its user's no.
     */
    sign(wallet: SignInWallet): Promise<SignedSignIn>
  }
  /**
   * The session of this browser, on pages of the service itself: its cookie stands for a token. A client that was made with `session: true`
   * asks by it. Elsewhere the service refuses all of it with `foreign_origin`.
   *
   * @see docs/protocol/sessions.md
   *
   * @example
   * const client = createLadeClient({ url: location.origin, session: true })
   * const { session, signIn } = await client.session.get()
   * if (session === null && signIn.includes('email')) await client.session.open({ email: 'ada@example.org' })
   * await client.put(file) // of ada@example.org
   */
  readonly session: SessionOperations
  /** What operators may read and do. Needs a token with the scope `admin`. @see docs/protocol/admin.md */
  readonly admin: AdminOperations
  /** Limits, tiers and version of the service. */
  info(options?: CallOptions): Promise<InfoResult>
}

import { createHash, randomUUID } from 'node:crypto'
import {
  type FileCommit,
  type ListFilesRequest,
  listDeals,
  listFiles,
  newDealId,
  type RecordStore,
} from '@lade/server/measuring'
import type { Sample, SampledFile } from './sample.ts'
import { OWNER, PROVERS, RARE_TYPE, RARE_WORD } from './shape.ts'

/** One thing that is asked of the records, again and again. */
export interface Operation {
  readonly name: string
  /** How often it is timed. @default 400 */
  readonly times?: number
  /** What has to be there before the clock starts. */
  prepare?(index: number): Promise<void>
  /** @throws {Error} when the answer is not what it must be. */
  run(index: number): Promise<void>
}

const DAY_MS = 86_400_000
/** What signs a cursor is not measured. */
const cursors = { write: String, read: Number }
const CAP_BYTES = Number.MAX_SAFE_INTEGER
const KEY = (file: SampledFile): string => `sha256:${file.sha256}`

/** As `/api/files` and `/api/deals` ask: one more than a page, to see whether another follows. */
const PAGE = 101
const BIGGEST_PAGE = 1001

/** Reads of one size of data, as requests and jobs make them. */
export async function reads(store: RecordStore, sample: Sample, now: number): Promise<Operation[]> {
  const { files, placements } = store
  const at = <Item>(items: readonly Item[], index: number): Item => {
    const item = items[index % items.length]
    if (item === undefined) throw new Error('there is nothing to ask for')
    return item
  }
  const file = (index: number): SampledFile => at(sample.files, index)
  const served = async (key: string, outcome: string): Promise<void> => {
    const answer = await files.serving({ key, now })
    if (answer.outcome !== outcome) throw new Error(`${key} is ${answer.outcome}`)
  }
  const filtered = async (filter: {
    q?: string
    contentType?: string
    status?: string
    cursor?: string
  }): Promise<void> => {
    await listFiles(store, { principal: OWNER, now, cursors, ...filter })
  }
  const deals = async (filter: { status?: string; cursor?: string }): Promise<void> => {
    await listDeals(store, { principal: OWNER, now, cursors, ...filter })
  }
  const full = async (request: Partial<ListFilesRequest>): Promise<void> => {
    const page = await files.list({ principal: OWNER, now, limit: PAGE, ended: 'live', ...request })
    if (page.length !== (request.limit ?? PAGE)) throw new Error(`the page has ${page.length} files`)
  }
  const last = { limit: PAGE, beforeSequence: await sample.lastPage(PAGE) }
  const lastOfBiggest = { limit: BIGGEST_PAGE, beforeSequence: await sample.lastPage(BIGGEST_PAGE) }
  return [
    { name: 'serve by sha256', run: (index) => served(KEY(file(index)), 'found') },
    { name: 'serve by alias', run: (index) => served(at(sample.aliases, index), 'found') },
    { name: 'serve what is not there', run: (index) => served(`sha256:${digest(`absent ${index}`)}`, 'absent') },
    {
      name: 'serve what was staged 1 % of times',
      run: () => served(`sha256:${sample.oftenStaged}`, 'found'),
      times: 100,
    },
    {
      name: 'latest',
      async run(index) {
        const found = await files.latest({ principal: OWNER, key: KEY(file(index)), now })
        if (found === undefined) throw new Error('no file')
      },
    },
    { name: 'list 100, first page', run: () => full({}) },
    { name: 'list 100, middle page', run: () => full({ beforeSequence: sample.middle }) },
    { name: 'list 100, last page', run: () => full(last) },
    { name: 'list 1000, first page', run: () => full({ limit: BIGGEST_PAGE }), times: 100 },
    { name: 'list 1000, last page', run: () => full(lastOfBiggest), times: 100 },
    { name: 'list 100, behind the last', run: () => filtered({ cursor: '1' }) },
    { name: 'list 100, q in every name', run: () => filtered({ q: 'report' }) },
    { name: 'list 100, q in 1 of 5000', run: () => filtered({ q: RARE_WORD }), times: 100 },
    { name: 'list 100, q in none', run: () => filtered({ q: 'no such name' }), times: 100 },
    { name: 'list 100, type of 1 of 5000', run: () => filtered({ contentType: RARE_TYPE }), times: 100 },
    { name: 'list 100, expired', run: () => filtered({ status: 'expired' }), times: 100 },
    { name: 'list 100, composed (none)', run: () => filtered({ status: 'composed' }), times: 100 },
    ...[PAGE, BIGGEST_PAGE].map((count) => ({
      name: `statuses of ${count - 1} files`,
      times: 100,
      async run(index: number) {
        const from = file(index).sequence
        await placements.statuses(Array.from({ length: count - 1 }, (_, offset) => from + offset))
      },
    })),
    {
      name: 'deals 100, first page',
      run: () => deals({}),
      times: 200,
    },
    {
      name: 'deals 100, last page',
      run: () => deals({ cursor: String(last.beforeSequence) }),
      times: 200,
    },
    {
      name: 'deals 100, failed (1 of 5000)',
      run: () => deals({ status: 'failed' }),
      times: 20,
    },
    {
      name: 'file by deal',
      async run(index) {
        const { dealId, sequence } = file(index)
        const found = await files.byDeal({ principal: OWNER, dealId })
        if (found?.sequence !== sequence) throw new Error('another file')
      },
    },
    {
      name: 'usage',
      run: async () => {
        const usage = await store.quotas.usage({ principal: OWNER, fromDay: '2026-11-14', today: '2026-11-20', now })
        if (usage.stored.files === 0) throw new Error('nothing is stored')
      },
      times: 100,
    },
    {
      name: 'blocks.find',
      async run(index) {
        await store.blocks.find({ multihash: at(sample.multihashes, index), now })
      },
    },
    { name: 'token revoked?', run: async (index) => void (await store.tokens.revocation(at(sample.tokens, index))) },
    { name: 'deal with its copies', run: async (index) => void (await placements.deals([file(index).sequence])) },
    {
      name: 'piece by root',
      async run(index) {
        const { pieceRoot, sizeBytes } = file(index)
        await placements.pieceOf({ pieceRoot, sizeBytes })
      },
    },
    {
      name: 'unenrolled 100',
      run: async () => void (await placements.unenrolled({ after: await placements.enrolledUpTo(), limit: 100 })),
      times: 100,
    },
    { name: 'waiting 100', run: async () => void (await placements.waiting({ limit: 100 })), times: 100 },
    { name: 'unreconciled 20', run: async () => void (await placements.unreconciled({ now, limit: 20 })), times: 100 },
    {
      name: 'due 20, any prover',
      run: async () => void (await placements.due({ state: 'pending', now, limit: 20 })),
      times: 100,
    },
    {
      name: 'due 20, stored at one prover',
      run: async () =>
        void (await placements.due({ state: 'stored', now: now + DAY_MS, limit: 20, prover: PROVERS[0] })),
      times: 100,
    },
    {
      name: 'discards 100',
      run: async () => void (await store.discards.pending({ instanceId: 'instance-0', now, limit: 100 })),
      times: 100,
    },
    {
      name: 'blobs in order 1000',
      run: async (index) => void (await store.inventory.stored({ after: file(index).sha256, limit: 1000 })),
      times: 50,
    },
    {
      name: 'deals on the chain that end',
      run: async () => void (await store.chain.tooShort({ endsAfter: now, endsBefore: now + 2 * DAY_MS, limit: 100 })),
      times: 50,
    },
    { name: 'counts of deals and copies', run: async () => void (await store.placements.counts()) },
  ]
}

/** What goes through all rows, by its nature. */
export function scans(store: RecordStore): Operation[] {
  return [
    {
      name: 'drift check of all charges',
      async run() {
        const drift = await store.quotas.checkDrift()
        if (drift.length > 0) throw new Error('a counter has drifted')
      },
      times: 1,
    },
  ]
}

/** Changes, each durable when it is timed. */
export function writes(store: RecordStore, now: number): Operation[] {
  const { quotas, files } = store
  const day = new Date(now).toISOString().slice(0, 10)
  const run = randomUUID()
  let count = 0
  const staged: Upload[] = []
  const next = (principal = OWNER): Upload => {
    count += 1
    const upload = uploadOf({ principal, seed: `${run} ${count}`, day, now })
    return upload
  }
  const recorded = ({ outcome }: { readonly outcome: string }): void => {
    if (outcome !== 'recorded') throw new Error(`the upload ended as ${outcome}`)
  }
  const atOnce = async (upload: Upload): Promise<void> => {
    recorded(await quotas.commitAtOnce(upload))
    staged.push(upload)
  }
  return [
    {
      name: 'reserve, claim, commit',
      times: 200,
      async run() {
        const { admit, commit } = next()
        const reservationId = randomUUID()
        const leaseUntil = now + 60_000
        const reserved = await quotas.reserve({ ...admit, reservationId, instanceId: 'instance-0', leaseUntil })
        if (reserved.outcome !== 'reserved') throw new Error(reserved.outcome)
        const claimed = await quotas.claim({ reservationId, key: admit.key, sha256: commit.file.sha256, put: '' })
        if (claimed.outcome !== 'claimed') throw new Error(claimed.outcome)
        recorded(await quotas.commit({ ...commit, reservationId }))
      },
    },
    { name: 'commit at once, new', times: 400, run: () => atOnce(next()) },
    {
      name: 'commit at once, again',
      times: 200,
      async run(index) {
        const upload = staged[index % staged.length] ?? next()
        const { outcome } = await quotas.commitAtOnce(upload)
        if (outcome !== 'retry') throw new Error(`the upload ended as ${outcome}`)
      },
    },
    {
      name: '16 at once, one principal',
      times: 150,
      run: async () => void (await Promise.all(Array.from({ length: 16 }, () => atOnce(next())))),
    },
    {
      name: '16 at once, 16 principals',
      times: 150,
      run: async () =>
        void (await Promise.all(Array.from({ length: 16 }, (_, index) => atOnce(next(`user:other${index}`))))),
    },
    {
      name: 'remove',
      times: 200,
      async run() {
        const upload = staged.pop()
        if (upload === undefined) throw new Error('nothing is left to remove')
        const { principal, key } = upload.admit
        if ((await files.remove({ principal, key, now })) === undefined) throw new Error('there was no file')
      },
    },
    {
      name: 'expire 50',
      times: 20,
      async run() {
        const next = await files.expire({ now: now + 20 * DAY_MS, limit: 50 })
        if (next !== 50) throw new Error(`${next} files expired`)
      },
    },
  ]
}

interface Upload {
  readonly admit: {
    readonly principal: string
    readonly day: string
    readonly key: string
    readonly sizeBytes: number
    readonly capBytes: number
    readonly capFiles: number
    readonly maxInFlight: number
    readonly now: number
  }
  readonly commit: FileCommit
}

/** A small UnixFS file with its piece, a name and a block. */
function uploadOf(of: { principal: string; seed: string; day: string; now: number }): Upload {
  const { principal, seed, day, now } = of
  const sha256 = digest(seed)
  const root = digest(`root of ${seed}`)
  const key = `sha256:${sha256}`
  const sizeBytes = 4096
  return {
    admit: { principal, day, key, sizeBytes, capBytes: CAP_BYTES, capFiles: CAP_BYTES, maxInFlight: 1000, now },
    commit: {
      now,
      inline: undefined,
      content: {
        pieceRoot: digest(`piece of ${seed}`),
        pieceSubtreeRoots: new Uint8Array(),
        aliases: [{ key: `dag-pb:${root}`, view: 'unixfs' }],
        dags: [{ kind: 'import', profile: 'unixfs-v1-2025', digests: Uint8Array.from(Buffer.from(root, 'hex')) }],
      },
      file: {
        principal,
        key,
        cid: `bafkrei${sha256.slice(0, 52)}`,
        sha256,
        sizeBytes,
        contentType: 'text/plain',
        filename: 'note.txt',
        visibility: 'public',
        owner: 'somebody@example.org',
        sponsored: false,
        verified: true,
        termDays: 30,
        uploadedAt: now,
        expiresAt: now + 30 * DAY_MS,
        dealId: newDealId(Date.now()),
      },
    },
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

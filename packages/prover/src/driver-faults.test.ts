import { openHttpProver } from '@lade/server/proving'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AnswerFault, AskedRequest } from './faults.ts'
import { pieceOf, startTestProver, type TestPiece } from './testing/harness.ts'
import { synapseClient } from './testing/synapse-client.ts'

const isFull = process.env.LADE_TEST_PLAN === 'full'
const PIECES = isFull ? 5000 : 40
const SEED = Number(process.env.LADE_TEST_SEED ?? Date.now() % 1_000_000)

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A third of all answers goes wrong, in every way that there is. */
function misfortune(random: () => number) {
  const faults: readonly ((when: 'before' | 'after') => AnswerFault)[] = [
    (when) => ({ kind: 'refuse', when }),
    (when) => ({ kind: 'refuse', when, status: 503, retryAfterSeconds: 1 }),
    (when) => ({ kind: 'refuse', when, status: 429, retryAfterSeconds: 1 }),
    (when) => ({ kind: 'cut', when }),
    (when) => ({ kind: 'cut', when }),
    (when) => ({ kind: 'late', when, delayMs: 5 }),
    (when) => ({ kind: 'never', when }),
    () => ({ kind: 'twice' }),
  ]
  const counts = new Map<string, number>()
  const answer = (_: AskedRequest): AnswerFault | undefined => {
    if (random() > 1 / 3) return undefined
    const fault = faults[Math.floor(random() * faults.length)]?.(random() < 0.5 ? 'before' : 'after')
    if (fault !== undefined) counts.set(fault.kind, (counts.get(fault.kind) ?? 0) + 1)
    return fault
  }
  return { counts, answer }
}

/** Repeats what may succeed later, at once, and lets every other failure through. */
async function insist<Result>(action: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await action()
    } catch (error) {
      const { evidence } = error as { readonly evidence?: { readonly retryAfterSeconds?: number } }
      if (evidence?.retryAfterSeconds === undefined || attempt === 200) throw error
    }
  }
}

type Prover = ReturnType<typeof openHttpProver>
type Kind = 'reference' | 'curio'

function openProver(origin: string, kind: Kind, options: Partial<Parameters<typeof openHttpProver>[0]> = {}): Prover {
  const account = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const signer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
  const prover = openHttpProver({ origin, kind, account, signer, ...options })
  onTestFinished(() => prover.close())
  return prover
}

const nonceOf = (number: number) => number.toString(16).padStart(64, '0')

function park(prover: Prover, { pieceCid, bytes }: Pick<TestPiece, 'pieceCid' | 'bytes'>): Promise<void> {
  const chunks = async function* () {
    yield bytes
  }
  const sourceUrl = `http://127.0.0.1/piece/${pieceCid}`
  return prover.park({ pieceCid, sizeBytes: bytes.length, chunks, sourceUrl }, new AbortController().signal)
}

async function add(prover: Prover, addition: Parameters<Prover['add']>[0]) {
  let transaction = await insist(() => prover.add(addition))
  for (;;) {
    const asked = { ...addition, transaction }
    const progress = await insist(() => prover.progress(asked))
    if (progress.state === 'confirmed') return progress
    if (progress.state === 'rejected') throw new Error(progress.reason)
    transaction = progress.transaction ?? transaction
  }
}

describe.each(['reference', 'curio'] as const)('a prover that keeps failing, asked as %s', (kind) => {
  test('has every piece once in the end, whatever was lost on the way', { timeout: 3_600_000 }, async () => {
    console.info(`seed ${SEED}`)
    const random = randomOf(SEED)
    const faults = misfortune(random)
    let isCalm = false
    const server = await startTestProver({
      confirmDelayMs: 3,
      faults: { answer: (request) => (isCalm ? undefined : faults.answer(request)) },
    })
    const times = { times: { headMs: 60, bodyMs: 60 }, transactionMs: 60, retryDelayMs: 1 }
    const prover = openProver(server.url, kind, { ...times, pollMs: 2, findMs: 200, breaker: { openMs: 2 } })

    const stored = new Map<string, string>()
    let dataSetId: string | null = null
    let made = 0
    for (let number = 0; number < PIECES; number += 4) {
      const pieces: TestPiece[] = [0, 2, 4, 6].map((step) => pieceOf(127 + number, 8 * number + step + 1))
      for (const { pieceCid, bytes } of pieces) {
        await insist(() => park(prover, { pieceCid, bytes }))
      }
      // A new data set now and then.
      if (number % 20 === 0) dataSetId = null
      if (dataSetId === null) made += 1
      const pieceCids = pieces.map(({ pieceCid }) => pieceCid)
      const confirmed = await add(prover, { nonce: nonceOf(number + 1), dataSetId, pieceCids })
      dataSetId = confirmed.dataSetId
      const [providerId] = confirmed.dataSetId.split('-')
      for (const [index, pieceId] of confirmed.pieceIds.entries()) {
        stored.set(`${providerId}/${pieceId}`, pieceCids[index] ?? '')
      }
    }

    isCalm = true
    const client = synapseClient(server.url)
    const held = new Map<string, string>()
    for (let id = 1; id <= made; id += 1) {
      for (const { pieceId, pieceCid } of (await client.getDataSet(id)).pieces) held.set(`${id}/${pieceId}`, pieceCid)
    }
    expect(held).toEqual(stored)
    expect(held.size).toBe(Math.ceil(PIECES / 4) * 4)
    await expect(client.getDataSet(made + 1)).rejects.toThrow('not found')
    expect([...faults.counts.keys()].toSorted()).toEqual(['cut', 'late', 'never', 'refuse', 'twice'])
  })
})

describe.each(['reference', 'curio'] as const)('a prover whose chain rejects a transaction, asked as %s', (kind) => {
  test('has the pieces once, though it was asked again while the transaction was under way', async () => {
    const rejected = new Set<string>()
    const server = await startTestProver({ confirmDelayMs: 1000, faults: { isRejected: (hash) => rejected.has(hash) } })
    const prover = openProver(server.url, kind)
    const pieces = [pieceOf(300, 1), pieceOf(300, 3)]
    for (const piece of pieces) await park(prover, piece)
    const [first = '', second = ''] = pieces.map(({ pieceCid }) => pieceCid)
    const { dataSetId } = await add(prover, { nonce: nonceOf(1), dataSetId: null, pieceCids: [first] })
    const addition = { nonce: nonceOf(2), dataSetId, pieceCids: [second] }
    rejected.add(await prover.add(addition))
    // The nonce is taken, for the time being.
    const confirmed = await add(prover, addition)
    expect(confirmed.dataSetId).toBe(dataSetId)
    const dataSet = await synapseClient(server.url).getDataSet(1)
    expect(dataSet.pieces.map(({ pieceCid }) => pieceCid)).toEqual([first, second])
  })
})

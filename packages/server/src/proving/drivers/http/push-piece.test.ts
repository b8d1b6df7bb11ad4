import { LadeError } from '@lade/core/errors'
import { describe, expect, test } from 'vitest'
import type { PieceToPark } from '../../prover.ts'
import { testPiece, toPark } from '../../testing-pieces.ts'
import { type HttpProverOptions, openHttpProver } from './http-prover.ts'
import { answerOf, startPeer, type Talk } from './testing-peer.ts'

const never = new AbortController().signal
const MiB = 1024 * 1024
const PIECE = testPiece(2_000_000)
const ID = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
const FOUND = answerOf(200, JSON.stringify({ pieceCid: PIECE.pieceCid }))
const OPENED = answerOf(201, '', [`location: /pdp/piece/uploads/${ID}`])

const ANNOUNCED = answerOf(201, '', [`location: /pdp/piece/upload/${ID}`])

type Socket = Parameters<Talk>[0]

/** What a prover answers to each step of an upload; the default does what it should. */
interface Steps {
  find?(turn: number): string
  put?(socket: Socket, turn: number, bodyBytes: number): void
  finalize?(turn: number): string | undefined
}

async function openHarness(steps: Steps = {}, options: Partial<HttpProverOptions> = {}) {
  const asked: string[] = []
  let isStored = false
  const turnOf = (step: string) => asked.filter((name) => name === step).length
  const peer = await startPeer((socket, head, bodyBytes) => {
    const step = head.startsWith('GET')
      ? 'find'
      : head.startsWith('PUT')
        ? 'put'
        : /uploads\//.test(head)
          ? 'finalize'
          : /piece HTTP/.test(head)
            ? 'announce'
            : 'open'
    asked.push(step)
    const turn = turnOf(step)
    if (step === 'put') {
      if (steps.put !== undefined) return steps.put(socket, turn, bodyBytes)
      return takeAll(socket, bodyBytes)
    }
    if (step === 'find') return void socket.end(steps.find?.(turn) ?? (isStored ? FOUND : answerOf(404)))
    if (step === 'open') return void socket.end(OPENED)
    if (step === 'announce') return void socket.end(isStored ? FOUND : ANNOUNCED)
    const answer = steps.finalize === undefined ? answerOf(200) : steps.finalize(turn)
    if (answer?.startsWith('HTTP/1.1 200') || answer === undefined) isStored = true
    if (answer === undefined) socket.destroy()
    else socket.end(answer)
  })
  const prover = openHttpProver({
    origin: peer.origin,
    kind: 'reference',
    times: { connectMs: 500, headMs: 500, bodyMs: 500, idleMs: 300 },
    retryDelayMs: 10,
    pollMs: 10,
    findMs: 300,
    ...options,
  })
  const park = (piece: Partial<PieceToPark> = {}) => prover.park({ ...toPark(PIECE), ...piece }, never)
  return { peer, asked, park }
}

/** Reads the whole body and says yes. */
function takeAll(socket: Socket, bodyBytes: number): void {
  let received = bodyBytes
  socket.on('data', (chunk) => {
    received += chunk.length
    if (received >= PIECE.bytes.length) socket.end(answerOf(204))
  })
}

/** More than any socket holds, and how much of it was asked for. */
function bigPiece() {
  let askedBytes = 0
  const chunk = new Uint8Array(MiB)
  async function* chunks() {
    for (; askedBytes < 100 * MiB; askedBytes += MiB) yield chunk
  }
  return { big: { sizeBytes: 100 * MiB, chunks }, askedBytes: () => askedBytes }
}

async function failureOf(action: Promise<unknown>) {
  const failure = await action.catch((error: unknown) => error)
  if (!LadeError.has(failure, 'stage_failed')) throw new Error('it did not fail as it should have', { cause: failure })
  return failure.evidence
}

describe('parking by upload', () => {
  test('sends the bytes once, with their length and without asking whether it may', async () => {
    const { peer, asked, park } = await openHarness()
    await park()
    expect(asked).toEqual(['find', 'open', 'put', 'finalize', 'find'])
    const head = peer.heads.find((text) => text.startsWith('PUT'))
    expect(head).toMatch(new RegExp(`^PUT /pdp/piece/uploads/${ID} HTTP/1.1\r\n`))
    expect(head).toMatch(/\r\ncontent-length: 2000000\r\n/i)
    expect(head).not.toMatch(/expect:|transfer-encoding:/i)
  })

  test('sends nothing that is there already, and announces it so that it is kept', async () => {
    const { asked, park } = await openHarness()
    await park()
    const before = asked.length
    await park()
    expect(asked.slice(before)).toEqual(['find', 'announce'])
  })

  test('sends what the prover drops after it was found', async () => {
    const { asked, park } = await openHarness({ find: () => FOUND })
    await park()
    expect(asked).toEqual(['find', 'announce', 'open', 'put', 'finalize', 'find'])
  })

  test('begins again from the start when the connection breaks', async () => {
    const { asked, park } = await openHarness({
      put(socket, turn, bodyBytes) {
        if (turn > 2) takeAll(socket, bodyBytes)
        else socket.once('data', () => socket.destroy())
      },
    })
    await park()
    const broken = ['open', 'put', 'find']
    expect(asked).toEqual(['find', ...broken, ...broken, 'open', 'put', 'finalize', 'find'])
  })

  test('gives up after three times', async () => {
    const { asked, park } = await openHarness({ put: (socket) => void socket.destroy() })
    expect((await failureOf(park())).retryAfterSeconds).toBeGreaterThan(0)
    expect(asked.filter((step) => step === 'put')).toHaveLength(3)
  })

  test('asks whether it was taken when the answer to the last step is lost', async () => {
    const { asked, park } = await openHarness({ finalize: (turn) => (turn === 1 ? undefined : answerOf(404)) })
    await park()
    expect(asked).toEqual(['find', 'open', 'put', 'finalize', 'finalize', 'find'])
  })

  test('begins again when the prover has forgotten the upload', async () => {
    const { asked, park } = await openHarness({ finalize: (turn) => answerOf(turn === 1 ? 404 : 200) })
    await park()
    expect(asked.filter((step) => step === 'put')).toHaveLength(2)
  })

  test('waits until the piece is found, and no longer than it should', async () => {
    const late = await openHarness({ find: (turn) => (turn < 6 ? answerOf(404) : FOUND) })
    await late.park()
    expect(late.asked.filter((step) => step === 'find')).toHaveLength(6)
    const lost = await openHarness({ find: () => answerOf(404) })
    expect(await failureOf(lost.park())).toEqual({
      reason: 'The prover received the bytes but cannot find the piece.',
      retryAfterSeconds: 30,
    })
  })

  test('lets the prover fail now and then while it is waited for', async () => {
    const { park } = await openHarness({
      find: (turn) => (turn === 1 || turn === 4 ? answerOf(404) : turn < 5 ? answerOf(500) : FOUND),
    })
    await park()
  })

  test('stops sending when the answer comes early, and takes it for what it is', async () => {
    const { asked, park } = await openHarness({ put: (socket) => void socket.write(answerOf(413, 'too much')) })
    const { big, askedBytes } = bigPiece()
    expect(await failureOf(park(big))).toEqual({ reason: 'The prover answered 413: too much' })
    expect(askedBytes()).toBeLessThan(16 * MiB)
    expect(asked).not.toContain('finalize')
  })

  test('asks for no more than the prover reads, and gives up when it reads nothing', async () => {
    const { park } = await openHarness({ put: (socket) => void socket.pause() }, { attempts: 1 })
    const { big, askedBytes } = bigPiece()
    const { reason } = await failureOf(park(big))
    expect(reason).toBe('The prover did not read the request within 0.3 seconds.')
    expect(askedBytes()).toBeLessThan(16 * MiB)
  })

  test('ends at its deadline, whatever it is waiting for', async () => {
    const { park } = await openHarness({ find: () => answerOf(404) }, { parkMs: -1800, findMs: 60_000 })
    expect((await failureOf(park())).reason).toMatch(/^The prover did not accept the piece within \d+ seconds\.$/)
  })

  test.each([
    ['fewer', PIECE.bytes.length + 1],
    ['more', PIECE.bytes.length - 1],
  ])('is a mistake of the caller with %s bytes than were said', async (_, sizeBytes) => {
    const { park } = await openHarness({}, { attempts: 1 })
    await expect(park({ sizeBytes })).rejects.toThrow(TypeError)
  })

  test('takes no piece of a size that the prover does not', async () => {
    const { asked, park } = await openHarness()
    expect((await failureOf(park({ sizeBytes: 126 }))).retryAfterSeconds).toBeUndefined()
    expect((await failureOf(park({ sizeBytes: 1_065_353_217 }))).retryAfterSeconds).toBeUndefined()
    expect(asked).toEqual([])
  })
})

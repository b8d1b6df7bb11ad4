import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { AnswerFault, PieceFault } from '../faults.ts'
import { pieceOf, startTestProver } from '../testing/harness.ts'
import { synapseClient } from '../testing/synapse-client.ts'

const RECORD_KEEPER = '0x8408502033C418E1bbC97cE9ac48E5528F371A9f'

async function startFaulty(path: string, fault: AnswerFault) {
  let isOn = true
  const answer = (request: { path: string }) => (isOn && request.path === path ? fault : undefined)
  const prover = await startTestProver({ faults: { answer } })
  const recover = () => {
    isOn = false
  }
  return { ...prover, client: synapseClient(prover.url), recover }
}

const create = (url: string, init: RequestInit = {}) =>
  fetch(`${url}/pdp/data-sets`, { method: 'POST', body: JSON.stringify({ recordKeeper: RECORD_KEEPER }), ...init })

describe('faults of answers', () => {
  test('refuse before anything happened, or after all of it', async () => {
    for (const when of ['before', 'after'] as const) {
      const fault: AnswerFault = { kind: 'refuse', when, status: 503, retryAfterSeconds: 7 }
      const { url, client } = await startFaulty('/pdp/data-sets', fault)
      const answer = await create(url)
      expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('location')]).toEqual([
        503,
        '7',
        null,
      ])
      expect(await answer.text()).toMatch(/^Service Unavailable \[eid: /)
      const outcome = client.getDataSet(1)
      if (when === 'before') await expect(outcome).rejects.toMatchObject({ status: 404 })
      else expect(await outcome).toMatchObject({ id: 1 })
    }
  })

  test('refuse a retrieval that was about to be sent', async () => {
    const piece = pieceOf(500_000)
    const fault: AnswerFault = { kind: 'refuse', when: 'after' }
    const { url, client } = await startFaulty(`/piece/${piece.pieceCid}`, fault)
    await client.uploadPiece(piece.pieceCid, piece.bytes)
    const answer = await fetch(`${url}/piece/${piece.pieceCid}`)
    expect([answer.status, await answer.text()]).toEqual([500, expect.stringMatching(/^Internal Server Error/)])
  })

  test('come late', async () => {
    for (const when of ['before', 'after'] as const) {
      const { client } = await startFaulty('/pdp/ping', { kind: 'late', when, delayMs: 150 })
      const started = performance.now()
      expect(await client.ping()).toBe('curio-pdp')
      expect(performance.now() - started).toBeGreaterThan(140)
    }
  })

  test('never come, or come as a cut connection, and the prover can be closed all the same', async () => {
    for (const kind of ['never', 'cut'] as const) {
      for (const when of ['before', 'after'] as const) {
        const { url, client, recover, close } = await startFaulty('/pdp/data-sets', { kind, when })
        const asked = create(url, { signal: AbortSignal.timeout(kind === 'never' ? 200 : 10_000) })
        await expect(asked).rejects.toThrow(kind === 'never' ? /timeout/ : /fetch failed/)
        const outcome = client.getDataSet(1)
        if (when === 'before') await expect(outcome).rejects.toMatchObject({ status: 404 })
        else expect(await outcome).toMatchObject({ id: 1 })
        recover()
        expect((await create(url)).status).toBe(201)
        await close()
      }
    }
  })

  test('are written twice to one connection', async () => {
    const { url } = await startFaulty('/pdp/ping', { kind: 'twice' })
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let text = ''
    socket.on('data', (data) => {
      text += data
    })
    socket.write('GET /pdp/ping HTTP/1.1\r\nhost: prover\r\n\r\n')
    await expect.poll(() => text.match(/HTTP\/1\.1 200 OK\r\n/g)?.length).toBe(2)
    expect(text.match(/curio-pdp/g)).toHaveLength(2)
    socket.destroy()
  })
})

describe('faults of pieces', () => {
  test('make a piece disappear and come back, and a byte read as another', async () => {
    let fault: PieceFault | undefined
    const { url } = await startTestProver({ faults: { piece: () => fault } })
    const client = synapseClient(url)
    const piece = pieceOf(300_000)
    await client.uploadPiece(piece.pieceCid, piece.bytes)
    const prove = async () => {
      const body = JSON.stringify({ seed: `0x${'07'.repeat(32)}`, count: 3, pieceCid: piece.pieceCid })
      return (await fetch(`${url}/pdp/prove`, { method: 'POST', body })).status
    }
    expect(await prove()).toBe(200)

    fault = { kind: 'lost' }
    await expect(client.findPiece(piece.pieceCid)).rejects.toMatchObject({ status: 404 })
    await expect(client.download(piece.pieceCid)).rejects.toMatchObject({ status: 404 })
    expect(await prove()).toBe(404)

    fault = { kind: 'flipped', offsetBytes: 270_000 }
    const flipped = await client.download(piece.pieceCid)
    expect([...flipped.keys()].filter((at) => flipped[at] !== piece.bytes[at])).toEqual([270_000])

    fault = undefined
    expect(await client.download(piece.pieceCid)).toEqual(piece.bytes)
    expect(await prove()).toBe(200)
  })

  test('make proofs fail where the flipped byte is asked for', async () => {
    const { url } = await startTestProver({ faults: { piece: () => ({ kind: 'flipped', offsetBytes: 100 }) } })
    const piece = pieceOf(1000)
    await synapseClient(url).uploadPiece(piece.pieceCid, piece.bytes)
    const body = JSON.stringify({ seed: `0x${'07'.repeat(32)}`, pieceCid: piece.pieceCid })
    expect((await fetch(`${url}/pdp/prove`, { method: 'POST', body })).status).toBe(410)
  })
})

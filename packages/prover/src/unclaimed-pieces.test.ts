/** How long pieces stay that the driver sent and that no data set has. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HOUR_MS } from '@lade/core/time'
import { openHttpProver } from '@lade/server/proving'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { pieceOf, startTestProver } from './testing/harness.ts'

const PARK_HOURS = 2
const PIECE = pieceOf(500, 1)

describe.each(['curio', 'curio-pull'] as const)('a piece at a prover of the kind %s', (kind) => {
  test('stays for as long as one that just came, after it was parked again', async () => {
    const source = createServer((_, response) => void response.end(PIECE.bytes))
    await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void source.close())
    const clock = { offsetMs: 0 }
    const now = () => Date.now() + clock.offsetMs
    const service = await startTestProver({ parkHours: PARK_HOURS, sweepMs: 20, now, privateHosts: ['127.0.0.1:*'] })
    const signer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
    const account = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
    const prover = openHttpProver({ origin: service.url, kind, signer, account, pollMs: 10 })
    onTestFinished(() => prover.close())
    const sourceUrl = `http://127.0.0.1:${(source.address() as AddressInfo).port}/piece/${PIECE.pieceCid}`
    const park = (chunks: () => AsyncIterable<Uint8Array>) =>
      prover.park({ ...PIECE, sizeBytes: PIECE.bytes.length, chunks, sourceUrl }, new AbortController().signal)
    const isThere = () =>
      prover.read({ pieceCid: PIECE.pieceCid, offset: 0, length: 1 }).then(
        () => true,
        () => false,
      )

    await park(async function* () {
      yield PIECE.bytes
    })
    clock.offsetMs += 1.5 * HOUR_MS
    await park(() => {
      throw new Error('the bytes are there')
    })
    clock.offsetMs += HOUR_MS
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await isThere()).toBe(true)
    clock.offsetMs += 1.5 * HOUR_MS
    await expect.poll(isThere, { timeout: 5000 }).toBe(false)
  })
})

/** How long pieces stay that the driver sent and that no data set has. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HOUR_MS } from '@lade/core/time'
import { openHttpProver } from '@lade/server/proving'
import { openPlacementFixture } from '@lade/server/testing/placement'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { pieceOf, startTestProver } from './testing/harness.ts'

const PARK_HOURS = 2
const PIECE = pieceOf(500, 1)

test('a piece whose addition the chain rejected is sent again after the provider dropped it, and is stored', async () => {
  const fixture = await openPlacementFixture()
  onTestFinished(() => fixture.close())
  let rejected: string | undefined
  const service = await startTestProver({
    parkHours: PARK_HOURS,
    sweepMs: 20,
    now: () => fixture.clock.now,
    faults: {
      isRejected(txHash) {
        // The first transaction that the chain sees.
        rejected ??= txHash
        return txHash === rejected
      },
    },
  })
  const signer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
  const account = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const prover = openHttpProver({ origin: service.url, kind: 'curio', signer, account, pollMs: 10 })
  onTestFinished(() => prover.close())
  const file = await fixture.put(PIECE.bytes)
  const longRetry = { firstRetryMs: 3 * HOUR_MS, maxRetryMs: 3 * HOUR_MS }
  const job = fixture.job([prover], { schedule: longRetry })
  const copyOf = async () => (await fixture.deal(file)).pieces[0]?.copies[0]
  await expect
    .poll(async () => {
      await fixture.pass(job, 2000, 1000)
      return copyOf()
    })
    .toMatchObject({ state: 'pending', rejections: 1 })
  fixture.clock.now += 3 * HOUR_MS
  const status = async () => (await fetch(`${service.url}/piece/${PIECE.pieceCid}`)).status
  await expect.poll(status).toBe(404)
  await expect
    .poll(async () => {
      await fixture.pass(job, 2000, 1000)
      return (await fixture.deal(file)).status
    })
    .toBe('active')
  expect(await copyOf()).toMatchObject({ state: 'stored', rejections: 1 })
  expect(await status()).toBe(200)
})

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

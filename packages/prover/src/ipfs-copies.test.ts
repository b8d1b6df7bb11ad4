/** A file whose CAR a Curio provider has, and that is fetched from there when the service is gone. */

import { CarBufferReader } from '@ipld/car'
import { pieceCidOf } from '@lade/core/content'
import { DagHasher, IMPORT_PROFILES } from '@lade/core/dag'
import { sha256 } from '@lade/node/hashing/sha256'
import { openHttpProver } from '@lade/server/proving'
import { openPlacementFixture } from '@lade/server/testing/placement'
import { exporter } from 'ipfs-unixfs-exporter'
import { CID } from 'multiformats/cid'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, onTestFinished, test } from 'vitest'
import { pieceOf, startTestProver } from './testing/harness.ts'

test('the provider stores the CAR in a data set of its own, and anybody reads the file from it', async () => {
  const provider = await startTestProver({ parkHours: 2 })
  const { bytes } = pieceOf(3_000_000, 7)
  const fixture = await openPlacementFixture()
  const prover = openHttpProver({
    origin: provider.url,
    kind: 'curio',
    signer: privateKeyToAccount(`0x${'11'.repeat(32)}`),
    account: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    pollMs: 10,
  })
  onTestFinished(() => prover.close())
  const profile = 'unixfs-v1-2025'
  const hasher = new DagHasher({ profiles: [IMPORT_PROFILES[profile]], sizeBytes: bytes.length, sha256 })
  hasher.update(bytes)
  const dags = hasher.finish().map(({ digests }) => ({ kind: 'import', profile, digests }) as const)
  const file = await fixture.put(bytes, { dags })
  await fixture.pass(fixture.job([prover], { ipfsCopies: 1 }), 120_000)
  const { status, car, pieces } = await fixture.deal(file)
  if (car === null) throw new Error('the file has no CAR')
  expect(status).toBe('active')
  expect(car.copies).toMatchObject([{ state: 'stored', provedAt: expect.any(Number) }])
  const dataSets = [...car.copies, ...(pieces[0]?.copies ?? [])].map(({ dataSetId }) => dataSetId)
  expect(new Set(dataSets).size).toBe(2)
  await fixture.close()

  const answer = await fetch(`${provider.url}/piece/${pieceCidOf(car)}`)
  const reader = CarBufferReader.fromBytes(new Uint8Array(await answer.arrayBuffer()))
  expect(reader.getRoots().map(String)).toEqual([car.rootCid])
  const blockstore = {
    async *get(cid: CID) {
      const block = reader.get(cid)
      if (block === undefined) throw new Error(`no block ${cid}`)
      yield block.bytes
    },
  }
  const entry = await exporter(CID.parse(car.rootCid), blockstore as never)
  if (entry.type !== 'file') throw new Error('the root is no file')
  expect(Buffer.compare(Buffer.concat(await Array.fromAsync(entry.content())), bytes)).toBe(0)
})

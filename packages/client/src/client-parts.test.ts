import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLadeClient } from './client.ts'
import { unixfsV1Cid } from './testing/importer.ts'
import { noise } from './testing/noise.ts'
import { type OwnService, startOwnService } from './testing/own-service.ts'

const MIB = 1_048_576

let service: OwnService
beforeAll(async () => {
  service = await startOwnService()
})
afterAll(() => service.remove())

const hex = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('put with a service', () => {
  it('composes a path and a stream of more than 100 MB, whatever the id', async () => {
    const data = noise(127 * MIB + 5_000_001, 12)
    const folder = await mkdtemp(join(tmpdir(), 'lade-client-'))
    const path = join(folder, 'big.bin')
    await writeFile(path, data)
    const own = createLadeClient({ url: service.url, token: await service.token() })
    try {
      const first = await own.put(path)
      expect(first).toMatchObject({ cid: await unixfsV1Cid(data), size: data.length, verified: true })
      // As the service folds it from what it kept of the parts.
      expect((await own.put(path, { cid: 'piece' })).cid).toBe(first.pieceCid)
      const other = createLadeClient({ url: service.url, token: await service.token() })
      const streamed = await other.put(createReadStream(path), { cid: 'sha256', expectedCid: first.cid })
      expect(streamed).toMatchObject({ cid: hex(data), sha256: hex(data) })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }, 60_000)
})

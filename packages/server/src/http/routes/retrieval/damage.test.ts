import { randomBytes } from 'node:crypto'
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openFsBlobStore } from '../../../blobs/drivers/fs/fs-blob-store.ts'
import { verifyingBlobStore } from '../../../blobs/wrappers/verifying-blob-store.ts'
import { sha256Hex } from '../../../hashing/sha256.ts'
import { memoryLog, type RunningService, runService } from '../../../testing/running-service.ts'
import { createDamageControl, type DamageControl } from '../../../upkeep/damage.ts'

describe('/p/{cid} of bytes that changed on the disk', () => {
  let dir: string
  let service: RunningService
  let damage: DamageControl
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'lade-damage-'))
    const store = await openFsBlobStore({ dir, minFreeBytes: 0 })
    damage = createDamageControl({ blobs: store, log: memoryLog([]), now: Date.now })
    const blobs = verifyingBlobStore({ store, onDamage: (sha256) => void damage.suspect(sha256) })
    service = await runService({ env: { LADE_SPONSORED_DAILY_MB: '1000' }, substitutes: { blobs } })
  })
  afterAll(async () => {
    await service.remove()
    await damage.settled()
    await rm(dir, { recursive: true, force: true })
  })

  const pathOf = (sha256: string) => join(dir, sha256.slice(0, 2), sha256)
  const read = async (cid: string) => {
    const response = await service.fetch(`/p/${cid}`)
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  /** Changes one bit of a blob, later than the tick of the kernel's clock in which it was written. */
  const damageAt = async (sha256: string, at: number) => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    const file = await open(pathOf(sha256), 'r+')
    const byte = new Uint8Array(1)
    await file.read(byte, 0, 1, at)
    await file.write(Uint8Array.of((byte[0] ?? 0) ^ 1), 0, 1, at)
    await file.close()
  }
  const isAway = async (sha256: string) => {
    await damage.settled()
    return readdir(join(dir, 'quarantine')).then((names) => names.filter((name) => name.startsWith(sha256)))
  }

  it.each([
    ['in its last byte', 2_000_000, 1_999_999],
    ['in its first byte', 2_000_000, 0],
    ['in a blob of one chunk', 100_000, 50_000],
  ])(
    'is never a whole answer when they are wrong %s, and is right again after the next upload',
    async (_, size, at) => {
      const bytes = randomBytes(size)
      const sha256 = sha256Hex(bytes)
      expect((await service.upload(bytes)).status).toBe(200)
      expect(await read(sha256)).toMatchObject({ status: 200, bytes })
      await damageAt(sha256, at)

      await expect(read(sha256)).rejects.toThrow()
      const names = await isAway(sha256)
      expect(names).toHaveLength(1)
      expect(sha256Hex(await readFile(join(dir, 'quarantine', names[0] ?? '')))).not.toBe(sha256)
      const gone = await read(sha256)
      expect(gone.status).toBe(503)
      expect(JSON.parse(gone.bytes.toString())).toMatchObject({ error: 'storage_failed' })
      expect(Number(gone.headers.get('retry-after'))).toBeGreaterThan(0)

      const { token } = await service.signUp('grace@example.org')
      expect((await service.upload(bytes, { token })).status).toBe(200)
      expect(await read(sha256)).toMatchObject({ status: 200, bytes })
    },
  )
})

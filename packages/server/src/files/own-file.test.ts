import { parseContentId } from '@lade/core/content'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStagingGround, PRINCIPAL, type StagingGround } from '../testing/running/staging-ground.ts'
import { ownFile, ownLiveFile } from './own-file.ts'
import { removeFile } from './remove-file.ts'

const BYTES = Buffer.from('mine')
const cid = parseContentId(sha256Hex(BYTES), sha256Hex)

describe('files of a principal', () => {
  let ground: StagingGround
  beforeEach(async () => {
    ground = await openStagingGround()
    await ground.stage(BYTES)
  })
  afterEach(() => ground.remove())

  const asked = (principal = PRINCIPAL) => ({ principal, cid, now: ground.clock.now })

  it('are found, live and ended', async () => {
    expect(await ownFile(ground.records, asked())).toMatchObject({ end: null })
    await removeFile(ground.records, asked())
    expect(await ownFile(ground.records, asked())).toMatchObject({ end: 'removed' })
  })

  it('refuses a file of somebody else as not_found, in each of the three ways', async () => {
    for (const use of [ownFile, ownLiveFile, removeFile]) {
      await expect(use(ground.records, asked('user:2'))).rejects.toMatchObject({ code: 'not_found' })
    }
    expect(await ownFile(ground.records, asked())).toMatchObject({ end: null })
  })

  it('refuses a removed file as gone, and to remove it twice', async () => {
    expect(await removeFile(ground.records, asked())).toMatchObject({ end: 'removed' })
    const gone = { code: 'gone', evidence: { reason: 'removed' } }
    await expect(ownLiveFile(ground.records, asked())).rejects.toMatchObject(gone)
    await expect(removeFile(ground.records, asked())).rejects.toMatchObject(gone)
  })

  it('refuses a file past its term as gone, swept or not', async () => {
    ground.clock.now += 30 * 86_400_000
    const gone = { code: 'gone', evidence: { reason: 'expired' } }
    await expect(ownLiveFile(ground.records, asked())).rejects.toMatchObject(gone)
    await expect(removeFile(ground.records, asked())).rejects.toMatchObject(gone)
    await ground.records.files.expire({ now: ground.clock.now, limit: 9 })
    await expect(ownLiveFile(ground.records, asked())).rejects.toMatchObject(gone)
  })

  it('keeps what was charged when it removes, and lets the file be staged again', async () => {
    await removeFile(ground.records, asked())
    expect((await ground.usage()).days).toEqual([expect.objectContaining({ bytes: BYTES.length })])
    await ground.stage(BYTES)
    expect(await ownLiveFile(ground.records, asked())).toMatchObject({ end: null })
  })

  it('removes once when two ask at once', async () => {
    const outcomes = await Promise.allSettled([
      removeFile(ground.records, asked()),
      removeFile(ground.records, asked()),
    ])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })
})

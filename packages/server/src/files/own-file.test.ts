import { parseContentId } from '@lade/core/content'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStagingFixture, PRINCIPAL, type StagingFixture } from '../testing/running/staging-fixture.ts'
import { ownFile, ownLiveFile } from './own-file.ts'
import { removeFile } from './remove-file.ts'

const BYTES = Buffer.from('mine')
const cid = parseContentId(sha256Hex(BYTES), sha256Hex)

describe('files of a principal', () => {
  let fixture: StagingFixture
  beforeEach(async () => {
    fixture = await openStagingFixture()
    await fixture.stage(BYTES)
  })
  afterEach(() => fixture.remove())

  const asked = (principal = PRINCIPAL) => ({ principal, cid, now: fixture.clock.now })

  it('are found, live and ended', async () => {
    expect(await ownFile(fixture.records, asked())).toMatchObject({ end: null })
    await removeFile(fixture.records, asked())
    expect(await ownFile(fixture.records, asked())).toMatchObject({ end: 'removed' })
  })

  it('refuses a file of somebody else as not_found, in each of the three ways', async () => {
    for (const use of [ownFile, ownLiveFile, removeFile]) {
      await expect(use(fixture.records, asked('user:2'))).rejects.toMatchObject({ code: 'not_found' })
    }
    expect(await ownFile(fixture.records, asked())).toMatchObject({ end: null })
  })

  it('refuses a removed file as gone, and to remove it twice', async () => {
    expect(await removeFile(fixture.records, asked())).toMatchObject({ end: 'removed' })
    const gone = { code: 'gone', evidence: { reason: 'removed' } }
    await expect(ownLiveFile(fixture.records, asked())).rejects.toMatchObject(gone)
    await expect(removeFile(fixture.records, asked())).rejects.toMatchObject(gone)
  })

  it('refuses a file past its term as gone, swept or not', async () => {
    fixture.clock.now += 30 * 86_400_000
    const gone = { code: 'gone', evidence: { reason: 'expired' } }
    await expect(ownLiveFile(fixture.records, asked())).rejects.toMatchObject(gone)
    await expect(removeFile(fixture.records, asked())).rejects.toMatchObject(gone)
    await fixture.records.files.expire({ now: fixture.clock.now, limit: 9 })
    await expect(ownLiveFile(fixture.records, asked())).rejects.toMatchObject(gone)
  })

  it('keeps what was charged when it removes, and lets the file be staged again', async () => {
    await removeFile(fixture.records, asked())
    expect((await fixture.usage()).days).toEqual([expect.objectContaining({ bytes: BYTES.length })])
    await fixture.stage(BYTES)
    expect(await ownLiveFile(fixture.records, asked())).toMatchObject({ end: null })
  })

  it('removes once when two ask at once', async () => {
    const outcomes = await Promise.allSettled([
      removeFile(fixture.records, asked()),
      removeFile(fixture.records, asked()),
    ])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })
})

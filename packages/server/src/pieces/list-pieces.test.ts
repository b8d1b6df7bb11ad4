import { parseContentId } from '@lade/core/content'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStagingFixture, PRINCIPAL, type StagingFixture } from '../testing/running/staging-fixture.ts'
import { listPieces } from './list-pieces.ts'

/** 255 bytes of 0xcc: vector 13 of the published ones, whose piece is padded to 512. */
const BYTES = Buffer.alloc(255, 0xcc)

describe('listPieces', () => {
  let fixture: StagingFixture
  beforeEach(async () => {
    fixture = await openStagingFixture()
  })
  afterEach(() => fixture.remove())

  const list = (texts: readonly string[], principal = PRINCIPAL) => {
    const cids = texts.map((text) => parseContentId(text, sha256Hex))
    return listPieces(fixture.records, { cids, now: fixture.clock.now, principal })
  }

  it('says what the piece of each is, in the order asked, and which have none', async () => {
    await fixture.stage(BYTES, { cid: 'myfile0001' })
    const hex = sha256Hex(BYTES)
    const item = {
      pieceCid: 'bafkzcibd7uaqi34irotxdjcyfdkedvj3a2v2o6pghvnh2xgw5dyywqhzr4dzvcz5',
      pieceCidV1: 'baga6ea4seaqg7celu5y2iwbi2ra5koygvotxtzr5lj6vzvxi6gfub6mpa6niwpi',
      rawSize: 255,
      paddedSize: 512,
      height: 4,
      aggregate: null,
    }
    const absent = sha256Hex(Buffer.from('never staged'))
    expect(await list([hex, absent, item.pieceCidV1, 'myfile0001', 'MYFILE0001'])).toEqual({
      items: [
        { cid: hex, ...item },
        { cid: item.pieceCidV1, ...item },
        { cid: 'myfile0001', ...item },
      ],
      missing: [absent, 'MYFILE0001'],
    })
  })

  it('knows private files for their owner only, and nothing of what has ended', async () => {
    await fixture.stage(BYTES, { head: { visibility: 'private' } })
    const hex = sha256Hex(BYTES)
    expect((await list([hex])).items).toHaveLength(1)
    expect((await list([hex], 'user:2')).missing).toEqual([hex])
    fixture.clock.now += 31 * 86_400_000
    expect((await list([hex])).missing).toEqual([hex])
  })
})

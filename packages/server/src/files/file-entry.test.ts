import { DAY_MS } from '@lade/core/time'
import { fileEntry, uploadResult } from '@lade/core/wire'
import { describe, expect, it } from 'vitest'
import { fileRecordOf } from '../testing/running/staging-fixture.ts'
import { expiringFrom } from './deal-status.ts'
import { fileEntryOf, statusOf, termText, uploadResultOf } from './file-entry.ts'

const ACTIVE = { status: 'active', statusAt: 7, cause: null, onchainDealId: null } as const
const urlOf = (cid: string) => `https://lade.example/p/${cid}`

describe('termText', () => {
  it.each([
    [1, '1 day'],
    [2, '2 days'],
    [365, '365 days'],
  ])('writes %i as people do', (days, text) => expect(termText(days)).toBe(text))
})

describe('statusOf', () => {
  it('is staged until the instant of expiry, and expired from then on, swept or not', () => {
    const file = fileRecordOf({ expiresAt: 1000 })
    expect([statusOf(file, undefined, 999), statusOf(file, undefined, 1000)]).toEqual(['staged', 'expired'])
    expect(statusOf({ ...file, end: 'expired', endedAt: 1000 }, ACTIVE, 2000)).toBe('expired')
  })

  it('stays removed after the term', () => {
    expect(statusOf(fileRecordOf({ end: 'removed', endedAt: 5, expiresAt: 1000 }), ACTIVE, 2000)).toBe('removed')
  })

  it('is what the deal says while the file is live', () => {
    const file = fileRecordOf({ expiresAt: 30 * DAY_MS, termDays: 30 })
    const from = 27 * DAY_MS
    expect([statusOf(file, ACTIVE, from - 1), statusOf(file, ACTIVE, from)]).toEqual(['active', 'expiring'])
    expect(expiringFrom({ expiresAt: DAY_MS, termDays: 1 })).toBe(0.9 * DAY_MS)
    expect(statusOf(file, { ...ACTIVE, status: 'proposed' }, from)).toBe('proposed')
    expect(statusOf(file, { status: 'failed', statusAt: 7, cause: 'Lost.', onchainDealId: null }, from)).toBe('failed')
  })

  it('is composed for a part, which has no deal any more', () => {
    const part = fileRecordOf({ end: 'composed', endedAt: 5, expiresAt: 1000 })
    expect(statusOf(part, ACTIVE, 2000)).toBe('composed')
    expect(fileEntry.parse(fileEntryOf(part, undefined, urlOf, 0))).toMatchObject({ status: 'composed' })
  })
})

describe('fileEntryOf', () => {
  it('is what the wire schema says, with the existing fields first', () => {
    const entry = fileEntryOf(fileRecordOf(), undefined, urlOf, 0)
    expect(fileEntry.parse(entry)).toEqual(entry)
    const unread = fileEntryOf({ ...fileRecordOf(), sha256: null }, undefined, urlOf, 0)
    expect(fileEntry.parse(unread)).toMatchObject({ sha256: null })
    expect(entry).toMatchObject({ dealId: 'd-0x00', syntheticDealId: 'd-0x00' })
    const onchain = fileEntryOf(fileRecordOf(), { ...ACTIVE, onchainDealId: '41' }, urlOf, 0)
    expect(onchain).toMatchObject({ dealId: '41', syntheticDealId: 'd-0x00' })
    const existing = ['cid', 'size', 'filename', 'contentType', 'uploadedAt', 'term', 'sponsored']
    expect(Object.keys(entry).slice(0, 7)).toEqual(existing)
  })
})

describe('uploadResultOf', () => {
  it('is what the wire schema says, under the cid of this request, with the seven fields first', () => {
    const result = uploadResultOf(fileRecordOf(), undefined, 'bafkreiother', urlOf, 0)
    expect(uploadResult.parse(result)).toEqual(result)
    expect(Object.entries(result).slice(0, 7)).toEqual([
      ['cid', 'bafkreiother'],
      ['dealId', 'd-0x00'],
      ['size', 3],
      ['retrievalUrl', 'https://lade.example/p/bafkreiother'],
      ['term', '7 days'],
      ['sponsored', true],
      ['owner', null],
    ])
    expect(result).toMatchObject({ visibility: 'public', contentType: 'text/plain', filename: null })
    const onchain = uploadResultOf(fileRecordOf(), { ...ACTIVE, onchainDealId: '41' }, 'bafkreiother', urlOf, 0)
    expect(onchain).toMatchObject({ dealId: '41', syntheticDealId: 'd-0x00' })
  })
})

import { describe, expect, test } from 'vitest'
import { prepareWrites, type WriteName } from '../../sql/writes.ts'
import { postgresSql } from './postgres-sql.ts'
import { laneOf } from './write-lanes.ts'

const NAMES = Object.keys(prepareWrites(postgresSql())) as WriteName[]
/** What every write finds what it looks for in. */
const ANY = {
  principal: 'user:alice',
  file: { principal: 'user:alice' },
  admit: { principal: 'user:alice' },
  address: '203.0.113.7',
  name: 'placement',
} as never

describe('laneOf', () => {
  test('knows every write', () => {
    for (const name of NAMES) expect(['string', 'undefined']).toContain(typeof laneOf(name, ANY))
  })

  test('puts whatever changes the quota of one principal in one lane, and other principals in others', () => {
    const bob = { principal: 'user:bob', file: { principal: 'user:bob' }, admit: { principal: 'user:bob' } } as never
    const writes = ['reserve', 'commit', 'commitAtOnce', 'compose', 'removeFile'] as const
    expect(new Set(writes.map((name) => laneOf(name, ANY))).size).toBe(1)
    for (const name of writes) expect(laneOf(name, bob)).not.toBe(laneOf(name, ANY))
  })

  test('puts the /64s of one /48 in one lane, since they share its day', () => {
    const lane = (principal: string) => laneOf('reserve', { principal } as never)
    expect(lane('ip:2001:db8:1:2::/64')).toBe(lane('ip:2001:db8:1:3::/64'))
    expect(lane('ip:2001:db8:2:2::/64')).not.toBe(lane('ip:2001:db8:1:2::/64'))
  })

  test('keeps principals, addresses and leases of one name apart', () => {
    const one = 'placement'
    const lanes = [
      laneOf('removeFile', { principal: one } as never),
      laneOf('signUp', { address: one } as never),
      laneOf('takeLease', { name: one } as never),
      laneOf('enrolFiles', {} as never),
    ]
    expect(new Set(lanes).size).toBe(lanes.length)
  })

  test('puts what touches uploads in one lane under contention, and leaves the rest where it is', () => {
    const contended = NAMES.filter((name) => laneOf(name, ANY, true) === 'crowd')
    expect(contended.toSorted()).toEqual(
      ['claim', 'commit', 'commitAtOnce', 'compose', 'release', 'removeFile', 'reserve'].toSorted(),
    )
    for (const name of NAMES.filter((each) => !contended.includes(each))) {
      expect(laneOf(name, ANY, true)).toBe(laneOf(name, ANY))
    }
  })
})

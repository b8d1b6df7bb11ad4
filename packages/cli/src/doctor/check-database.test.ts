import type { DatabaseFacts } from '@lade/server/stores'
import { describe, expect, test } from 'vitest'
import { findingsOf } from './check-database.ts'

const GOOD: DatabaseFacts = {
  version: '17.2',
  majorVersion: 17,
  fsync: true,
  fullPageWrites: true,
  synchronousCommit: 'on',
  maxConnections: 100,
  isReadOnly: false,
  schemaVersion: 3,
  clockAheadMs: 12,
}
const NEEDS = { name: 'the database lade at db', needed: 18, schemaVersion: 3 }

/** The states that are not ok, by check. */
function worries(facts: Partial<DatabaseFacts>): Record<string, string> {
  const findings = findingsOf({ ...GOOD, ...facts }, NEEDS)
  return Object.fromEntries(findings.filter(({ state }) => state !== 'ok').map(({ check, state }) => [check, state]))
}

describe('findingsOf', () => {
  test('has nothing against a good database', () => {
    expect(worries({})).toEqual({})
  })

  test.each<[string, Partial<DatabaseFacts>, Record<string, string>]>([
    ['one that is too old', { version: '14.9', majorVersion: 14 }, { database: 'broken' }],
    ['a standby', { isReadOnly: true }, { database: 'broken' }],
    ['fsync off', { fsync: false }, { databaseDurability: 'broken' }],
    ['full_page_writes off', { fullPageWrites: false }, { databaseDurability: 'broken' }],
    ['synchronous_commit off', { synchronousCommit: 'off' }, { databaseDurability: 'warning' }],
    ['too few connections', { maxConnections: 10 }, { databaseConnections: 'broken' }],
    ['a newer schema', { schemaVersion: 4 }, { databaseSchema: 'broken' }],
    ['no schema yet', { schemaVersion: 0 }, { databaseSchema: 'unknown' }],
    ['an older schema', { schemaVersion: 2 }, {}],
    ['a clock that is ahead', { clockAheadMs: 5000 }, { databaseClock: 'warning' }],
    ['a clock that is behind', { clockAheadMs: -5000 }, { databaseClock: 'warning' }],
  ])('finds %s', (_, facts, expected) => {
    expect(worries(facts)).toEqual(expected)
  })
})

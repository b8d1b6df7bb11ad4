import { describe, expect, test } from 'vitest'
import { prepareWrites, type WriteName } from '../../sql/writes.ts'
import { postgresSql } from './postgres-sql.ts'
import { queueNameOf } from './write-queue-names.ts'

const NAMES = Object.keys(prepareWrites(postgresSql())) as WriteName[]
/** What every write finds what it looks for in. */
const ANY = {
  principal: 'user:alice',
  file: { principal: 'user:alice' },
  admit: { principal: 'user:alice' },
  upload: { principal: 'user:alice' },
  address: '203.0.113.7',
  name: 'placement',
} as never

describe('queueNameOf', () => {
  test('knows every write', () => {
    for (const name of NAMES) expect(['string', 'undefined']).toContain(typeof queueNameOf(name, ANY))
  })

  test('puts whatever changes the quota of one principal in one queue, and other principals in others', () => {
    const bob = { principal: 'user:bob', file: { principal: 'user:bob' }, admit: { principal: 'user:bob' } } as never
    const writes = [
      'quotas.reserve',
      'quotas.grow',
      'quotas.commit',
      'quotas.commitAtOnce',
      'quotas.commitTogether',
      'compositions.commit',
      'files.remove',
    ] as const
    expect(new Set(writes.map((name) => queueNameOf(name, ANY))).size).toBe(1)
    for (const name of writes) expect(queueNameOf(name, bob)).not.toBe(queueNameOf(name, ANY))
  })

  test('puts the /64s of one /48 in one queue, since they share its day', () => {
    const queueName = (principal: string) => queueNameOf('quotas.reserve', { principal } as never)
    expect(queueName('ip:2001:db8:1:2::/64')).toBe(queueName('ip:2001:db8:1:3::/64'))
    expect(queueName('ip:2001:db8:2:2::/64')).not.toBe(queueName('ip:2001:db8:1:2::/64'))
  })

  test('keeps principals, addresses and leases of one name apart', () => {
    const one = 'placement'
    const queues = [
      queueNameOf('files.remove', { principal: one } as never),
      queueNameOf('tokens.signUp', { address: one } as never),
      queueNameOf('leases.take', { name: one } as never),
      queueNameOf('placements.enrol', {} as never),
    ]
    expect(new Set(queues).size).toBe(queues.length)
  })

  test('puts what touches uploads in one queue under contention, and leaves the rest where it is', () => {
    const contended = NAMES.filter((name) => queueNameOf(name, ANY, true) === 'crowd')
    expect(contended.toSorted()).toEqual(
      [
        'quotas.claim',
        'quotas.commit',
        'quotas.commitAtOnce',
        'quotas.commitTogether',
        'quotas.grow',
        'compositions.commit',
        'blockedCallers.endFiles',
        'claims.take',
        'erasure.endFiles',
        'erasure.endedFiles',
        'takedowns.block',
        'quotas.release',
        'files.remove',
        'openUploads.create',
        'openUploads.end',
        'openUploads.expire',
        'quotas.reserve',
      ].toSorted(),
    )
    for (const name of NAMES.filter((each) => !contended.includes(each))) {
      expect(queueNameOf(name, ANY, true)).toBe(queueNameOf(name, ANY))
    }
  })
})

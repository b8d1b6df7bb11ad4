import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import type { DatabaseState } from '../records/database-state.ts'
import { databaseMetrics } from './database-metrics.ts'

describe('databaseMetrics', () => {
  const quiet: DatabaseState = {
    transactions: {
      committed: 0,
      conflicts: 0,
      deadlocks: 0,
      lockTimeouts: 0,
      races: 0,
      lost: 0,
      foundCommitted: 0,
      unknown: 0,
    },
    isContended: false,
    queues: 0,
    writers: { open: 1, idle: 1, waiting: 0 },
    readers: { open: 0, idle: 0, waiting: 0 },
  }
  const busy: DatabaseState = {
    transactions: {
      committed: 1000,
      conflicts: 20,
      deadlocks: 1,
      lockTimeouts: 2,
      races: 3,
      lost: 40,
      foundCommitted: 5,
      unknown: 6,
    },
    isContended: true,
    queues: 70,
    writers: { open: 8, idle: 0, waiting: 62 },
    readers: { open: 5, idle: 3, waiting: 0 },
  }

  it('counts transactions and the attempts at them, and shows connections and who waits, as they are when it is asked', async () => {
    const registry = new Registry()
    let state = quiet
    databaseMetrics(registry, () => state)
    const lines = async () => (await registry.metrics()).split('\n').filter((line) => line !== '' && line[0] !== '#')
    const before = await lines()
    expect(before).toContain('lade_database_transactions_total{outcome="unknown"} 0')
    expect(before).toContain('lade_database_crowded 0')
    state = busy
    expect(await lines()).toEqual([
      'lade_database_transactions_total{outcome="committed"} 1000',
      'lade_database_transactions_total{outcome="found_committed"} 5',
      'lade_database_transactions_total{outcome="unknown"} 6',
      'lade_database_failed_attempts_total{cause="conflict"} 20',
      'lade_database_failed_attempts_total{cause="deadlock"} 1',
      'lade_database_failed_attempts_total{cause="lock_timeout"} 2',
      'lade_database_failed_attempts_total{cause="race"} 3',
      'lade_database_failed_attempts_total{cause="connection"} 40',
      'lade_database_connections{pool="writers",state="in_use"} 8',
      'lade_database_connections{pool="writers",state="idle"} 0',
      'lade_database_connections{pool="readers",state="in_use"} 2',
      'lade_database_connections{pool="readers",state="idle"} 3',
      'lade_database_connection_waiters{pool="writers"} 62',
      'lade_database_connection_waiters{pool="readers"} 0',
      'lade_database_write_lanes 70',
      'lade_database_crowded 1',
    ])
  })
})

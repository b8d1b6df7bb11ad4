import { Counter, Gauge, type Registry } from 'prom-client'
import type { DatabaseState } from '../records/database-state.ts'

/** Adds what this process meets in the database under the records, one that several processes share. */
export function databaseMetrics(registry: Registry, databaseState: () => DatabaseState): void {
  const registers = [registry]
  new Counter({
    name: 'lade_database_transactions_total',
    help: 'Transactions since the start, by outcome.',
    labelNames: ['outcome'],
    registers,
    collect() {
      const { committed, foundCommitted, unknown } = databaseState().transactions
      this.reset()
      this.inc({ outcome: 'committed' }, committed)
      this.inc({ outcome: 'found_committed' }, foundCommitted)
      this.inc({ outcome: 'unknown' }, unknown)
    },
  })
  new Counter({
    name: 'lade_database_failed_attempts_total',
    help: 'Failed transaction attempts since the start, including those that succeeded on retry, by cause.',
    labelNames: ['cause'],
    registers,
    collect() {
      const { conflicts, deadlocks, lockTimeouts, races, lost } = databaseState().transactions
      this.reset()
      this.inc({ cause: 'conflict' }, conflicts)
      this.inc({ cause: 'deadlock' }, deadlocks)
      this.inc({ cause: 'lock_timeout' }, lockTimeouts)
      this.inc({ cause: 'race' }, races)
      this.inc({ cause: 'connection' }, lost)
    },
  })
  new Gauge({
    name: 'lade_database_connections',
    help: 'Database connections, by pool and state.',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, { open, idle }] of poolsOf(databaseState())) {
        this.set({ pool, state: 'in_use' }, open - idle)
        this.set({ pool, state: 'idle' }, idle)
      }
    },
  })
  new Gauge({
    name: 'lade_database_connection_waiters',
    help: 'Tasks that wait for a database connection.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, { waiting }] of poolsOf(databaseState())) this.set({ pool }, waiting)
    },
  })
  new Gauge({
    name: 'lade_database_write_lanes',
    help: 'Write queues in use, usually one per principal.',
    registers,
    collect() {
      this.set(databaseState().queues)
    },
  })
  new Gauge({
    name: 'lade_database_crowded',
    help: '1 while writes of different principals are queued together because of contention; otherwise 0.',
    registers,
    collect() {
      this.set(databaseState().isContended ? 1 : 0)
    },
  })
}

function poolsOf({ writers, readers }: DatabaseState) {
  return [
    ['writers', writers],
    ['readers', readers],
  ] as const
}

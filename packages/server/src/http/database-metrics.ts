import { Counter, Gauge, type Registry } from 'prom-client'
import type { DatabaseState } from '../records/database-state.ts'

/** Adds what this process meets in the database under the records, one that several processes share. */
export function databaseMetrics(registry: Registry, databaseState: () => DatabaseState): void {
  const registers = [registry]
  new Counter({
    name: 'lade_database_transactions_total',
    help: 'Transactions that came to an end since the start, by how sure it is that they were made.',
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
    help: 'Attempts at a transaction that failed since the start and may have gone well when made again, by cause.',
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
    help: 'Connections to the database, by what they are for and whether somebody uses them.',
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
    help: 'Who waits for a connection to the database, since all that may be open are in use.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, { waiting }] of poolsOf(databaseState())) this.set({ pool }, waiting)
    },
  })
  new Gauge({
    name: 'lade_database_write_lanes',
    help: 'Lanes that have something to write; writes of one lane follow each other.',
    registers,
    collect() {
      this.set(databaseState().lanes)
    },
  })
  new Gauge({
    name: 'lade_database_crowded',
    help: '1 while writes of different principals follow each other, since they undid each other; 0 otherwise.',
    registers,
    collect() {
      this.set(databaseState().isCrowded ? 1 : 0)
    },
  })
}

function poolsOf({ writers, readers }: DatabaseState) {
  return [
    ['writers', writers],
    ['readers', readers],
  ] as const
}

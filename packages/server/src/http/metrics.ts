import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { budgetMetrics } from './budget-metrics.ts'
import { clockMetrics } from './clock-metrics.ts'
import { databaseMetrics } from './database-metrics.ts'
import { diskMetrics } from './disk-metrics.ts'
import { integrityMetrics } from './integrity-metrics.ts'
import type { Service } from './service.ts'

/** What the metrics are made of. */
export type MetricsSource = Pick<
  Service,
  'budget' | 'config' | 'records' | 'databaseState' | 'placed' | 'keys' | 'now' | 'clock' | 'integrity'
>

/**
 * The metrics of this process and of the data, for Prometheus.
 *
 * What is counted in the records (copies, deals, files that wait) is the same in every process that shares them; what is counted since
 * the start (audits, copies moved) is this process's own, and grows in the one that places files.
 */
export function createMetrics(source: MetricsSource): Registry {
  const { budget, records, databaseState, placed, keys, now, clock, integrity } = source
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

  const copies = new Gauge({
    name: 'lade_copies',
    help: 'Copies of pieces, by prover and state.',
    labelNames: ['prover', 'state'],
    registers,
  })
  const deals = new Gauge({
    name: 'lade_deals',
    help: 'Deals of live files, by status.',
    labelNames: ['status'],
    registers,
  })
  new Gauge({
    name: 'lade_files_waiting',
    help: 'Small files waiting for an aggregate.',
    registers,
    async collect() {
      const counts = await records.placements.counts()
      copies.reset()
      for (const { prover, state, count } of counts.copies) copies.set({ prover, state }, count)
      deals.reset()
      for (const { status, count } of counts.deals) deals.set({ status }, count)
      this.set(counts.waiting)
    },
  })
  new Counter({
    name: 'lade_audits_total',
    help: 'Audits of copies since the start, by prover and result.',
    labelNames: ['prover', 'result'],
    registers,
    collect() {
      this.reset()
      for (const { prover, passed, failed } of placed().audits) {
        this.inc({ prover, result: 'passed' }, passed)
        this.inc({ prover, result: 'failed' }, failed)
      }
    },
  })
  new Counter({
    name: 'lade_copies_failed_total',
    help: 'Copies that failed since the start.',
    registers,
    collect() {
      this.reset()
      this.inc(placed().copiesFailed)
    },
  })
  new Counter({
    name: 'lade_copies_moved_total',
    help: 'Copies made to replace failed ones, since the start.',
    registers,
    collect() {
      this.reset()
      this.inc(placed().copiesMoved)
    },
  })
  new Gauge({
    name: 'lade_chain_pending_transactions',
    help: 'Transactions that are not in a block yet; absent without onchain deals.',
    registers,
    collect() {
      const { pendingTransactions } = placed()
      // `reset` would make it 0.
      this.remove()
      if (pendingTransactions !== undefined) this.set(pendingTransactions)
    },
  })
  new Gauge({
    name: 'lade_signing_key_age_days',
    help: 'Age of the signing key in days. Rotate it after 90. Absent for a key without a date.',
    registers,
    collect() {
      const ageDays = keys.find()?.ageDays(new Date(now()))
      this.remove()
      if (ageDays !== undefined) this.set(ageDays)
    },
  })
  diskMetrics(registry, source)
  clockMetrics(registry, clock)
  budgetMetrics(registry, budget)
  if (databaseState !== undefined) databaseMetrics(registry, databaseState)
  if (integrity !== undefined) integrityMetrics(registry, integrity)
  return registry
}

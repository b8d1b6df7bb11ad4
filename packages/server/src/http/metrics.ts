import { DAY_MS } from '@lade/core/time'
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { budgetMetrics } from './budget-metrics.ts'
import { clockMetrics } from './clock-metrics.ts'
import { databaseMetrics } from './database-metrics.ts'
import { diskMetrics } from './disk-metrics.ts'
import { integrityMetrics } from './integrity-metrics.ts'
import { marketMetrics } from './market-metrics.ts'
import { moderationMetrics } from './moderation-metrics.ts'
import type { RequestCounters } from './request-counters.ts'
import { requestMetrics } from './request-metrics.ts'
import type { Service } from './service.ts'

/** What the metrics are made of. */
export type MetricsSource = Pick<
  Service,
  | 'budget'
  | 'config'
  | 'records'
  | 'databaseState'
  | 'placed'
  | 'keys'
  | 'now'
  | 'clock'
  | 'integrity'
  | 'stallWatch'
  | 'retries'
  | 'moderation'
>

const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/**
 * The metrics of this process and of the data, for Prometheus.
 *
 * What is counted in the records (copies, deals, files that wait) is the same in every process that shares them; what is counted since
 * the start (audits, copies moved) is this process's own, and grows in the one that places files.
 */
export function createMetrics(source: MetricsSource, requests: RequestCounters): Registry {
  const { budget, records, databaseState, placed, keys, now, clock, integrity, stallWatch, retries } = source
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  // Gauges that are named like counters; the same numbers by type are in the metrics of these names without `_total`.
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  requestMetrics(registry, requests, () => stallWatch.count)

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
  new Gauge({
    name: 'lade_oldest_waiting_copy',
    help: 'Number of the copy that the prover has not accepted for the longest time; absent if none waits.',
    labelNames: ['prover'],
    registers,
    async collect() {
      const oldest = await records.placements.oldestWaiting()
      this.reset()
      for (const { prover, copy } of oldest) this.set({ prover }, copy)
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
    name: 'lade_chain_oldest_pending_seconds',
    help: 'Age of the oldest transaction that is not in a block yet, in seconds; 0 without one, absent without onchain deals.',
    registers,
    collect() {
      const { pendingTransactions, oldestPendingAt } = placed()
      this.remove()
      if (pendingTransactions === undefined) return
      this.set(oldestPendingAt === undefined ? 0 : Math.max(0, (now() - oldestPendingAt) / 1000))
    },
  })
  new Gauge({
    name: 'lade_signing_key_age_seconds',
    help: 'Age of the signing key in seconds. Rotate it after 90 days. Absent for a key without a date.',
    registers,
    collect() {
      const ageDays = keys.find()?.ageDays(new Date(now()))
      this.remove()
      if (ageDays !== undefined) this.set((ageDays * DAY_MS) / 1000)
    },
  })
  new Counter({
    name: 'lade_driver_retries_total',
    help: 'Calls to stores and provers that were repeated after a failure, since the start, by driver.',
    labelNames: ['driver'],
    registers,
    collect() {
      this.reset()
      for (const [driver, count] of retries.counts()) this.inc({ driver }, count)
    },
  })
  diskMetrics(registry, source)
  clockMetrics(registry, clock)
  marketMetrics(registry, placed)
  moderationMetrics(registry, source.moderation)
  budgetMetrics(registry, budget)
  if (databaseState !== undefined) databaseMetrics(registry, databaseState)
  if (integrity !== undefined) integrityMetrics(registry, integrity)
  return registry
}

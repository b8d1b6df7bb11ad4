import { Counter, Gauge, type Registry } from 'prom-client'
import type { Integrity } from './service.ts'

/**
 * Adds what reading stored bytes has found. Bytes and damage are counted by the process that met them; when a scrub last came to the
 * end of the store is the same in all that share the records.
 */
export function integrityMetrics(registry: Registry, { damage, scrub, records, unverifiedReads }: Integrity): void {
  const registers = [registry]
  // Two gauges are of one answer: a scrape collects all gauges at once, so the second one finds the question asked.
  let asked: ReturnType<typeof scrub.orphans> | undefined
  const orphans = (): ReturnType<typeof scrub.orphans> => {
    asked ??= scrub.orphans().finally(() => {
      asked = undefined
    })
    return asked
  }
  new Counter({
    name: 'lade_blob_damage_total',
    help: 'Damaged blobs found since the start, by kind of damage.',
    labelNames: ['kind'],
    registers,
    collect() {
      this.reset()
      for (const [kind, count] of Object.entries(damage.counters())) this.inc({ kind }, count)
    },
  })
  new Counter({
    name: 'lade_scrub_bytes_total',
    help: 'Bytes read by scrubbing since the start.',
    registers,
    collect() {
      this.reset()
      this.inc(scrub.scrubbedBytes())
    },
  })
  new Gauge({
    name: 'lade_scrub_last_finished_seconds',
    help: 'Unix time at which the last scrub finished; absent before the first.',
    registers,
    async collect() {
      const finishedAt = await scrub.lastFinishedAt()
      this.remove()
      if (finishedAt !== undefined) this.set(finishedAt / 1000)
    },
  })
  new Gauge({
    name: 'lade_orphans',
    help: 'Orphans: stored blobs that are not in the records.',
    registers,
    async collect() {
      this.set((await orphans()).waiting)
    },
  })
  new Gauge({
    name: 'lade_orphan_removal_stopped',
    help: '1 if there are too many orphans to remove any; otherwise 0.',
    registers,
    async collect() {
      this.set((await orphans()).isStopped ? 1 : 0)
    },
  })
  new Gauge({
    name: 'lade_damaged_objects',
    help: 'Objects known to be damaged or missing, in all processes that share the records.',
    registers,
    async collect() {
      this.set(await records.damagedCount())
    },
  })
  new Gauge({
    name: 'lade_blobs_without_chunk_digests',
    help: 'Blobs from an older version whose ranges cannot be verified before the next scrub.',
    registers,
    async collect() {
      this.set(await records.withoutChunksCount())
    },
  })
  new Counter({
    name: 'lade_unverified_ranges_total',
    help: 'Ranges served without verification because chunk digests are missing, since the start.',
    registers,
    collect() {
      this.reset()
      this.inc(unverifiedReads())
    },
  })
}

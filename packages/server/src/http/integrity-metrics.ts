import { Counter, Gauge, type Registry } from 'prom-client'
import type { Integrity } from './service.ts'

/**
 * Adds what reading stored bytes has found. Bytes and damage are counted by the process that met them; when a scrub last came to the
 * end of the store is the same in all that share the records.
 */
export function integrityMetrics(registry: Registry, { damage, scrub }: Integrity): void {
  const registers = [registry]
  new Counter({
    name: 'lade_blob_damage_total',
    help: 'Blobs that were not what they should be, since the start, by what became of them.',
    labelNames: ['kind'],
    registers,
    collect() {
      this.reset()
      for (const [kind, count] of Object.entries(damage.counters())) this.inc({ kind }, count)
    },
  })
  new Counter({
    name: 'lade_scrub_bytes_total',
    help: 'Bytes that scrubbing has read since the start.',
    registers,
    collect() {
      this.reset()
      this.inc(scrub.scrubbedBytes())
    },
  })
  new Gauge({
    name: 'lade_scrub_last_finished_seconds',
    help: 'When a scrub last came to the end of the store, in seconds since 1970; absent when none has.',
    registers,
    async collect() {
      const finishedAt = await scrub.lastFinishedAt()
      this.remove()
      if (finishedAt !== undefined) this.set(finishedAt / 1000)
    },
  })
}

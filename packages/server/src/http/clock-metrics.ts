import { Gauge, type Registry } from 'prom-client'
import type { Clock } from '../clock/keep-clock.ts'

/** Adds how the source of the time stands to the time that is used. */
export function clockMetrics(registry: Registry, clock: Pick<Clock, 'state'>): void {
  const registers = [registry]
  new Gauge({
    name: 'lade_clock_offset_seconds',
    help: 'How far the clock of the system, or of the database, is ahead of the agreed time; 0 while the two agree.',
    registers,
    collect() {
      this.set(clock.state().offsetMs / 1000)
    },
  })
  new Gauge({
    name: 'lade_deletion_paused',
    help: '1 while no file ends, since the clock made a step or the service was stopped for some time.',
    registers,
    collect() {
      this.set(clock.state().isDeletionPaused ? 1 : 0)
    },
  })
}

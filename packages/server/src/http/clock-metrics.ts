import { Gauge, type Registry } from 'prom-client'
import type { Clock } from '../clock/keep-clock.ts'

/** Adds how the source of the time stands to the time that is used. */
export function clockMetrics(registry: Registry, clock: Pick<Clock, 'state'>): void {
  const registers = [registry]
  new Gauge({
    name: 'lade_clock_offset_seconds',
    help: 'Seconds by which the system or database clock is ahead of the agreed time; 0 if they agree.',
    registers,
    collect() {
      this.set(clock.state().offsetMs / 1000)
    },
  })
  new Gauge({
    name: 'lade_deletion_paused',
    help: '1 while no file expires, after a clock step or a long stop; otherwise 0.',
    registers,
    collect() {
      this.set(clock.state().isDeletionPaused ? 1 : 0)
    },
  })
}

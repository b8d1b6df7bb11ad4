import { Gauge, type Registry } from 'prom-client'
import type { Service } from './service.ts'

/** Adds what is forbidden. How often it was refused is in the refusals by code: `blocked` and `caller_blocked`. */
export function moderationMetrics(registry: Registry, { content, callers, denylists }: Service['moderation']): void {
  const registers = [registry]
  new Gauge({
    name: 'lade_blocks',
    help: 'Blocked content, not counting denylists.',
    registers,
    collect() {
      this.set(content.takedownCount)
    },
  })
  new Gauge({
    name: 'lade_blocked_callers',
    help: 'Blocked users, wallets and networks.',
    registers,
    collect() {
      this.set(callers.size)
    },
  })
  new Gauge({
    name: 'lade_denylist_rules',
    help: 'Rules of each denylist in force.',
    labelNames: ['file'],
    registers,
    collect() {
      this.reset()
      for (const { file, rules } of denylists()) this.set({ file }, rules)
    },
  })
  new Gauge({
    name: 'lade_denylist_read_seconds',
    help: 'Unix time at which each denylist was last read.',
    labelNames: ['file'],
    registers,
    collect() {
      this.reset()
      for (const { file, readAt } of denylists()) this.set({ file }, readAt / 1000)
    },
  })
}

import type { WorkBudget } from '@lade/node/budget/work-budget'
import { Counter, type Registry } from 'prom-client'

/** Adds what costly work has taken since the start of this process, and who was held back for it. */
export function budgetMetrics(registry: Registry, budget: Pick<WorkBudget, 'counters'>): void {
  const registers = [registry]
  new Counter({
    name: 'lade_work_seconds_total',
    help: 'Processor time of costly work since the start, by kind of work, in seconds.',
    labelNames: ['work'],
    registers,
    collect() {
      this.reset()
      for (const [work, { processorMs }] of budget.counters().spent) this.inc({ work }, processorMs / 1000)
    },
  })
  new Counter({
    name: 'lade_unpaid_work_seconds_total',
    help: 'Processor time since the start beyond what the transferred bytes allow, by kind of work, in seconds.',
    labelNames: ['work'],
    registers,
    collect() {
      this.reset()
      for (const [work, { unpaidMs }] of budget.counters().spent) this.inc({ work }, unpaidMs / 1000)
    },
  })
  new Counter({
    name: 'lade_held_back_total',
    help: 'Requests that were refused, delayed, slowed or closed because of their cost, since the start.',
    labelNames: ['work', 'how'],
    registers,
    collect() {
      this.reset()
      for (const { work, how, count } of budget.counters().heldBack) this.inc({ work, how }, count)
    },
  })
}

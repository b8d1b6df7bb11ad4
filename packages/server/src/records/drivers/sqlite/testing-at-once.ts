import type { Steps } from '../../sql/sql.ts'
import type { StepsValue } from '../../sql/writes.ts'
import { runNow } from './sqlite-sql.ts'

/** Functions of steps, as functions that run them. */
export type AtOnce<Functions> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => StepsValue<Answer>
    : never
}

/** The same functions for one who talks to SQLite alone: each runs its steps at once. */
export function atOnce<Functions extends object>(functions: Functions): AtOnce<Functions> {
  const running = Object.entries(functions).map(([name, steps]) => [
    name,
    (...args: unknown[]) => runNow(Reflect.apply(steps, functions, args) as Steps<unknown>),
  ])
  return Object.fromEntries(running) as AtOnce<Functions>
}

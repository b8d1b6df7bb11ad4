import type { Service } from '../service.ts'
import type { Operation } from './operation.ts'
import type { JsonSchema } from './schema-components.ts'

const TERM_HEADER = 'x-term-days'

/** Writes limits that are settings of this service into parameters and shapes of requests that have been described without. */
export function writeServiceLimits(
  operations: readonly Operation[],
  schemas: Readonly<Record<string, JsonSchema>>,
  { termMaxDays, token }: Pick<Service['config'], 'termMaxDays' | 'token'>,
): void {
  const headers = operations.flatMap(({ parameters = [] }) => parameters.filter(({ name }) => name === TERM_HEADER))
  for (const { schema } of headers) limit(schema, termMaxDays)
  const requests = Object.entries(schemas).filter(([name]) => name.endsWith('Request'))
  for (const [, { properties = {} }] of requests) {
    limit(properties.days, termMaxDays)
    limit(properties.termDays, termMaxDays)
    limit(properties.quotaMb, token.quotaMb)
  }
}

function limit(schema: JsonSchema | boolean | undefined, maximum: number): void {
  if (typeof schema !== 'object' || schema.type !== 'integer') return
  schema.maximum = Math.min(schema.maximum ?? maximum, maximum)
  delete schema.format
}

import type { DagScope, EntityBytes } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import type { Query } from '../../query.ts'

/** What a client may ask of a CAR. */
export interface CarOptions {
  readonly scope: DagScope
  /** The bytes of a file whose blocks are wanted; undefined for all of them. */
  readonly entityBytes: EntityBytes | undefined
  /** True when a block is to be sent each time that the walk meets it. */
  readonly dups: boolean
}

const SCOPES: readonly DagScope[] = ['block', 'entity', 'all']
/** From and to, both inclusive; negative numbers count from the end, which is also `*`. */
const ENTITY_BYTES = /^(-?[0-9]{1,16}):(\*|-?[0-9]{1,16})$/

/** The parameters of the media type, and the values of each that are served. All blocks go out in one order, depth first. */
export const CAR_PARAMETERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['version', ['1']],
  ['order', ['dfs', 'unk']],
  ['dups', ['y', 'n']],
])

/** True when a CAR can be given that has every parameter which `Accept` asks for. Unknown ones ask for nothing. */
export function isServedCar(parameters: ReadonlyMap<string, string>): boolean {
  return [...parameters].every(([name, value]) => CAR_PARAMETERS.get(name)?.includes(value) ?? true)
}

/**
 * Reads what a request asks of a CAR: in its query, and for what stands there not, in the parameters of `Accept`.
 *
 * @param accepted - the parameters of the CAR type in `Accept`, as `isServedCar` lets them pass; empty without one.
 * @throws {LadeError} `bad_request`.
 * @see https://specs.ipfs.tech/http-gateways/trustless-gateway/#request-query-parameters
 */
export function readCarOptions(query: Query, accepted: ReadonlyMap<string, string>): CarOptions {
  for (const [name, served] of CAR_PARAMETERS) {
    const value = query.get(`car-${name}`)
    if (value !== undefined && !served.includes(value)) throw refusal(`car-${name} must be ${served.join(' or ')}.`)
  }
  const entityBytes = entityBytesOf(query.get('entity-bytes'))
  return {
    scope: scopeOf(query.get('dag-scope'), entityBytes),
    entityBytes,
    dups: (query.get('car-dups') ?? accepted.get('dups')) === 'y',
  }
}

function scopeOf(text: string | undefined, entityBytes: EntityBytes | undefined): DagScope {
  const scope = SCOPES.find((known) => known === text)
  if (text !== undefined && scope === undefined) throw refusal(`dag-scope must be one of ${SCOPES.join(', ')}.`)
  if (entityBytes === undefined) return scope ?? 'all'
  if (scope !== undefined && scope !== 'entity') throw refusal('entity-bytes needs dag-scope=entity.')
  return 'entity'
}

function entityBytesOf(text: string | undefined): EntityBytes | undefined {
  if (text === undefined) return undefined
  const [, from = '', to = ''] = ENTITY_BYTES.exec(text) ?? []
  const range = { from: Number(from), to: to === '*' ? undefined : Number(to) }
  const isExact = Number.isSafeInteger(range.from) && (range.to === undefined || Number.isSafeInteger(range.to))
  if (from === '' || !isExact) {
    throw refusal('entity-bytes must be from:to, two whole numbers; the second can be *.')
  }
  return range
}

function refusal(reason: string): LadeError<'bad_request'> {
  return new LadeError('bad_request', { reason })
}

import { LadeError } from '@lade/core/errors'
import { CAR_MEDIA_TYPE, RAW_BLOCK_MEDIA_TYPE } from '@lade/core/wire'
import type { Query } from '../../query.ts'
import { acceptedTypes } from './accept.ts'
import { isServedCar } from './car-options.ts'

/** How blocks are given back: one, or those of a DAG. */
export type BlockFormat = 'raw' | 'car'

/** The response format that a request to the gateway asks for. */
export interface AskedFormat {
  readonly format: BlockFormat
  /** The parameters of the CAR type in `Accept`; empty where it names none. */
  readonly carParameters: ReadonlyMap<string, string>
}

/** What other gateways convert blocks to, or sign; by the value of `format` and by media type. */
const CONVERSIONS = new Set([
  'dag-json',
  'dag-cbor',
  'json',
  'cbor',
  'tar',
  'ipns-record',
  'application/vnd.ipld.dag-json',
  'application/vnd.ipld.dag-cbor',
  'application/json',
  'application/cbor',
  'application/x-tar',
  'application/vnd.ipfs.ipns-record',
])
const NONE: ReadonlyMap<string, string> = new Map()

/**
 * Which of the two forms a request asks for: `?format=` decides, and without it the most wanted type in `Accept` that there
 * is. Wildcards ask for nothing, since what they mean elsewhere, the file itself, is not given under this path.
 *
 * @param fileUrl - where the file itself is, for those who looked for it here.
 * @throws {LadeError} `not_acceptable` for a form that is not given here; `bad_request` when the request names none.
 * @see https://specs.ipfs.tech/http-gateways/trustless-gateway/#http-request
 */
export function askedFormat(query: Query, accept: string | undefined, fileUrl: string): AskedFormat {
  const types = acceptedTypes(accept)
  const cars = types.filter(({ mediaType }) => mediaType === CAR_MEDIA_TYPE)
  const car = cars.find(({ parameters }) => isServedCar(parameters))
  const carParameters = car?.parameters ?? NONE

  const asked = query.get('format')
  if (asked === 'raw' || asked === 'car') return { format: asked, carParameters }
  if (asked !== undefined) throw refusalOf(asked, fileUrl)

  const wanted = types.find((type) => type.mediaType === RAW_BLOCK_MEDIA_TYPE || type === car)
  if (wanted !== undefined) return { format: wanted === car ? 'car' : 'raw', carParameters }
  if (cars.length > 0) {
    throw new LadeError('not_acceptable', {
      reason: 'CARs are available with version=1, order=dfs and dups=y or dups=n.',
    })
  }
  const conversion = types.find(({ mediaType }) => CONVERSIONS.has(mediaType))
  if (conversion !== undefined) throw refusalOf(conversion.mediaType, fileUrl)
  throw new LadeError('bad_request', {
    reason: `This path serves blocks to IPFS clients, and the request names no format: ${whatToAskFor(fileUrl)}`,
  })
}

function refusalOf(asked: string, fileUrl: string): LadeError {
  if (CONVERSIONS.has(asked)) {
    return new LadeError('not_acceptable', { reason: `Conversions are not supported: ${whatToAskFor(fileUrl)}` })
  }
  return new LadeError('bad_request', { reason: `format must be raw or car: ${whatToAskFor(fileUrl)}` })
}

function whatToAskFor(fileUrl: string): string {
  return `use ?format=raw or ?format=car. The file itself is at ${fileUrl}`
}

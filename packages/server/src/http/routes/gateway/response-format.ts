import { LadeError } from '@lade/core/errors'
import { CAR_MEDIA_TYPE, RAW_BLOCK_MEDIA_TYPE } from '@lade/core/wire'
import type { Query } from '../../query.ts'
import { acceptedTypes } from './accept.ts'
import { isServedCar } from './car-options.ts'

/** The formats that a request can ask for by name, and the media type of each. */
export const FORMAT_MEDIA_TYPES = {
  raw: RAW_BLOCK_MEDIA_TYPE,
  car: CAR_MEDIA_TYPE,
  tar: 'application/x-tar',
  'dag-json': 'application/vnd.ipld.dag-json',
  'dag-cbor': 'application/vnd.ipld.dag-cbor',
  json: 'application/json',
  cbor: 'application/cbor',
} as const

/** A form that content is given in; where none is asked for, it is given as what it is. */
export type GatewayFormat = keyof typeof FORMAT_MEDIA_TYPES

/** What a request to the gateway asks for. */
export interface AskedFormat {
  /** Undefined for the content itself: a file, a page, a list. */
  readonly format: GatewayFormat | undefined
  /** The parameters of the CAR type in `Accept`; empty where it names none. */
  readonly carParameters: ReadonlyMap<string, string>
  /** True when `Accept` names the format, and takes anything else as well. */
  readonly isOptional: boolean
  /** True when `Accept` names HTML: what a browser sends that shows the answer to a person. */
  readonly isForBrowser: boolean
}

const FORMATS = Object.keys(FORMAT_MEDIA_TYPES) as GatewayFormat[]
/** Types that are also asked for by clients that would rather have a page. */
const PLAIN_FORMATS: readonly (GatewayFormat | undefined)[] = ['json', 'cbor']
const IPNS_RECORD = ['ipns-record', 'application/vnd.ipfs.ipns-record']
const HTML = 'text/html'
const ANY = '*/*'
const NONE: ReadonlyMap<string, string> = new Map()

/**
 * Which form a request asks for: `?format=` decides, and without it the most wanted type in `Accept` that there is. Wildcards and HTML ask for
 * the content itself, and give way to every format of IPLD, since nobody names one without knowing it. JSON and CBOR give way to an HTML that
 * is wanted more.
 *
 * @throws {LadeError} `not_acceptable` for a CAR of another kind; `bad_request` for a format that there is not.
 * @see https://specs.ipfs.tech/http-gateways/path-gateway/#format-request-query-parameter
 */
export function askedFormat(query: Query, accept: string | undefined): AskedFormat {
  const types = acceptedTypes(accept)
  const cars = types.filter(({ mediaType }) => mediaType === CAR_MEDIA_TYPE)
  const car = cars.find(({ parameters }) => isServedCar(parameters))
  const isForBrowser = types.some(({ mediaType }) => mediaType === HTML)
  const rest = { carParameters: car?.parameters ?? NONE, isForBrowser }

  const asked = query.get('format')
  if (asked !== undefined) return { ...rest, format: formatNamed(asked), isOptional: false }

  const isOptional = types.some(({ mediaType }) => mediaType === HTML || mediaType === ANY)
  let isHtmlFirst = false
  for (const type of types) {
    const { mediaType } = type
    if (mediaType === HTML) isHtmlFirst = true
    const format = FORMATS.find((name) => FORMAT_MEDIA_TYPES[name] === mediaType)
    const isPassedOver = (format === 'car' && type !== car) || (isHtmlFirst && PLAIN_FORMATS.includes(format))
    if (format !== undefined && !isPassedOver) return { ...rest, format, isOptional }
  }
  if (cars.length > 0) {
    throw new LadeError('not_acceptable', {
      reason: 'CARs are available with version=1, order=dfs and dups=y or dups=n.',
    })
  }
  if (!isOptional && types.some(({ mediaType }) => IPNS_RECORD.includes(mediaType))) throw refusalOfRecords()
  return { ...rest, format: undefined, isOptional: true }
}

function formatNamed(name: string): GatewayFormat {
  const format = FORMATS.find((known) => known === name)
  if (format !== undefined) return format
  if (IPNS_RECORD.includes(name)) throw refusalOfRecords()
  throw new LadeError('bad_request', {
    reason: `format must be one of ${FORMATS.join(', ')}. Leave it out to get the file.`,
  })
}

function refusalOfRecords(): LadeError<'bad_request'> {
  return new LadeError('bad_request', {
    reason: 'There are no IPNS records here, only immutable content under /ipfs/.',
  })
}

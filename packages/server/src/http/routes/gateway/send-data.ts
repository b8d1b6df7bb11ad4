import { LadeError } from '@lade/core/errors'
import type { DataCodec, GatewayResource } from '../../../gateway/gateway-resource.ts'
import { blocksOf, type ContentRequest, contentName } from './content-request.ts'
import { FORMAT_MEDIA_TYPES, type GatewayFormat } from './response-format.ts'
import { sendBytes } from './send-bytes.ts'
import { sendDataPage } from './send-data-page.ts'

type DataResource = Extract<GatewayResource, { kind: 'data' }>

/** What a block of each codec is given as. The bytes are the block in either case: nothing is converted. */
const GIVEN_AS: Readonly<Record<DataCodec, readonly DataCodec[]>> = {
  json: ['json'],
  cbor: ['cbor'],
  'dag-json': ['dag-json', 'json'],
  'dag-cbor': ['dag-cbor', 'cbor'],
}

/**
 * A block of JSON or CBOR as it is. Browsers are shown a page about one that has links.
 *
 * @throws {LadeError} `not_acceptable` for a format that its codec is not.
 * @see https://specs.ipfs.tech/ipips/ipip-0524/
 */
export async function sendData(content: ContentRequest, resource: DataResource): Promise<void> {
  const { asked, block } = content
  const { format, isForBrowser } = asked.asked
  const codec = givenAs(content, resource)
  const isDag = resource.codec === 'dag-json' || resource.codec === 'dag-cbor'
  if (format === undefined && isForBrowser && isDag) return sendDataPage(content, resource)
  const caching = await asked.cachingOf(blocksOf(content))
  const isJson = codec.endsWith('json')
  const isSaved = !isJson || asked.query.get('download') === 'true'
  const name = contentName(content)
  await sendBytes(content, await asked.source.read(block), {
    contentType: FORMAT_MEDIA_TYPES[codec],
    etag: `"${name}.${codec}"`,
    caching,
    name: `${name}.${isJson ? 'json' : 'cbor'}`,
    disposition: isSaved ? 'attachment' : 'inline',
  })
}

function givenAs({ asked }: ContentRequest, { codec }: DataResource): DataCodec {
  const { format, isOptional } = asked.asked
  const given = GIVEN_AS[codec].find((known: GatewayFormat) => known === format)
  if (given !== undefined) return given
  if (format === undefined || isOptional) return codec
  const reason = `The block is ${codec}, which is not converted to ${format}. Use format=${codec}, or format=raw and convert it yourself.`
  throw new LadeError('not_acceptable', { reason })
}

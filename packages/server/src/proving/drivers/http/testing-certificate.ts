import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A certificate that nobody vouches for but itself, with its key; both as PEM. */
export interface TestCertificate {
  readonly cert: string
  readonly key: string
}

/** A value of ASN.1 in DER: tag, length, contents. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const contents = Buffer.concat(parts)
  const length = contents.length
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from(head), contents])
}

const SEQUENCE = 0x30
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const utcTime = (text: string): Buffer => der(0x17, Buffer.from(text, 'ascii'))

/** Makes a certificate for 127.0.0.1 that holds from 2020 to 2049. @see RFC 5280 */
export function makeTestCertificate(): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsaWithSha256 = der(SEQUENCE, oid('2a8648ce3d040302'))
  const commonName = der(SEQUENCE, oid('550403'), der(0x0c, Buffer.from('127.0.0.1')))
  const name = der(SEQUENCE, der(0x31, commonName))
  const address = der(0x87, Buffer.from([127, 0, 0, 1]))
  const alternativeName = der(SEQUENCE, oid('551d11'), der(0x04, der(SEQUENCE, address)))
  const body = der(
    SEQUENCE,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1]), randomBytes(8)),
    ecdsaWithSha256,
    name,
    der(SEQUENCE, utcTime('200101000000Z'), utcTime('491231235959Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, alternativeName)),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey))
  const certificate = der(SEQUENCE, body, ecdsaWithSha256, signature)
  const lines = certificate.toString('base64').replace(/(.{64})/g, '$1\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

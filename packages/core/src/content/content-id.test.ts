import { createHash } from 'node:crypto'
import { base2 } from 'multiformats/bases/base2'
import { base8 } from 'multiformats/bases/base8'
import { base10 } from 'multiformats/bases/base10'
import { base16 } from 'multiformats/bases/base16'
import { base32, base32hex, base32pad, base32z } from 'multiformats/bases/base32'
import { base36 } from 'multiformats/bases/base36'
import { base58btc, base58flickr } from 'multiformats/bases/base58'
import { base64, base64url } from 'multiformats/bases/base64'
import { CID } from 'multiformats/cid'
import { create as createMultihash } from 'multiformats/hashes/digest'
import { describe, expect, test } from 'vitest'
import { LadeError } from '../errors/lade-error.ts'
import { parseContentId, tryParseContentId } from './content-id.ts'

const sha256Hex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const parse = (text: string) => parseContentId(text, sha256Hex)

function refusalOf(text: string): string {
  try {
    const id = parse(text)
    throw new Error(`${text} was read as ${id.form}`)
  } catch (error) {
    if (LadeError.has(error, 'invalid_cid')) return error.evidence.reason
    throw error
  }
}

/** "hello world": protocols.md A.2 and 0.3, computed there with ipfs-unixfs-importer and by the legacy rule. */
const HELLO = {
  hex: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
  legacy: 'bafyxfgspomtju7arjjokll5u7nl7lcij37dpjjyb3uqrd32zyxpzxuq',
  cidV1: 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e',
  cidV0: 'Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD',
}
/** The empty file under unixfs-v1-2025, IPIP-499. */
const EMPTY_V1 = 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'
const HELLO_DIGEST = base16.baseDecode(HELLO.hex)
const helloCid = (codec: number, hash: number, digest = HELLO_DIGEST) =>
  CID.createV1(codec, createMultihash(hash, digest))
const helloRaw = helloCid(0x55, 0x12)
const bytesOf = (...parts: (number | Uint8Array)[]) =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...part])))

describe('parseContentId', () => {
  test('reads 64 hex digits in either case as a sha2-256 digest', () => {
    for (const text of [HELLO.hex, HELLO.hex.toUpperCase()]) {
      expect(parse(text)).toEqual({
        text,
        form: 'sha2-256-hex',
        key: `sha256:${HELLO.hex}`,
        sha256: HELLO.hex,
        verified: true,
        maxBytes: undefined,
        cid: undefined,
      })
    }
  })

  test('reads the legacy id in either case before it looks for a CID', () => {
    for (const text of [HELLO.legacy, HELLO.legacy.toUpperCase()]) {
      expect(parse(text)).toMatchObject({ text, form: 'legacy', sha256: HELLO.hex })
    }
  })

  test('reads a CIDv1 raw sha2-256 in base32, base36, base58btc and base16', () => {
    for (const base of [base32, base36, base58btc, base16]) {
      const text = base.encode(helloRaw.bytes)
      expect(parse(text)).toMatchObject({ text, form: 'cid-raw', key: `sha256:${HELLO.hex}` })
    }
    expect(parse(EMPTY_V1).sha256).toBe(sha256Hex(new Uint8Array()))
  })

  test('folds the case of base32, base36 and base16, whole or mixed, prefix included', () => {
    for (const base of [base32, base36, base16]) {
      const text = base.encode(helloRaw.bytes)
      const mixed = text.replace(/[a-z]/g, (letter, index) => (index % 3 === 0 ? letter.toUpperCase() : letter))
      for (const variant of [text.toUpperCase(), mixed, text[0] + text.slice(1).toUpperCase()]) {
        expect(parse(variant)).toMatchObject({ text: variant, form: 'cid-raw', sha256: HELLO.hex })
      }
    }
  })

  test('reads an identity CID of any codec by the sha2-256 of its inline bytes', () => {
    // The health probe of gateways: raw, identity, no bytes.
    expect(parse('bafkqaaa')).toMatchObject({ form: 'identity', sha256: sha256Hex(new Uint8Array()), verified: true })
    const inline = Uint8Array.of(1, 2, 3)
    for (const codec of [0x55, 0x70, 0x71, 0x3f42]) {
      const cid = CID.createV1(codec, createMultihash(0, inline))
      for (const base of [base32, base36, base58btc, base16]) {
        expect(parse(base.encode(cid.bytes))).toMatchObject({ form: 'identity', key: `sha256:${sha256Hex(inline)}` })
      }
    }
  })

  test('takes anything that is no CID as an opaque id, case-sensitive', () => {
    for (const text of [
      'myfile01',
      'MyFile01',
      'b0018999',
      'zzzzzzzzzz',
      'k8k8k8k8',
      'aaaaaaaa',
      'Qwerty1234',
      'f01facade',
    ]) {
      expect(parse(text)).toMatchObject({
        text,
        form: 'opaque',
        key: `opaque:${text}`,
        sha256: undefined,
        verified: false,
      })
    }
    expect(parse('myfile01').key).not.toBe(parse('MyFile01').key)
  })

  test('takes the longest and the shortest id that the rule allows', () => {
    expect(parse('a'.repeat(80)).form).toBe('opaque')
    expect(parse('a'.repeat(8)).form).toBe('opaque')
  })

  test.each([
    ['', 'this cid has 0 characters.'],
    ['a'.repeat(7), 'this cid has 7 characters.'],
    ['a'.repeat(81), 'this cid has 81 characters.'],
    ['my-file-01', 'this cid has - at position 3.'],
    ['myfile01\n', 'this cid has U+000A at position 9.'],
    ['my file01', 'this cid has U+0020 at position 3.'],
    ['\u017f'.repeat(8), 'this cid has U+017F at position 1.'],
    ['\u212a'.repeat(8), 'this cid has U+212A at position 1.'],
    ['a'.repeat(1e6), 'this cid has 1000000 characters.'],
  ])('refuses what is not 8 to 80 ASCII letters and digits, and says why (case %#)', (text, why) => {
    expect(refusalOf(text)).toBe(`A cid is 8 to 80 ASCII letters and digits; ${why}`)
  })

  test('says to leave out ipfs://', () => {
    expect(refusalOf(`ipfs://${HELLO.cidV0}`)).toContain('Send the cid without ipfs://')
  })

  test.each(['/ipfs/', '/p/', 'http://127.0.0.1:8080/p/', 'https://lade.example/ipfs/'])(
    'says to leave out %s',
    (before) => expect(refusalOf(before + HELLO.cidV0)).toMatch(`digits. Send the cid without ${before}`),
  )

  test('says how to get the id of a file whose name was sent', () => {
    expect(refusalOf('photo.jpg')).toBe(
      'A cid is 8 to 80 ASCII letters and digits; this cid has . at position 6. `lade hash FILE` prints the ids of a file.',
    )
  })

  test('says which digest to send instead of a longer one', () => {
    expect(refusalOf('0a'.repeat(64))).toBe('128 hex digits look like SHA-512. Send the SHA-256, of 64 hex digits.')
    expect(
      refusalOf(
        'bafkrgqdkr2wypkattzraexxbtjlxvlc6gyeeve5g24hfthdvaa7filynkwp6liz57pgpqhuc2ge4cm4ifqcsadujmnoqlpayr2z5l5blzmck2',
      ),
    ).toBe(
      'Lade cannot verify a cid with the codec raw (0x55) and the hash sha2-512 (0x13). Use sha2-256, blake3, blake2b-256 or a piece CID.',
    )
  })

  test('refuses a value that is not a string, as an untyped caller may pass it', () => {
    for (const value of [undefined, null, 12345678, ['myfile01'], {}]) {
      expect(refusalOf(value as unknown as string)).toBe('A cid is 8 to 80 ASCII letters and digits.')
    }
  })

  test('refuses a legacy id whose last digit carries bits beyond the digest', () => {
    expect(refusalOf(`${HELLO.legacy.slice(0, -1)}r`)).toContain('legacy id')
  })

  test('reads a CIDv0 and every spelling of the same root as CIDv1 dag-pb by one key', () => {
    const root = CID.parse(HELLO.cidV0).multihash.digest
    const key = `dag-pb:${base16.baseEncode(root)}`
    expect(parse(HELLO.cidV0)).toMatchObject({ form: 'cid-dag-pb', key, sha256: undefined, verified: true })
    for (const base of [base32, base36, base58btc, base16]) {
      const text = base.encode(CID.createV1(0x70, createMultihash(0x12, root)).bytes)
      expect(parse(text)).toMatchObject({ text, form: 'cid-dag-pb', key })
    }
  })

  test.each([
    [0x55, 0x1e, 'cid-raw', 'blake3', undefined],
    [0x55, 0xb220, 'cid-raw', 'blake2b-256', undefined],
    [0x71, 0x12, 'cid-block', 'sha256', 2 * 1024 * 1024],
    [0x0129, 0x12, 'cid-block', 'sha256', 2 * 1024 * 1024],
    [0x3f43, 0x12, 'cid-block', 'sha256', 2 * 1024 * 1024],
    [0x71, 0xb220, 'cid-block', 'blake2b-256', 2 * 1024 * 1024],
    [0x70, 0x1e, 'cid-block', 'blake3', 2 * 1024 * 1024],
  ])('reads a CIDv1 of codec %i with hash %i as %s by its %s digest', (codec, hash, form, hashKey, maxBytes) => {
    const sha256 = hashKey === 'sha256' ? HELLO.hex : undefined
    for (const base of [base32, base36, base58btc, base16]) {
      const text = base.encode(helloCid(codec, hash).bytes)
      expect(parse(text)).toMatchObject({ text, form, key: `${hashKey}:${HELLO.hex}`, sha256, maxBytes })
    }
  })

  test('reads piece CIDs of both versions by their root, and version 2 by its size too', () => {
    // 127 bytes of 0xCC, protocols.md B.2.
    const root = 'c2ac699bb26693c01abe4a93551de64fd72b45404fb7320c416705dde7b2a426'
    const v1 = 'baga6ea4seaqmfldjtozgne6adk7eve2vdxte7vzlivae7nzsbrawobo546zkijq'
    const v2 = 'bafkzcibcaabmfldjtozgne6adk7eve2vdxte7vzlivae7nzsbrawobo546zkijq'
    expect(parse(v1)).toMatchObject({ form: 'piece-v1', key: `piece-v1:${root}`, sha256: undefined })
    expect(parse(v2)).toMatchObject({ form: 'piece-v2', key: `piece:${root}:127`, sha256: undefined })
    const inBase36 = base36.encode(base32.decode(v2))
    expect(parse(inBase36)).toMatchObject({ text: inBase36, key: `piece:${root}:127` })
  })

  test('refuses a piece CID that no bytes have', () => {
    const v2 = (...digest: (number | Uint8Array)[]) => CID.createV1(0x55, createMultihash(0x1011, bytesOf(...digest)))
    const root = new Uint8Array(32)
    expect(refusalOf(v2(0, 51, root).toString())).toContain('piece CID')
    expect(refusalOf(v2(127, 3, root).toString())).toContain('piece CID')
    expect(refusalOf(v2(0, 2, root.subarray(1)).toString())).toContain('piece CID')
    expect(refusalOf(CID.createV1(0xf101, createMultihash(0x1012, root.subarray(1))).toString())).toContain('piece CID')
  })

  test.each([HELLO.cidV0.toLowerCase(), HELLO.cidV0.toUpperCase(), `qM${HELLO.cidV0.slice(2)}`, `Qm${'l'.repeat(44)}`])(
    'refuses %s because base58 is case-sensitive',
    (text) => {
      expect(refusalOf(text)).toContain('base58 is case-sensitive')
    },
  )

  test('refuses a base58 CIDv1 that lost its case as far as that can be seen', () => {
    for (const codec of [0x55, 0x70, 0x71]) {
      const text = base58btc.encode(helloCid(codec, 0x12).bytes).toUpperCase()
      expect(refusalOf(text)).toContain('base58 is case-sensitive')
    }
  })

  test('refuses a base58 CID that lost or gained a character', () => {
    const texts = [HELLO.cidV0, ...[0x55, 0x70, 0x71].map((codec) => base58btc.encode(helloCid(codec, 0x12).bytes))]
    for (const text of texts) {
      expect(refusalOf(text.slice(0, -1))).toContain('lost or gained a character')
      expect(refusalOf(`${text.slice(0, 20)}7${text.slice(20)}`)).toContain('lost or gained a character')
    }
  })

  test.each([
    [helloCid(0xf101, 0x12).toString(), 'fil-commitment-unsealed (0xf101)'],
    [helloCid(0xf102, 0x1012).toString(), 'fil-commitment-sealed (0xf102)'],
    [helloCid(0x72, 0x12).toString(), 'libp2p-key (0x72)'],
    [helloCid(0x55, 0x13).toString(), 'sha2-512 (0x13)'],
    [helloCid(0x55, 0x16).toString(), 'sha3-256 (0x16)'],
    [helloCid(0x55, 0x11, HELLO_DIGEST.subarray(0, 20)).toString(), 'sha1 (0x11)'],
    [helloCid(0x55, 0xd5, HELLO_DIGEST.subarray(0, 16)).toString(), 'md5 (0xd5)'],
    [helloCid(0x55, 0x3f42).toString(), 'the hash 0x3f42'],
    [helloCid(0x3f43, 0x13).toString(), 'codec 0x3f43'],
  ])('refuses %s and names %s', (text, name) => {
    expect(refusalOf(text)).toContain(name)
    expect(refusalOf(text.toUpperCase())).toContain(name)
  })

  test('refuses a CID in every other multibase and names it', () => {
    const short = CID.createV1(0x55, createMultihash(0, Uint8Array.of(0, 16, 131)))
    // base64 digits may be + and /, and the padding =, which no id has; these bytes need none of them.
    for (const base of [base2, base8, base10, base32hex, base32z, base58flickr, base64, base64url]) {
      expect(refusalOf(base.encode(short.bytes)), base.name).toContain(`in ${base.name}. Use base32`)
    }
    expect(refusalOf(base32pad.encode(helloRaw.bytes).replaceAll('=', ''))).toContain('in base32pad. Use base32')
    expect(refusalOf(base32hex.encode(helloRaw.bytes).toUpperCase())).toContain('in base32hexupper. Use base32')
    expect(refusalOf(base58flickr.encode(helloRaw.bytes))).toContain('in base58flickr. Use base32')
  })

  test('refuses a sha2-256 digest that was truncated', () => {
    const cid = helloCid(0x55, 0x12, HELLO_DIGEST.subarray(0, 16))
    expect(refusalOf(cid.toString())).toContain('sha2-256 (0x12) digest of 16 bytes')
  })

  test('refuses a version 0 that is dressed up, or is not a sha2-256', () => {
    const multihash = bytesOf(0x12, 32, HELLO_DIGEST)
    for (const base of [base32, base36, base58btc, base16]) {
      expect(refusalOf(base.encode(multihash))).toContain('CIDv0 with a multibase prefix')
      expect(refusalOf(base.encode(bytesOf(0, 0x70, multihash)))).toContain('CIDv0 with a multibase prefix')
      expect(refusalOf(base.encode(bytesOf(0x12, 16, HELLO_DIGEST.subarray(0, 16))))).toContain(
        'CIDv0 without a sha2-256 digest',
      )
      expect(refusalOf(base.encode(multihash.subarray(0, 33)))).toContain('CIDv0 with a multibase prefix')
    }
  })

  test('refuses a CID of a version that does not exist', () => {
    expect(refusalOf(base32.encode(bytesOf(2, 0x55, 0x12, 32, HELLO_DIGEST)))).toContain('version 2')
    expect(refusalOf(base36.encode(bytesOf(3, 0x70, 0x12, 32, HELLO_DIGEST)))).toContain('version 3')
  })

  test('refuses a damaged CID and says what is wrong with it', () => {
    for (const base of [base32, base36, base58btc, base16]) {
      const { bytes } = helloRaw
      expect(refusalOf(base.encode(bytes.subarray(0, 35)))).toContain('lacks 1 of the 32 bytes')
      expect(refusalOf(base.encode(bytesOf(bytes, 0)))).toContain('followed by 1 byte that')
      expect(refusalOf(base.encode(bytesOf(bytes, 0, 0)))).toContain('followed by 2 bytes that')
      expect(refusalOf(base.encode(bytesOf(0x81, 0, bytes.subarray(1))))).toContain('varint')
      expect(refusalOf(base.encode(bytesOf(1, 0xd5, 0, bytes.subarray(2))))).toContain('varint')
      expect(refusalOf(base.encode(bytesOf(1, 0x55, 0x92, 0, bytes.subarray(3))))).toContain('varint')
      expect(refusalOf(base.encode(bytesOf(1, 0x55, 0x12, 0xa0, 0, bytes.subarray(4))))).toContain('varint')
    }
    expect(refusalOf(HELLO.cidV1.slice(0, 8))).toContain('lacks 32 of the 32 bytes')
    expect(refusalOf('f0155a0e402')).toContain('ends before its digest')
  })

  test('refuses a CID with a character too many or with padding bits that are set', () => {
    expect(refusalOf(`${HELLO.cidV1}a`)).toContain('last character')
    expect(refusalOf(`${HELLO.cidV1.slice(0, -1)}f`)).toContain('last character')
    expect(refusalOf(`${base16.encode(helloRaw.bytes)}0`)).toContain('last character')
    expect(refusalOf('bafkqaab')).toContain('last character')
  })

  test('refuses a CIDv1 in base58 without its multibase prefix', () => {
    // An identity CID whose codec and size are such that its bare base58 begins with Q.
    const bare = base58btc.baseEncode(bytesOf(1, 0x07, 0, 21, new Uint8Array(21)))
    expect(bare).toMatch(/^Q.{7}/)
    expect(refusalOf(bare)).toContain('without its multibase prefix')
  })
})

describe('tryParseContentId', () => {
  test('gives undefined where parseContentId refuses, and the id where it does not', () => {
    expect(tryParseContentId(HELLO.cidV0.toLowerCase(), sha256Hex)).toBeUndefined()
    expect(tryParseContentId(HELLO.cidV1, sha256Hex)).toEqual(parse(HELLO.cidV1))
  })

  test('error: lets what the hasher throws pass', () => {
    const failure = new Error('no hasher')
    const broken = (): string => {
      throw failure
    }
    expect(() => tryParseContentId('bafkqaaa', broken)).toThrow(failure)
  })
})

import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { base16 } from 'multiformats/bases/base16'
import { bases } from 'multiformats/basics'
import { CID } from 'multiformats/cid'
import { describe, expect, test } from 'vitest'
import { LadeError } from '../errors/lade-error.ts'
import { type ContentId, parseContentId } from './content-id.ts'
import { aliasesOf } from './content-names.ts'

const RUNS = { numRuns: 5000 }
const sha256Hex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** The id, or undefined for `invalid_cid`; every other error passes. */
function parsedOrRefused(text: string): ContentId | undefined {
  try {
    return parseContentId(text, sha256Hex)
  } catch (error) {
    if (!LadeError.has(error, 'invalid_cid')) throw error
    expect(error.evidence.reason).toMatch(/\.$/)
    return undefined
  }
}

/** A varint of `code`, `padding` bytes longer than it has to be. */
function varint(code: number, padding: number): number[] {
  const bytes: number[] = []
  let rest = BigInt(code)
  do {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  } while (rest > 0n)
  for (let extra = 0; extra < padding; extra += 1) bytes.push(0x80)
  bytes.push((bytes.pop() ?? 0) & 0x7f)
  return bytes
}

const someBase = fc.oneof(
  fc.constantFrom(bases.base32, bases.base36, bases.base16, bases.base58btc),
  fc.constantFrom(...Object.values(bases).filter((base) => /^[0-9a-z]$/i.test(base.prefix))),
)
const padding = fc.oneof({ weight: 30, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 12 }))
const someCodec = fc.oneof(fc.constantFrom(0x55, 0x55, 0x70, 0x71, 0x72, 0x0129, 0xf101), fc.nat(), fc.maxSafeNat())
const someHash = fc.oneof(
  fc.constantFrom(0x12, 0x12, 0x12, 0, 0, 0x13, 0x1e, 0x1012, 0x1011, 0xb220),
  fc.nat(),
  fc.maxSafeNat(),
)
const someDigest = fc.oneof(
  { weight: 2, arbitrary: fc.uint8Array({ minLength: 32, maxLength: 32 }) },
  fc.uint8Array({ maxLength: 44 }),
)

/** CID bytes with every part able to be wrong: version, codes, lengths, varint padding, cut and extended ends. */
const nearCidBytes = fc
  .record({
    version: fc.oneof({ weight: 30, arbitrary: fc.constant(1) }, fc.constantFrom(0, 2, 0x12), fc.nat()),
    codec: someCodec,
    hash: someHash,
    digest: someDigest,
    lengthError: fc.oneof({ weight: 20, arbitrary: fc.constant(0) }, fc.integer({ min: -3, max: 3 }), fc.nat()),
    paddings: fc.tuple(padding, padding, padding, padding),
    cut: fc.oneof({ weight: 20, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 40 })),
    tail: fc.oneof({ weight: 20, arbitrary: fc.constant(new Uint8Array()) }, fc.uint8Array({ maxLength: 3 })),
  })
  .map(({ version, codec, hash, digest, lengthError, paddings, cut, tail }) => {
    const bytes = [
      ...varint(version, paddings[0]),
      ...(version === 0x12 ? [] : [...varint(codec, paddings[1]), ...varint(hash, paddings[2])]),
      ...varint(Math.max(0, digest.length + lengthError), paddings[3]),
      ...digest,
    ]
    return Uint8Array.from([...bytes.slice(0, Math.max(0, bytes.length - cut)), ...tail])
  })

const recased = (text: string, how: 'as is' | 'lower' | 'upper' | 'swapped'): string => {
  if (how === 'lower') return text.toLowerCase()
  if (how === 'upper') return text.toUpperCase()
  if (how === 'swapped') return text.slice(0, 1) + text.slice(1).toUpperCase()
  return text
}

const nearCidText = fc
  .record({
    base: someBase,
    bytes: nearCidBytes,
    casing: fc.constantFrom('as is' as const, 'lower' as const, 'upper' as const, 'swapped' as const),
    bare: fc.oneof({ weight: 30, arbitrary: fc.constant(false) }, fc.constant(true)),
    dropped: fc.oneof({ weight: 20, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 5 })),
  })
  .map(({ base, bytes, casing, bare, dropped }) => {
    const text = (bare ? base.baseEncode(bytes) : base.encode(bytes)).replaceAll('=', '')
    return recased(text.slice(0, text.length - dropped), casing)
  })

const plainText = fc.string({
  unit: fc.constantFrom(...'0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'),
  minLength: 8,
  maxLength: 80,
})
const sha256Digest = fc.uint8Array({ minLength: 32, maxLength: 32 })

/** What multiformats makes of a string: the decoder of its prefix, then `CID.decode`. */
function decodedByMultiformats(text: string): CID | undefined {
  const bare = text.startsWith('Q')
  const base = bare ? bases.base58btc : Object.values(bases).find(({ prefix }) => prefix === text[0])
  if (base === undefined) return undefined
  try {
    return CID.decode(base.decode(bare ? `z${text}` : text))
  } catch {
    return undefined
  }
}

describe('parseContentId on generated ids', () => {
  test('reads or refuses every near-CID, and never throws anything else', () => {
    let refused = 0
    fc.assert(
      fc.property(nearCidText, (text) => {
        const id = parsedOrRefused(text)
        if (id === undefined) refused += 1
        else expect(id.text).toBe(text)
      }),
      RUNS,
    )
    expect(refused).toBeGreaterThan(1000)
  })

  test('reads or refuses any string at all, and never throws anything else', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 90 }), plainText), (text) => {
        parsedOrRefused(text)
      }),
      RUNS,
    )
  })

  test('never takes as opaque what multiformats decodes as a CID', () => {
    let real = 0
    fc.assert(
      fc.property(fc.oneof(nearCidText, plainText), (text) => {
        if (decodedByMultiformats(text) === undefined) return
        real += 1
        expect(parsedOrRefused(text)?.form).not.toBe('opaque')
      }),
      RUNS,
    )
    expect(real).toBeGreaterThan(100)
  })

  test('verifies a CID only by the digest that multiformats finds in it', () => {
    let verified = 0
    fc.assert(
      fc.property(nearCidText, (text) => {
        const id = parsedOrRefused(text)
        if (id?.cid === undefined) return
        verified += 1
        const folds = /^[bkf]/i.test(text)
        const { multihash } = decodedByMultiformats(folds ? text.toLowerCase() : text) ?? {}
        const digest = multihash?.digest ?? new Uint8Array()
        const hex = base16.baseEncode(digest)
        // A piece CID of version 2 ends with its root, and says sizes before that.
        if (id.form === 'piece-v1' || id.form === 'piece-v2') expect(id.key).toContain(hex.slice(-64))
        else expect(id.key.split(':')[1]).toBe(id.form === 'identity' ? sha256Hex(digest) : hex)
      }),
      RUNS,
    )
    expect(verified).toBeGreaterThan(100)
  })

  test('maps hex, legacy and CIDv1 of one digest to one key, and each back to itself', () => {
    fc.assert(
      fc.property(sha256Digest, (digest) => {
        const hex = base16.baseEncode(digest)
        for (const text of Object.values(aliasesOf(hex))) {
          const id = parseContentId(text, sha256Hex)
          expect(id.key).toBe(`sha256:${hex}`)
          expect(parseContentId(text.toUpperCase(), sha256Hex).key).toBe(id.key)
        }
      }),
      RUNS,
    )
  })

  test('never gives two digests one key', () => {
    fc.assert(
      fc.property(sha256Digest, fc.nat({ max: 255 }), (digest, bit) => {
        const other = digest.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
        const mine = Object.values(aliasesOf(base16.baseEncode(digest)))
        const others = Object.values(aliasesOf(base16.baseEncode(other)))
        const keysOf = (texts: string[]) => new Set(texts.map((text) => parseContentId(text, sha256Hex).key))
        expect(keysOf(mine).size).toBe(1)
        expect(keysOf([...mine, ...others]).size).toBe(2)
      }),
      RUNS,
    )
  })

  // Not so for base36 and base58: a digit lost or added there scales the whole number, and nothing of the head is left.
  test('refuses a raw sha2-256 CID in base32 or base16 that lost or gained characters at its end', () => {
    fc.assert(
      fc.property(
        sha256Digest,
        fc.constantFrom(bases.base32, bases.base16),
        fc.integer({ min: 1, max: 7 }),
        fc.boolean(),
        (digest, base, amount, cut) => {
          const text = base.encode(Uint8Array.from([1, 0x55, 0x12, 32, ...digest]))
          expect(parsedOrRefused(cut ? text.slice(0, -amount) : text + 'a'.repeat(amount))).toBeUndefined()
        },
      ),
      RUNS,
    )
  })
})

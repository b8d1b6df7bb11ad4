import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { base32 } from 'multiformats/bases/base32'
import { bases } from 'multiformats/basics'
import {
  BLOCK_HASHES,
  DAG_PB,
  FIL_COMMITMENT_UNSEALED,
  FR32_TREE,
  IDENTITY,
  pieceMultihash,
  RAW,
  TRUNC254_PADDED,
  unixfsRoots,
} from './id-oracle.ts'

/** Bytes, and an id to send them under: right, wrong by a little, or fake. */
export interface Attempt {
  readonly body: Buffer
  readonly id: string
  readonly contentType: string
}

/** A body with what its ids are made of. */
interface KnownBody {
  readonly body: Buffer
  readonly sha256: Buffer
  readonly piece: Buffer
  readonly roots: readonly Buffer[]
}

/** Bodies that ids can confuse: short ones, each again with zeros behind it, and some whose first bytes are a CID's. */
async function knownBodies(seed: number): Promise<readonly KnownBody[]> {
  const noise = (name: string) => createHash('shake256', { outputLength: 600 }).update(`${seed} ${name}`).digest()
  const starts = [1, 2, 20, 31, 65, 126, 127, 128, 254, 255, 508].map((size) => noise(`of ${size}`).subarray(0, size))
  const padded = starts.flatMap((start) => [1, 4].map((zeros) => Buffer.concat([start, Buffer.alloc(zeros)])))
  const bodies = [...starts, ...padded, Buffer.alloc(1), Buffer.alloc(127), Buffer.from([0x01, 0x55, 0x12, 0x20])]
  return Promise.all(
    bodies.map(async (body) => ({
      body,
      sha256: createHash('sha256').update(body).digest(),
      piece: Buffer.from(pieceMultihash(body)),
      roots: (await unixfsRoots(body)).map((root) => Buffer.from(root.multihash.digest)),
    })),
  )
}

const haveOneTree = (one: KnownBody, other: KnownBody): boolean =>
  one.piece.subarray(-32).equals(other.piece.subarray(-32))

/** The parts of a CID's bytes before anything is spoiled. */
interface Parts {
  readonly codec: number
  readonly hash: number
  readonly digest: Buffer
}

const CODECS = [RAW, RAW, DAG_PB, 0x71, 0x0129, 0x78, 0x72, FIL_COMMITMENT_UNSEALED, 0xf102]
const HASHES = [
  ...Object.keys(BLOCK_HASHES).map(Number),
  IDENTITY,
  0x11,
  0x13,
  0x16,
  0xb240,
  TRUNC254_PADDED,
  FR32_TREE,
]

/** Parts that name `known` truly, in one of the ways in which a CID can. */
function trueParts({ body, piece, roots }: KnownBody): fc.Arbitrary<Parts> {
  const blocks = fc
    .tuple(fc.constantFrom(RAW, RAW, DAG_PB, 0x71, 0x0129, 0x78), fc.constantFrom(...Object.entries(BLOCK_HASHES)))
    .map(([codec, [hash, digestOf]]) => ({ codec, hash: Number(hash), digest: Buffer.from(digestOf(body)) }))
  const inline = { codec: RAW, hash: IDENTITY, digest: body }
  return fc.oneof(
    blocks,
    fc.constantFrom(...roots).map((digest) => ({ codec: DAG_PB, hash: 0x12, digest })),
    fc.constant({ codec: RAW, hash: FR32_TREE, digest: piece.subarray(3) }),
    fc.constant({ codec: FIL_COMMITMENT_UNSEALED, hash: TRUNC254_PADDED, digest: piece.subarray(-32) }),
    fc.constant(
      body.length <= 44 ? inline : { codec: RAW, hash: 0x12, digest: createHash('sha256').update(body).digest() },
    ),
  )
}

const fakeParts: fc.Arbitrary<Parts> = fc.record({
  codec: fc.oneof(fc.constantFrom(...CODECS), fc.nat(), fc.maxSafeNat()),
  hash: fc.oneof(fc.constantFrom(...HASHES), fc.nat(), fc.maxSafeNat()),
  digest: fc
    .oneof(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.uint8Array({ maxLength: 44 }))
    .map((bytes) => Buffer.from(bytes)),
})

/** Mostly `usual`. */
const rarely = <Value>(usual: Value, odd: fc.Arbitrary<Value>): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 20, arbitrary: fc.constant(usual) }, odd)

const faults = fc.record({
  version: rarely(1, fc.oneof(fc.constantFrom(0, 2, 0x12), fc.nat(), fc.maxSafeNat())),
  isBareMultihash: rarely(false, fc.constant(true)),
  paddings: fc.tuple(...([0, 1, 2, 3] as const).map(() => rarely(0, fc.integer({ min: 1, max: 12 })))),
  lengthError: rarely(0, fc.oneof(fc.integer({ min: -3, max: 3 }), fc.nat(), fc.maxSafeNat())),
  cut: rarely(0, fc.integer({ min: 1, max: 40 })),
  tail: rarely(
    Buffer.alloc(0),
    fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes)),
  ),
  flip: rarely(-1, fc.nat({ max: 511 })),
})

const writing = fc.record({
  base: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(bases.base32, bases.base36, bases.base16, bases.base58btc) },
    fc.constantFrom(...Object.values(bases)),
  ),
  casing: rarely('as is', fc.constantFrom('lower', 'upper', 'swapped')),
  dropped: rarely(0, fc.integer({ min: 1, max: 5 })),
  added: rarely('', fc.constantFrom('a', '0', 'aa', '1111')),
})

/** A varint of `value`, `padding` bytes longer than it has to be. */
function varint(value: number, padding: number | undefined = 0): number[] {
  const bytes: number[] = []
  let rest = BigInt(value)
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  bytes.push(Number(rest))
  if (padding > 0) bytes.push((bytes.pop() ?? 0) | 0x80, ...Array<number>(padding - 1).fill(0x80), 0)
  return bytes
}

function spoiled(parts: Parts, fault: typeof faults extends fc.Arbitrary<infer Fault> ? Fault : never): Buffer {
  const { codec, hash, digest } = parts
  const { version, isBareMultihash, paddings, lengthError, cut, tail, flip } = fault
  const bytes = Buffer.from([
    ...(isBareMultihash ? [] : [...varint(version, paddings[0]), ...varint(codec, paddings[1])]),
    ...varint(hash, paddings[2]),
    ...varint(Math.max(0, digest.length + lengthError), paddings[3]),
    ...digest,
  ])
  const whole = Buffer.concat([bytes.subarray(0, Math.max(0, bytes.length - cut)), tail])
  if (flip >= 0 && flip >> 3 < whole.length) whole.writeUInt8(whole.readUInt8(flip >> 3) ^ (1 << (flip & 7)), flip >> 3)
  return whole
}

function written(bytes: Buffer, how: typeof writing extends fc.Arbitrary<infer How> ? How : never): string {
  // A CIDv0 has no multibase prefix.
  const isV0 = bytes[0] === 0x12 && how.base === bases.base58btc
  const text = isV0 ? how.base.baseEncode(bytes) : how.base.encode(bytes)
  // One of the multibases writes emoji, and half of one cannot be sent.
  const cut = (text.slice(0, text.length - how.dropped) + how.added).toWellFormed()
  if (how.casing === 'lower') return cut.toLowerCase()
  if (how.casing === 'upper') return cut.toUpperCase()
  return how.casing === 'swapped' ? cut.slice(0, 1) + cut.slice(1).toUpperCase() : cut
}

/** None of the bodies is a CAR, but the service has to look for one behind its type. */
const contentType = rarely('text/plain', fc.constant('application/vnd.ipld.car'))

const plainText = fc.string({
  unit: fc.constantFrom(...'0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'),
  minLength: 7,
  maxLength: 81,
})

/**
 * Uploads to try. About half of the ids are right for their body or for another one of few bodies, in every spelling; the
 * rest is wrong in some part of its bytes or its text, or fake.
 *
 * @param seed - the same seed gives the same attempts.
 */
export async function generateAttempts(seed: number, amount: number): Promise<readonly Attempt[]> {
  const known = await knownBodies(seed)
  const someKnown = fc.constantFrom(...known)
  const cidText = fc
    .tuple(fc.oneof(someKnown.chain(trueParts), fakeParts), faults, writing)
    .map(([parts, fault, how]) => written(spoiled(parts, fault), how))
  const trueCidText = (of: KnownBody) =>
    fc.tuple(trueParts(of), writing, fc.boolean()).map(([parts, how, isV0]) => {
      const { codec, hash, digest } = parts
      const multihash = Buffer.from([...varint(hash), ...varint(digest.length), ...digest])
      const isBare = isV0 && codec === DAG_PB && hash === 0x12
      return isBare
        ? bases.base58btc.baseEncode(multihash)
        : written(Buffer.from([1, ...varint(codec), ...multihash]), how)
    })
  const digestText = someKnown
    .map(({ sha256 }) => sha256)
    .chain((sha256) =>
      fc.constantFrom(sha256.toString('hex'), sha256.toString('hex').toUpperCase(), `bafy${base32.baseEncode(sha256)}`),
    )
  const attempt = someKnown.chain((of) =>
    fc
      .oneof(
        { weight: 5, arbitrary: trueCidText(of) },
        // Of another body with the same piece tree, which may differ in nothing but the zeros behind it.
        {
          weight: 1,
          arbitrary: fc.constantFrom(...known.filter((other) => haveOneTree(of, other))).chain(trueCidText),
        },
        { weight: 4, arbitrary: cidText },
        { weight: 1, arbitrary: digestText },
        { weight: 1, arbitrary: plainText },
      )
      .chain((id) => contentType.map((type) => ({ body: of.body, id, contentType: type }))),
  )
  return fc.sample(attempt, { seed, numRuns: amount })
}

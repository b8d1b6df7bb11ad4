import { hash } from 'node:crypto'
import { blockHashOf } from '@lade/node/hashing/block-hash'
import { base32 } from 'multiformats/bases/base32'
import { CID } from 'multiformats/cid'
import { decode as decodeDigest } from 'multiformats/hashes/digest'
import { base58 } from './base58.ts'
import type { DenyRule } from './deny-rule.ts'

/** Where a rule is: the line of a list, counted from 1. */
export interface RulePlace {
  readonly list: string
  readonly line: number
}

/** What is asked of a denylist. */
export interface AskedContent {
  readonly multihash: Uint8Array
  /** The codecs that a CID of it may have here; only old hashes depend on it. */
  readonly codecs: readonly number[]
  /** Names below it; none for itself. */
  readonly path?: readonly string[]
}

interface PathRule {
  readonly path: string
  readonly isPrefix: boolean
  readonly verdict: Verdict
}

/** The number of a rule in the order of all lists; negative for one that lets content through. */
type Verdict = number

const SHA2_256 = 0x12
const RAW = 0x55
const DAG_PB = 0x70

/** The codecs under which content may be known whose CID is not. */
export const ANY_CODEC: readonly number[] = [RAW, DAG_PB]

/**
 * The rules of all denylists. Of several that match, the last one counts.
 *
 * Rules of CIDs are found by one look into a map. A hashed rule makes it necessary to hash what is asked for: once for each hash function
 * that the lists use.
 */
export class Denylist {
  readonly #contents = new Map<string, Verdict>()
  readonly #paths = new Map<string, PathRule[]>()
  /** By the code of the hash function, then by the digest. */
  readonly #doubleHashes = new Map<number, Map<string, Verdict>>()
  readonly #legacyHashes = new Map<string, Verdict>()
  readonly #lists: { readonly name: string; readonly firstNumber: number }[] = []
  #numbers = 0
  #rules = 0

  /** How many rules there are. */
  get size(): number {
    return this.#rules
  }

  /** Begins a list, whose rules come after all that were added before. */
  begin(name: string): void {
    this.#numbers += 1
    this.#lists.push({ name, firstNumber: this.#numbers })
  }

  /** @param line - of the rule in its list; it grows from rule to rule. */
  add(rule: DenyRule, line: number): void {
    const first = this.#lists.at(-1)?.firstNumber ?? 0
    const number = first + line
    this.#numbers = Math.max(this.#numbers, number)
    this.#rules += 1
    const verdict = rule.isAllowed ? -number : number
    switch (rule.kind) {
      case 'content':
        this.#contents.set(binary(rule.multihash), verdict)
        return
      case 'path': {
        const key = binary(rule.multihash)
        const { path, isPrefix } = rule
        this.#paths.set(key, [...(this.#paths.get(key) ?? []), { path, isPrefix, verdict }])
        return
      }
      case 'double-hash': {
        const { code, digest } = decodeDigest(rule.multihash)
        const known = this.#doubleHashes.get(code) ?? new Map<string, Verdict>()
        this.#doubleHashes.set(code, known.set(binary(digest), verdict))
        return
      }
      case 'legacy-hash':
        this.#legacyHashes.set(binary(rule.sha256), verdict)
    }
  }

  /** The rule that blocks this content, or a path below it; undefined where none does. */
  find({ multihash, codecs, path = [] }: AskedContent): RulePlace | undefined {
    if (this.#rules === 0) return undefined
    const key = binary(multihash)
    const name = this.#doubleHashes.size === 0 ? '' : base58(multihash)
    const whole = lastOf(this.#contents.get(key), this.#hashed(name), this.#legacy(multihash, codecs, ''))
    if (whole > 0) return this.#placeOf(whole)
    if (path.length === 0) return undefined
    const below = lastOf(...this.#below(key, path), ...this.#hashedBelow({ name, multihash, codecs, path }))
    return below > 0 ? this.#placeOf(below) : undefined
  }

  #below(key: string, segments: readonly string[]): Verdict[] {
    const path = segments.join('/')
    const rules = this.#paths.get(key) ?? []
    return rules
      .filter((rule) => (rule.isPrefix ? path.startsWith(rule.path) : path === rule.path))
      .map(({ verdict }) => verdict)
  }

  /** Lists hash paths as they are written: some write characters out, some percent-encode them. */
  #hashedBelow({ name, multihash, codecs, path }: Required<AskedContent> & { name: string }): (Verdict | undefined)[] {
    const spellings = new Set([path.join('/'), path.map(encodeURIComponent).join('/')])
    return [...spellings].flatMap((spelling) => [
      this.#hashed(`${name}/${spelling}`),
      this.#legacy(multihash, codecs, spelling),
    ])
  }

  #hashed(name: string): Verdict | undefined {
    let last: Verdict | undefined
    for (const [code, digests] of this.#doubleHashes) {
      last = lastOf(last, digests.get(digestOf(code, name)))
    }
    return last
  }

  #legacy(multihash: Uint8Array, codecs: readonly number[], path: string): Verdict | undefined {
    if (this.#legacyHashes.size === 0) return undefined
    const digest = decodeDigest(multihash)
    return lastOf(
      ...codecs.map((codec) => {
        const cid = CID.createV1(codec, digest).toString(base32)
        return this.#legacyHashes.get(digestOf(SHA2_256, `${cid}/${path}`))
      }),
    )
  }

  #placeOf(number: number): RulePlace {
    const list = this.#lists.findLast(({ firstNumber }) => firstNumber <= number)
    return { list: list?.name ?? '', line: number - (list?.firstNumber ?? 0) }
  }
}

/** The digest of a name, as the key of a map. */
function digestOf(code: number, name: string): string {
  // Without a buffer it takes a tenth of the time.
  if (code === SHA2_256) return hash('sha256', name, 'binary')
  const digest = blockHashOf(code)?.(Buffer.from(name))
  return digest === undefined ? '' : binary(digest)
}

/** The verdict of the last rule; 0 without one. */
function lastOf(...verdicts: readonly (Verdict | undefined)[]): Verdict {
  let last = 0
  for (const verdict of verdicts) if (verdict !== undefined && Math.abs(verdict) > Math.abs(last)) last = verdict
  return last
}

/** Bytes as the key of a map, a character each. */
function binary(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

import { base16 } from 'multiformats/bases/base16'
import { base32 } from 'multiformats/bases/base32'
import { base36 } from 'multiformats/bases/base36'
import { base58btc } from 'multiformats/bases/base58'
import { CID } from 'multiformats/cid'
import { decode as decodeDigest } from 'multiformats/hashes/digest'
import { base58Bytes } from './base58.ts'

/** What a line of a denylist blocks, or lets through after all. */
export type DenyRule = { readonly isAllowed: boolean } & (
  | {
      /** The content of a CID, by its multihash. */
      readonly kind: 'content'
      readonly multihash: Uint8Array
    }
  | {
      /** A path below a CID, decoded and without slashes at its ends; with `isPrefix` all that begin like this. */
      readonly kind: 'path'
      readonly multihash: Uint8Array
      readonly path: string
      readonly isPrefix: boolean
    }
  | {
      /** A content or a path by the multihash of its name. */
      readonly kind: 'double-hash'
      readonly multihash: Uint8Array
    }
  | {
      /** The same by the sha2-256 of `<CIDv1 in base32>/<path>`. */
      readonly kind: 'legacy-hash'
      readonly sha256: Uint8Array
    }
)

const BASES = base32.decoder.or(base36.decoder).or(base16.decoder).or(base58btc.decoder)
const HEX_DIGEST = /^[0-9a-f]{64}$/i

/**
 * Reads a line that is no comment and not empty. A line has more than one rule where its hash can be read in two ways.
 *
 * @returns undefined for a rule about names of IPNS, which this service does not resolve.
 * @throws {Error} for a line that is none of the known rules.
 * @see https://specs.ipfs.tech/compact-denylist-format/
 */
export function readDenyRules(line: string): readonly DenyRule[] | undefined {
  // Hints follow behind a space.
  const [item = ''] = line.trim().split(/\s/, 1)
  const isAllowed = item.startsWith('!')
  const text = isAllowed ? item.slice(1) : item
  if (text.startsWith('//')) return hashRules(text.slice(2), isAllowed)
  if (text.startsWith('/ipns/')) return undefined
  if (!text.startsWith('/ipfs/')) throw new Error('it begins with neither /ipfs/, /ipns/ nor //')
  return [contentRule(text.slice('/ipfs/'.length), isAllowed)]
}

function contentRule(text: string, isAllowed: boolean): DenyRule {
  const slash = text.indexOf('/')
  const name = slash === -1 ? text : text.slice(0, slash)
  const written = slash === -1 ? '' : text.slice(slash + 1)
  const isPrefix = written.endsWith('*')
  const path = withoutSlashes(decodeURIComponent(isPrefix ? written.slice(0, -1) : written))
  const multihash = multihashIn(name)
  // Every path of a CID is as good as the CID itself, whose block they all go through.
  return path === ''
    ? { kind: 'content', multihash, isAllowed }
    : { kind: 'path', multihash, path, isPrefix, isAllowed }
}

function hashRules(text: string, isAllowed: boolean): DenyRule[] {
  const rules: DenyRule[] = []
  if (HEX_DIGEST.test(text)) rules.push({ kind: 'legacy-hash', sha256: Buffer.from(text, 'hex'), isAllowed })
  const multihash = tryMultihash(text)
  if (multihash !== undefined) rules.push({ kind: 'double-hash', multihash, isAllowed })
  if (rules.length === 0) throw new Error('the hash is neither a multihash in base58 nor 64 hex digits')
  return rules
}

/** The multihash in a CID, or in a multihash in base58. */
function multihashIn(text: string): Uint8Array {
  // A few CIDs can be read as base58, so those that are written as one are read as that.
  const bare = /^[bfkz]/.test(text) ? undefined : tryMultihash(text)
  return bare ?? CID.parse(text, BASES).multihash.bytes
}

function tryMultihash(text: string): Uint8Array | undefined {
  const bytes = base58Bytes(text)
  if (bytes === undefined) return undefined
  try {
    // It throws where the length is not the one that is said.
    return decodeDigest(bytes).bytes
  } catch {
    return undefined
  }
}

function withoutSlashes(path: string): string {
  return path.replace(/^\/+|\/+$/g, '')
}

import { keyOfMultihash } from './multihash.ts'

/**
 * What a takedown blocks: `multihash:<hex>` for bytes and blocks, whatever codec a CID gives them; a piece key or an opaque one as it is.
 */
export type BlockedName = string

const MULTIHASH = 'multihash:'

/** The multihash prefixes of the keys that name bytes by a hash. */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ['sha256', '1220'],
  ['dag-pb', '1220'],
  ['blake3', '1e20'],
  ['blake2b-256', 'a0e40220'],
])

/** @example blockedNameOf('dag-pb:ab…') // 'multihash:1220ab…' */
export function blockedNameOf(key: string): BlockedName {
  const colon = key.indexOf(':')
  const prefix = PREFIXES.get(key.slice(0, colon))
  return prefix === undefined ? key : `${MULTIHASH}${prefix}${key.slice(colon + 1)}`
}

export function blockedNameOfMultihash(multihash: Uint8Array): BlockedName {
  return `${MULTIHASH}${Buffer.from(multihash.buffer, multihash.byteOffset, multihash.length).toString('hex')}`
}

/** The multihash that a name is; undefined for the others. */
export function multihashOf(name: BlockedName): Buffer | undefined {
  return name.startsWith(MULTIHASH) ? Buffer.from(name.slice(MULTIHASH.length), 'hex') : undefined
}

/** The content keys that a name covers. */
export function keysOf(name: BlockedName): readonly string[] {
  const multihash = multihashOf(name)
  if (multihash === undefined) return [name]
  const key = keyOfMultihash(multihash)
  if (key === undefined) return []
  return key.startsWith('sha256:') ? [key, `dag-pb:${key.slice('sha256:'.length)}`] : [key]
}

import type { Sha256 } from '@lade/core/dag/import'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { HashWants } from './hash-wants.ts'

/** A hash of all bytes that pass, one piece after the other. */
export interface RunningHash {
  update(bytes: Uint8Array): void
  digest(): Uint8Array
}

export type RunningHashName = 'sha256' | 'blake3' | 'blake2b256'
export type RunningHashes = Partial<Record<RunningHashName, RunningHash>>

/** Begins the hashes that are wanted. The blake ones are loaded when somebody wants them, which is seldom. */
export async function beginHashes(wants: HashWants, sha256: Sha256): Promise<RunningHashes> {
  const hashes: RunningHashes = {}
  if (wants.sha256) hashes.sha256 = sha256.create()
  if (wants.blake3) hashes.blake3 = (await import('@noble/hashes/blake3.js')).blake3.create()
  if (wants.blake2b256) hashes.blake2b256 = (await import('@noble/hashes/blake2.js')).blake2b.create({ dkLen: 32 })
  return hashes
}

export type HexDigests = Readonly<Partial<Record<RunningHashName, string>>>

/** Ends the hashes, each as 64 lower-case hex digits. */
export function endHashes(hashes: RunningHashes): HexDigests {
  return Object.fromEntries(Object.entries(hashes).map(([name, hash]) => [name, bytesToHex(hash.digest())]))
}

import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { base58btc } from 'multiformats/bases/base58'
import { identity } from 'multiformats/hashes/identity'
import type { SecretRecords } from '../records/record-store.ts'

const NAME = 'peer key'

/** A public key as libp2p writes it, before its 32 bytes: a protobuf with the type Ed25519. */
const ED25519_PREFIX = [0x08, 0x01, 0x12, 0x20]

/**
 * The peer id of this service, by which IPFS clients tell providers apart. It is made once and kept in the records: every process, and a service
 * that was restored or moved, has the same.
 *
 * @returns base58, such as `12D3KooW…`.
 * @throws {LadeError} `storage_failed`, `read_only`.
 * @see https://github.com/libp2p/specs/blob/master/peer-ids/peer-ids.md
 */
export async function openPeerId(secrets: Pick<SecretRecords, 'find' | 'offer'>): Promise<string> {
  const kept = (await secrets.find(NAME)) ?? (await secrets.offer({ name: NAME, value: newKeyText() }))
  const key = createPrivateKey({ key: Buffer.from(kept, 'base64'), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  const publicKey = Uint8Array.from([...ED25519_PREFIX, ...Buffer.from(x, 'base64url')])
  return base58btc.encode(identity.digest(publicKey).bytes).slice(1)
}

function newKeyText(): string {
  const { privateKey } = generateKeyPairSync('ed25519')
  return privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
}

import { hash } from 'node:crypto'

/** What a deal is about. */
export interface DealSubject {
  readonly principal: string
  /** The file's content key. */
  readonly key: string
  /** What its bytes are called: their sha2-256, or the piece key where that is not known. */
  readonly object: string
}

/**
 * The synthetic id of a deal: `d-0x` and 32 hex digits. The same caller with the same bytes gets the same id, whichever of their names it
 * uses, so that a retry is the same deal.
 *
 * @param salt - random per installation, so that deal ids of two installations do not meet.
 *
 * @example
 * dealIdOf('a', { principal: 'user:1', key: 'sha256:00', object: '00' }) // 'd-0xc14eaad8e0df87462cf598827f9fd0cf'
 */
export function dealIdOf(salt: string, { principal, key, object }: DealSubject): string {
  // An opaque id is a file of its own, whatever its bytes; every other name is one of the bytes.
  const name = key.startsWith('opaque:') ? key : object.startsWith('piece:') ? object : `sha256:${object}`
  const digest = hash('sha256', `${salt}\n${principal}/${name}/${object}`, 'hex')
  return `d-0x${digest.slice(0, 32)}`
}

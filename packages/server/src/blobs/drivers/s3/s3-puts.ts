import { LRUCache } from 'lru-cache'
import type { BlobName } from '../../blob-store.ts'
import type { S3Calls } from './s3-calls.ts'
import type { S3Keys } from './s3-keys.ts'
import { headObject, listKeys, type StoredObject } from './s3-objects.ts'

/** How long an answer of the records is believed. What they replace stays readable for longer. */
const BELIEVED_MS = 5_000
/** Some MiB of digests in the end. */
const MOST_REMEMBERED = 16_384

/** A put that is in the bucket. */
export interface FoundPut extends BlobName {
  readonly object: StoredObject
}

/**
 * Finds which put of a digest to read. All of them have the same bytes, so any that is there will do; the records know which one stays.
 *
 * What was found or committed is remembered for a moment. Where the records name none that is there, the bucket is listed: they may be an
 * older copy of themselves, or not know the bytes yet.
 */
export class S3Puts {
  readonly #calls: S3Calls
  readonly #keys: S3Keys
  readonly #remembered = new LRUCache<string, readonly string[]>({
    max: MOST_REMEMBERED,
    ttl: BELIEVED_MS,
    ttlResolution: 0,
  })

  constructor(calls: S3Calls, keys: S3Keys) {
    this.#calls = calls
    this.#keys = keys
  }

  /** Notes what was committed just now. */
  remember({ sha256, put }: BlobName): void {
    this.#remembered.set(sha256, [put])
  }

  /** Notes that a put is not there any more. */
  forget({ sha256, put }: BlobName): void {
    if (this.#remembered.get(sha256)?.includes(put) === true) this.#remembered.delete(sha256)
  }

  /** The put that is read, by what is known without a look into the bucket. */
  async likely(sha256: string): Promise<BlobName> {
    const puts = this.#remembered.get(sha256) ?? (await this.#ask(sha256))
    return { sha256, put: puts[0] ?? '' }
  }

  /** True when the records, asked now, name other puts and not this one. */
  async isReplaced({ sha256, put }: BlobName): Promise<boolean> {
    const puts = await this.#ask(sha256)
    return puts.length > 0 && !puts.includes(put)
  }

  /** A put that is there, other than `except`; undefined when there is none. */
  async find(sha256: string, except?: string): Promise<FoundPut | undefined> {
    const tried = new Set(except === undefined ? [] : [except])
    return (
      (await this.#firstOf(sha256, this.#remembered.get(sha256) ?? [], tried)) ??
      (await this.#firstOf(sha256, await this.#ask(sha256), tried)) ??
      (await this.#firstOf(sha256, await this.#listed(sha256), tried))
    )
  }

  async #firstOf(sha256: string, puts: readonly string[], tried: Set<string>): Promise<FoundPut | undefined> {
    for (const put of puts) {
      if (tried.has(put)) continue
      tried.add(put)
      const object = await headObject(this.#calls, this.#keys.blob({ sha256, put }))
      if (object === undefined) continue
      if (this.#remembered.get(sha256)?.[0] !== put) this.#remembered.set(sha256, [put])
      return { sha256, put, object }
    }
    return undefined
  }

  /** In the order in which they are to be tried. */
  async #ask(sha256: string): Promise<readonly string[]> {
    const puts = (await this.#calls.settings.putsOf?.(sha256)) ?? []
    if (puts.length > 0) this.#remembered.set(sha256, puts)
    return puts
  }

  async #listed(sha256: string): Promise<readonly string[]> {
    const puts: string[] = []
    const prefix = this.#keys.blob({ sha256, put: '' })
    for await (const { objects } of listKeys(this.#calls, { prefix })) {
      for (const { key } of objects) {
        const name = this.#keys.nameOf(key)
        if (name !== undefined) puts.push(name.put)
      }
    }
    return puts
  }
}

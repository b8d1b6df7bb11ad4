import type { BlobName } from '../../blob-store.ts'
import { isPut, isSha256 } from '../../store-arguments.ts'

/**
 * The names that a store gives to its objects, all under one prefix.
 *
 * `objects/` holds what is committed and nothing else, each put of a digest under a key that is never used again. `pending/<holder>/<id>` is a marker that says which multipart
 * upload is under way, and `pending/<holder>/<id>.bytes` what is uploaded before its digest is known. `installation.json` says
 * to which installation all of it belongs.
 */
export class S3Keys {
  readonly installation: string
  readonly objects: string
  readonly pending: string
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
    this.installation = `${prefix}installation.json`
    this.objects = `${prefix}objects/`
    this.pending = `${prefix}pending/`
  }

  /** Behind the digest of a put without a name follow those with one. */
  blob({ sha256, put }: BlobName): string {
    return `${this.objects}${sha256.slice(0, 2)}/${sha256}${put === '' ? '' : `/${put}`}`
  }

  /** The put that `key` names; undefined for every key that is not a blob's. */
  nameOf(key: string): BlobName | undefined {
    const [sha256 = '', put = ''] = key.slice(this.objects.length + 3).split('/')
    const isName = isSha256(sha256) && (put === '' || isPut(put))
    return isName && key === this.blob({ sha256, put }) ? { sha256, put } : undefined
  }

  holder(holder: string): string {
    return `${this.pending}${holder}/`
  }

  marker(holder: string, id: string): string {
    return `${this.holder(holder)}${id}`
  }

  /** Where bytes wait whose digest is not known yet. */
  waiting(holder: string, id: string): string {
    return `${this.marker(holder, id)}.bytes`
  }

  /** What everything begins with that was quarantined of a digest. */
  quarantine(sha256: string): string {
    return `${this.#prefix}quarantine/${sha256}-`
  }

  quarantined(sha256: string, time: Date): string {
    return `${this.quarantine(sha256)}${time.toISOString().replaceAll(/[-:.]/g, '')}`
  }

  /** A key after which every blob greater than `after` comes, and few others. */
  before(after: string): string {
    const [digits = ''] = /^[0-9a-f]{0,64}/.exec(after) ?? []
    return digits.length < 2 ? `${this.objects}${digits}` : `${this.objects}${digits.slice(0, 2)}/${digits}`
  }
}

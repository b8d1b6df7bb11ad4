import { isSha256 } from '../../store-arguments.ts'

/**
 * The names that a store gives to its objects, all under one prefix.
 *
 * `objects/` holds what is committed and nothing else. `pending/<holder>/<id>` is a marker that says which multipart
 * upload is under way, and `pending/<holder>/<id>.bytes` what is uploaded before its digest is known.
 */
export class S3Keys {
  readonly objects: string
  readonly pending: string
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
    this.objects = `${prefix}objects/`
    this.pending = `${prefix}pending/`
  }

  blob(sha256: string): string {
    return `${this.objects}${sha256.slice(0, 2)}/${sha256}`
  }

  /** The digest that `key` names; undefined for every key that is not a blob's. */
  digestOf(key: string): string | undefined {
    const sha256 = key.slice(-64)
    return isSha256(sha256) && key === this.blob(sha256) ? sha256 : undefined
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

  quarantined(sha256: string, time: Date): string {
    return `${this.#prefix}quarantine/${sha256}-${time.toISOString().replaceAll(/[-:.]/g, '')}`
  }

  /** A key after which every blob greater than `after` comes, and few others. */
  before(after: string): string {
    const [digits = ''] = /^[0-9a-f]{0,64}/.exec(after) ?? []
    return digits.length < 2 ? `${this.objects}${digits}` : `${this.objects}${digits.slice(0, 2)}/${digits}`
  }
}

/** What a signature covers of a request, in the order in which it covers it (ERC-8128, a profile of RFC 9421). */
export interface Covered {
  readonly method: string
  readonly url: URL
  /** `Content-Digest`, `Content-Length` and `Content-Type`; undefined without a body. */
  readonly content: { readonly digest: string; readonly lengthBytes: number; readonly type: string } | undefined
}

/** What a signature says of itself. */
export interface SignatureParams {
  /** Seconds since 1970. */
  readonly created: number
  /** Seconds since 1970. */
  readonly expires: number
  readonly nonce: string
  readonly keyId: string
}

/** The text that is signed, and the parameters in it that the request repeats. */
export interface SignatureBase {
  /** The value of `Signature-Input` behind the label. */
  readonly input: string
  readonly text: string
}

/**
 * The signature base of RFC 9421 section 2.5: a line for each component, and the parameters.
 *
 * Covered is what ERC-8128 calls request-bound, `Content-Length` and `Content-Type` besides. `url.host` is the authority as
 * section 2.2.3 has it: in lower case, without a default port.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9421#section-2.5
 */
export function signatureBase({ method, url, content }: Covered, params: SignatureParams): SignatureBase {
  const components: [name: string, value: string][] = [
    ['@method', method],
    ['@authority', url.host],
    ['@path', url.pathname],
  ]
  if (url.search !== '') components.push(['@query', url.search])
  if (content !== undefined) {
    components.push(['content-digest', content.digest])
    components.push(['content-length', String(content.lengthBytes)])
    components.push(['content-type', content.type.trim()])
  }
  const { created, expires, nonce, keyId } = params
  const names = components.map(([name]) => `"${name}"`).join(' ')
  const input = `(${names});created=${created};expires=${expires};nonce="${nonce}";keyid="${keyId}"`
  const lines = components.map(([name, value]) => `"${name}": ${value}`)
  return { input, text: [...lines, `"@signature-params": ${input}`].join('\n') }
}

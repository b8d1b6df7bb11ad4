import { refused } from './signature-input.ts'

/** A request as its signature is over it. */
export interface SignedRequest {
  readonly method: string
  /** The path and the query as they were sent. */
  readonly target: string
  /** Name and value, alternating, as they were sent. */
  readonly rawHeaders: readonly string[]
  /** Where callers reach this service: scheme, authority, and perhaps a path that a proxy takes away. */
  readonly publicUrl: string
}

/** RFC 9110, section 5.1, in the lower case that RFC 9421 asks for. */
const FIELD_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/
const PRINTABLE = /^[\x20-\x7e]*$/

/**
 * What a wallet signs: the signature base of RFC 9421, section 2.5.
 *
 * `@authority` is the one that the service is configured to have and never a header's, so that a signature for one service
 * holds at no other. Header fields are taken as they were sent: lines of one name joined by a comma and a space, without the
 * white space around each.
 *
 * @param signatureParams - the components and the parameters as `Signature-Input` has them.
 * @throws {LadeError} `invalid_signature` for a component that the request does not have or that is not supported.
 *
 * @example
 * new TextDecoder().decode(signatureBase(request, ['@method', '@path'], '("@method" "@path");created=1'))
 * // '"@method": GET\n"@path": /api/files\n"@signature-params": ("@method" "@path");created=1'
 */
export function signatureBase(
  request: SignedRequest,
  components: readonly string[],
  signatureParams: string,
): Uint8Array {
  const lines = components.map((name) => `"${name}": ${componentValue(request, name)}`)
  return new TextEncoder().encode([...lines, `"@signature-params": ${signatureParams}`].join('\n'))
}

function componentValue(request: SignedRequest, name: string): string {
  const value = name.startsWith('@') ? derivedValue(request, name) : fieldValue(request.rawHeaders, name)
  if (!PRINTABLE.test(value)) throw refused(`The value of ${name} is not printable ASCII, so it cannot be signed.`)
  return value
}

function derivedValue({ method, target, publicUrl }: SignedRequest, name: string): string {
  const { origin, host, pathname } = new URL(publicUrl)
  const prefix = pathname.replace(/\/$/, '')
  const mark = target.indexOf('?')
  switch (name) {
    case '@method':
      return method
    case '@authority':
      return host
    case '@path':
      return prefix + (mark === -1 ? target : target.slice(0, mark))
    case '@query':
      // RFC 9421, section 2.2.7: "?" also where there is no query.
      return mark === -1 ? '?' : target.slice(mark)
    case '@target-uri':
      return origin + prefix + target
    default:
      throw refused(`The component ${name.slice(0, 40)} is not supported.`)
  }
}

function fieldValue(rawHeaders: readonly string[], name: string): string {
  if (!FIELD_NAME.test(name)) throw refused('A component is not a lower-case header name.')
  const lines: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== name) continue
    lines.push((rawHeaders[index + 1] ?? '').replace(/^[ \t]+|[ \t]+$/g, ''))
  }
  if (lines.length === 0) throw refused(`The signature covers the header ${name}, but the request does not have it.`)
  return lines.join(', ')
}

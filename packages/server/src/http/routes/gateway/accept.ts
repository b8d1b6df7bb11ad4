/** One entry of an `Accept` header. */
export interface AcceptedType {
  /** Lower case, such as `application/vnd.ipld.car`. */
  readonly mediaType: string
  /** Names in lower case; `q` is not among them. */
  readonly parameters: ReadonlyMap<string, string>
}

/**
 * The entries of an `Accept` header, the most wanted first and those of one weight as they stand; those of weight 0 are left
 * out (RFC 9110 section 12.5.1). An entry that does not read as one names a type that nobody has. Commas inside quoted
 * values, which no type of this API needs, are taken for the ends of entries.
 *
 * @example
 * acceptedTypes('application/vnd.ipld.car; dups=y; q=0.5, text/html')
 * // [{ mediaType: 'text/html', … }, { mediaType: 'application/vnd.ipld.car', parameters: Map { 'dups' => 'y' } }]
 */
export function acceptedTypes(header: string | undefined): readonly AcceptedType[] {
  const entries = (header ?? '').split(',').map(readEntry)
  // Sorting is stable.
  return entries.filter(({ weight }) => weight > 0).sort((one, other) => other.weight - one.weight)
}

function readEntry(text: string): AcceptedType & { readonly weight: number } {
  const [mediaType = '', ...rest] = text.split(';').map((part) => part.trim())
  const parameters = new Map<string, string>()
  let weight = 1
  for (const part of rest) {
    const equals = part.indexOf('=')
    if (equals === -1) continue
    const name = part.slice(0, equals).trim().toLowerCase()
    const value = part.slice(equals + 1).trim()
    if (name === 'q') weight = weightOf(value)
    else parameters.set(name, value.replace(/^"([^"\\]*)"$/, '$1'))
  }
  return { mediaType: mediaType.toLowerCase(), parameters, weight: mediaType === '' ? 0 : weight }
}

/** RFC 9110 section 12.4.2. A weight that is none leaves the entry as it would be without one. */
function weightOf(value: string): number {
  return /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/.test(value) ? Number(value) : 1
}

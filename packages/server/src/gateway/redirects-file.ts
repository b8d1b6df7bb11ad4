/** Where a site says what to answer for paths that it does not have. */
export const REDIRECTS_FILE_NAME = '_redirects'
/** The longest `_redirects` file that is read. */
export const MAX_REDIRECTS_BYTES = 65_536

/** Answers that lead elsewhere. */
const REDIRECT_STATUSES = [301, 302, 303, 307, 308] as const
/** Answers with a page of the site itself. */
const PAGE_STATUSES = [200, 404, 410, 451] as const
const DEFAULT_STATUS = 301
/** Schemes that a rule may lead to. */
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ipfs:', 'ipns:'])
/** What the rest of a path is called that an asterisk takes. */
const SPLAT = 'splat'
const SHOWN_CHARACTERS = 100

export type RedirectStatus = (typeof REDIRECT_STATUSES)[number]
export type PageStatus = (typeof PAGE_STATUSES)[number]

/** A name of a path that has to be there, or one that may be any and is known by `placeholder`. */
type Segment = { readonly literal: string } | { readonly placeholder: string }

/** One line of a `_redirects` file. */
export interface RedirectRule {
  readonly segments: readonly Segment[]
  /** What the name begins with that an asterisk follows, most often nothing; undefined for a rule that does not end in one. */
  readonly splatPrefix: string | undefined
  /** As written. */
  readonly to: string
  readonly status: RedirectStatus | PageStatus
}

/** What a rule says of one path. */
export interface RedirectMatch {
  /** The path or URL of the rule with its placeholders filled in, each percent-encoded. */
  readonly to: string
  readonly status: RedirectStatus | PageStatus
}

/** Why a `_redirects` file cannot be used: a sentence without its full stop. */
export class RedirectsFault extends Error {
  override readonly name = 'RedirectsFault'
}

/**
 * Reads a `_redirects` file (IPIP-0002): lines of `from to [status]`, comments and blank lines.
 *
 * @param bytes - UTF-8, of at most `MAX_REDIRECTS_BYTES`.
 * @throws {RedirectsFault} naming the first line that is wrong.
 * @see https://specs.ipfs.tech/http-gateways/web-redirects-file/#file-format
 * @example
 * parseRedirects(Buffer.from('/blog/* /posts/:splat 302'))
 */
export function parseRedirects(bytes: Uint8Array): readonly RedirectRule[] {
  checkRedirectsSize(bytes.length)
  const rules: RedirectRule[] = []
  for (const [index, line] of textOf(bytes).split('\n').entries()) {
    const fields = line.split(/[ \t\r]+/).filter((field) => field !== '')
    if (fields.length === 0 || fields[0]?.startsWith('#')) continue
    try {
      rules.push(parseRule(fields))
    } catch (error) {
      if (error instanceof RedirectsFault) throw new RedirectsFault(`line ${index + 1}: ${error.message}`)
      throw error
    }
  }
  return rules
}

/** @throws {RedirectsFault} for a file that is too big. */
export function checkRedirectsSize(sizeBytes: number): void {
  if (sizeBytes <= MAX_REDIRECTS_BYTES) return
  throw new RedirectsFault(`redirects file size cannot exceed ${MAX_REDIRECTS_BYTES} bytes, and it has ${sizeBytes}`)
}

/**
 * The first rule that takes a path, with its placeholders filled in; undefined when none does. A slash at the end of either makes no difference.
 *
 * The time is that of one comparison a rule, whatever the path.
 *
 * @param names - of the path that does not exist, decoded.
 * @example
 * matchRedirect(parseRedirects(Buffer.from('/posts/:year/:slug /articles/:slug?y=:year')), ['posts', '2026', 'hi'])
 * // { to: '/articles/hi?y=2026', status: 301 }
 */
export function matchRedirect(rules: readonly RedirectRule[], names: readonly string[]): RedirectMatch | undefined {
  for (const { segments, splatPrefix, to, status } of rules) {
    if (!takes(segments, splatPrefix, names)) continue
    const values = new Map<string, string>()
    for (const [index, segment] of segments.entries()) {
      if ('placeholder' in segment) values.set(segment.placeholder, encodeURIComponent(names[index] ?? ''))
    }
    if (splatPrefix !== undefined) {
      const [first = '', ...rest] = names.slice(segments.length)
      // Two slashes at the beginning of an address would lead to another host.
      const taken = [first.slice(splatPrefix.length), ...rest].filter((name) => name !== '')
      values.set(SPLAT, taken.map(encodeURIComponent).join('/'))
    }
    return { to: filledIn(to, values), status }
  }
  return undefined
}

/** True for a status that answers a page of the site, and leads nowhere else. */
export function isPageStatus(status: RedirectStatus | PageStatus): status is PageStatus {
  return PAGE_STATUSES.some((one) => one === status)
}

/**
 * The `Location` of a redirect, which keeps the query that was sent: its parameters replace those of the rule that have the same name.
 *
 * @param query - as sent, without its question mark; empty for none.
 * @see https://specs.ipfs.tech/http-gateways/web-redirects-file/#query-parameters
 */
export function withSentQuery(to: string, query: string): string {
  if (query === '') return to
  const [address = '', ...fragments] = to.split('#')
  const fragment = fragments.length === 0 ? '' : `#${fragments.join('#')}`
  const mark = address.indexOf('?')
  if (mark === -1) return `${address}?${query}${fragment}`
  const sent = new Set(new URLSearchParams(query).keys())
  const own = address
    .slice(mark + 1)
    .split('&')
    .filter((pair) => pair !== '' && ![...new URLSearchParams(pair).keys()].some((name) => sent.has(name)))
  return `${address.slice(0, mark)}?${[...own, query].join('&')}${fragment}`
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new RedirectsFault('the file is not UTF-8')
  }
}

function parseRule([from = '', to, statusText, ...rest]: readonly string[]): RedirectRule {
  if (to === undefined || rest.length > 0) throw new RedirectsFault('a rule has the form "from to [status]"')
  const status = statusText === undefined ? DEFAULT_STATUS : parseStatus(statusText)
  return { ...parseFrom(from), to: checkTo(to, status), status }
}

function parseStatus(text: string): RedirectRule['status'] {
  const status = [...REDIRECT_STATUSES, ...PAGE_STATUSES].find((known) => String(known) === text)
  if (status === undefined) throw new RedirectsFault(`the status ${quoted(text)} is not supported`)
  return status
}

function parseFrom(from: string): Pick<RedirectRule, 'segments' | 'splatPrefix'> {
  if (!from.startsWith('/')) throw new RedirectsFault(`the path ${quoted(from)} does not begin with a slash`)
  const written = from.split('/').filter((name) => name !== '')
  const last = from.endsWith('*') ? written.pop() : undefined
  const splatPrefix = last === undefined ? undefined : decoded(last.slice(0, -1))
  if (written.some((name) => name.includes('*')) || splatPrefix?.includes('*')) {
    throw new RedirectsFault(`the path ${quoted(from)} has an asterisk that is not its last character`)
  }
  const seen = new Set<string>(splatPrefix === undefined ? [] : [SPLAT])
  const segments = written.map((name): Segment => {
    if (!/^:./.test(name)) return { literal: decoded(name) }
    const placeholder = name.slice(1)
    if (seen.has(placeholder))
      throw new RedirectsFault(`the path ${quoted(from)} has the placeholder ${quoted(name)} twice`)
    seen.add(placeholder)
    return { placeholder }
  })
  return { segments, splatPrefix }
}

function checkTo(to: string, status: RedirectRule['status']): string {
  if (to.startsWith('/')) return to
  const isUrl = URL.canParse(to) && SCHEMES.has(new URL(to).protocol)
  if (isUrl && !isPageStatus(status)) return to
  throw new RedirectsFault(
    isUrl
      ? `the status ${status} needs a path of the site, not ${quoted(to)}`
      : `${quoted(to)} is neither a path that begins with a slash nor an http, https, ipfs or ipns URL`,
  )
}

function takes(segments: readonly Segment[], splatPrefix: string | undefined, names: readonly string[]): boolean {
  if (splatPrefix === undefined ? names.length !== segments.length : names.length < segments.length) return false
  for (let index = 0; index < segments.length; index += 1) {
    const segment = segments[index]
    if (segment !== undefined && 'literal' in segment && segment.literal !== names[index]) return false
  }
  return splatPrefix === undefined || splatPrefix === '' || names[segments.length]?.startsWith(splatPrefix) === true
}

function filledIn(to: string, values: ReadonlyMap<string, string>): string {
  if (values.size === 0) return to
  // Of two names, one of which begins with the other, the longer one is meant.
  const names = [...values.keys()].sort((one, other) => other.length - one.length)
  const pattern = new RegExp(`:(${names.map((name) => name.replace(/[^\w]/g, '\\$&')).join('|')})`, 'g')
  return to.replace(pattern, (_, name: string) => values.get(name) ?? '')
}

/** As names of a request are compared; what is no percent-encoding means itself. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch (error) {
    if (error instanceof URIError) return name
    throw error
  }
}

function quoted(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text)
}

import type { LadeError } from '@lade/core/errors'

/** A body of which the digest is known. */
export interface DigestedBody {
  readonly sizeBytes: number
  /** 64 hex digits; undefined where nobody has hashed it. */
  readonly sha256: string | undefined
}

/** One attempt at a request, as it is about to be sent. */
export interface Attempt {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** A text is sent as UTF-8. */
  readonly body: string | DigestedBody | undefined
  readonly signal: AbortSignal | undefined
}

/** What shows whose attempt it is. */
export interface Proof {
  readonly headers: Readonly<Record<string, string>>
  /**
   * What a refusal says of this proof, where another one may do: `unread` when nothing but the proof was looked at,
   * `repeated` when the same attempt has come through once before. Undefined for what another proof does not help against.
   */
  refusedBy(error: LadeError): 'unread' | 'repeated' | undefined
}

/** How a caller shows who it is. */
export interface Credentials {
  readonly caller: 'token' | 'wallet' | 'session'
  /** True when bodies have to be digested before they are sent. */
  readonly coversBodies: boolean
  /**
   * Makes the proof for one attempt, and no other.
   *
   * @throws the reason of the attempt's signal; whatever a wallet ends by, such as its user's no.
   */
  prove(attempt: Attempt): Promise<Proof>
}

/** The token with every request. */
export function bearer(token: string): Credentials {
  const proof: Proof = { headers: { authorization: `Bearer ${token}` }, refusedBy: () => undefined }
  return { caller: 'token', coversBodies: false, prove: async () => proof }
}

/** The cookie of the browser's session, which comes along by itself. */
export function browserSession(): Credentials {
  const proof: Proof = { headers: {}, refusedBy: () => undefined }
  return { caller: 'session', coversBodies: false, prove: async () => proof }
}

import type { Sha256 } from '@lade/core/dag/import'
import { encodeBase64 } from '../base64.ts'
import type { Attempt, DigestedBody } from '../http/credentials.ts'
import { bytesOfHex } from './hex.ts'
import { signatureBase } from './signature-base.ts'
import type { WalletAccount } from './wallet-options.ts'

/** The label that ERC-8128 recommends. */
const LABEL = 'eth'
/** How long a signature is good. Services take up to 300 seconds. */
export const SIGNATURE_TTL_SECONDS = 60

export interface SignRequestOptions {
  readonly account: WalletAccount
  readonly chainId: number
  /** Seconds since 1970. */
  readonly created: number
  /** Never the same twice. */
  readonly nonce: string
  /** Digests what is sent as text. */
  readonly sha256: Sha256
}

/**
 * Signs one attempt by ERC-8128.
 *
 * @returns the headers to send besides: `Signature-Input`, `Signature` and, with a body, `Content-Digest` (RFC 9530).
 * @throws {TypeError} for a body that nobody has digested, and for a signature that is no hex.
 * @see https://github.com/ethereum/ERCs/pull/1478 - a draft; `Content-Digest` is base64 here, as RFC 9530 has it.
 */
export async function signRequest(attempt: Attempt, options: SignRequestOptions): Promise<Record<string, string>> {
  const { account, chainId, created, nonce, sha256 } = options
  const body = digestOf(attempt.body, sha256)
  const digest = body && `sha-256=:${encodeBase64(body.sha256)}:`
  const base = signatureBase(
    {
      method: attempt.method,
      url: new URL(attempt.url),
      content:
        body && digest !== undefined
          ? { digest, lengthBytes: body.sizeBytes, type: attempt.headers['content-type'] ?? '' }
          : undefined,
    },
    {
      created,
      expires: created + SIGNATURE_TTL_SECONDS,
      nonce,
      keyId: `erc8128:${chainId}:${account.address.toLowerCase()}`,
    },
  )
  const signature = bytesOfHex(await account.signMessage({ message: base.text }))
  return {
    ...(digest !== undefined && { 'content-digest': digest }),
    'signature-input': `${LABEL}=${base.input}`,
    signature: `${LABEL}=:${encodeBase64(signature)}:`,
  }
}

function digestOf(body: string | DigestedBody | undefined, sha256: Sha256) {
  if (body === undefined) return undefined
  if (typeof body === 'string') {
    const bytes = new TextEncoder().encode(body)
    return { sizeBytes: bytes.length, sha256: sha256.of(bytes) }
  }
  if (body.sha256 === undefined) throw new TypeError('the body was not digested, so it cannot be signed')
  return { sizeBytes: body.sizeBytes, sha256: bytesOfHex(body.sha256) }
}

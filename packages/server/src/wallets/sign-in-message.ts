import { isChecksummedAddress } from '@lade/core/wire'
import { z } from 'zod'
import { refused } from './signature-input.ts'
import type { Wallet } from './wallet.ts'

/** What an EIP-4361 message says that matters here. Its statement and its resources may be anything. */
export interface SignInMessage {
  readonly scheme: string | undefined
  readonly domain: string
  readonly wallet: Wallet
  readonly uri: string
  readonly version: string
  readonly nonce: string
  /** Epoch milliseconds, as all times here. */
  readonly issuedAt: number
  readonly expirationTime: number | undefined
  readonly notBefore: number | undefined
}

/** The grammar of EIP-4361, whole: a line that is not in it could tell the wallet's owner something else than it tells us. */
const MESSAGE = new RegExp(
  [
    /^(?:(?<scheme>[a-zA-Z][a-zA-Z0-9+.-]*):\/\/)?(?<domain>[^\s/?#@]+) wants you to sign in with your Ethereum account:\n/,
    /(?<address>0x[0-9a-fA-F]{40})\n\n/,
    /(?:(?<statement>[\x20-\x7e]+)\n)?\n/,
    /URI: (?<uri>[\x21-\x7e]+)\n/,
    /Version: (?<version>[0-9]+)\n/,
    /Chain ID: (?<chainId>[1-9][0-9]{0,15})\n/,
    /Nonce: (?<nonce>[a-zA-Z0-9]{8,128})\n/,
    /Issued At: (?<issuedAt>[0-9TZ:.+-]+)/,
    /(?:\nExpiration Time: (?<expirationTime>[0-9TZ:.+-]+))?/,
    /(?:\nNot Before: (?<notBefore>[0-9TZ:.+-]+))?/,
    /(?:\nRequest ID: (?<requestId>[\x21-\x7e]*))?/,
    /(?:\nResources:(?<resources>(?:\n- [\x21-\x7e]+)*))?$/,
  ]
    .map((part) => part.source)
    .join(''),
)

/** RFC 3339, in UTC or with an offset. */
const TimeSchema = z.iso.datetime({ offset: true })

/**
 * Reads the message that a wallet signs to sign in (EIP-4361, Sign-In with Ethereum).
 *
 * @throws {LadeError} `invalid_signature` for a text that is none, or whose address is not in the mixed case of EIP-55.
 */
export function parseSignInMessage(text: string): SignInMessage {
  const fields = MESSAGE.exec(text)?.groups
  if (fields === undefined) throw refused('The message is not a valid EIP-4361 message.')
  const { scheme, domain = '', address = '', uri = '', version = '', chainId, nonce = '' } = fields
  if (!isChecksummedAddress(address)) throw refused('The address in the message does not have EIP-55 mixed case.')
  return {
    scheme,
    domain,
    wallet: { chainId: Number(chainId), address },
    uri,
    version,
    nonce,
    issuedAt: timeOf(fields.issuedAt ?? ''),
    expirationTime: fields.expirationTime === undefined ? undefined : timeOf(fields.expirationTime),
    notBefore: fields.notBefore === undefined ? undefined : timeOf(fields.notBefore),
  }
}

function timeOf(text: string): number {
  const epochMs = TimeSchema.safeParse(text).success ? Date.parse(text) : Number.NaN
  if (Number.isNaN(epochMs)) throw refused('A time in the message is not RFC 3339.')
  return epochMs
}

import { checksumAddress } from '@lade/core/wire/address'

// Loaded when somebody signs in: hashing the case of an address takes as much code as all else here.

/** One sign-in, as EIP-4361 names its parts. */
export interface SiweMessage {
  /** The host of the service, and its port where that is not the default one. */
  readonly domain: string
  readonly address: string
  readonly statement: string
  /** The origin of the service. */
  readonly uri: string
  readonly chainId: number
  readonly nonce: string
  readonly issuedAt: Date
}

/** The text that a wallet shows and signs. @see https://eips.ethereum.org/EIPS/eip-4361#message-format */
export function siweText({ domain, address, statement, uri, chainId, nonce, issuedAt }: SiweMessage): string {
  return [
    `${domain} wants you to sign in with your Ethereum account:`,
    checksumAddress(address),
    '',
    statement,
    '',
    `URI: ${uri}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt.toISOString()}`,
  ].join('\n')
}

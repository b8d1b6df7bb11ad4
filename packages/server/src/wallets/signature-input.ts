import { LadeError } from '@lade/core/errors'
import { checksumAddress, isZeroAddress } from '@lade/core/wire'
import { type BareItem, type InnerList, type Item, isInnerList, serializeInnerList } from 'structured-headers'
import { parseStrictDictionary } from './structured-dictionary.ts'
import type { Wallet } from './wallet.ts'

// ERC-8128 is a draft (pull request 1478 of ethereum/ERCs, read in August 2026) and may change: what it says of the form of
// a signature is here and nowhere else.

/** The label that the draft recommends. Others are taken when their key id is a wallet's. */
const LABEL = 'eth'
const SCHEME = 'erc8128:'
const KEY_ID = /^erc8128:([1-9]\d{0,15}):(0x[0-9a-f]{40})$/

/** What a signature may say about itself. `alg` is not among it: what is verified follows from the key id. */
const KNOWN_PARAMETERS = ['created', 'expires', 'nonce', 'keyid', 'tag']
const MAXIMUM_NONCE_CHARACTERS = 128
const MAXIMUM_COMPONENTS = 64

/** The signature of a wallet over one request, each part of its form checked and nothing verified. */
export interface WalletSignature {
  /** Who claims to have signed. */
  readonly wallet: Wallet
  /** What is covered, in order; no name twice. */
  readonly components: readonly string[]
  /** Epoch seconds. */
  readonly created: number
  readonly expires: number
  readonly nonce: string
  /** The last line of the signature base: what is covered, and the parameters. */
  readonly signatureParams: string
  readonly signature: Uint8Array
}

/**
 * Finds the signature of a wallet among those of a request (RFC 9421, section 4; ERC-8128).
 *
 * @param fields - `Signature-Input` and `Signature`, the lines of each joined by commas.
 * @returns undefined when nothing there is of a wallet; signatures of others, such as of a proxy, are let be.
 * @throws {LadeError} `invalid_signature` when there are several, or when one has not the form that is taken here.
 */
export function readWalletSignature(fields: {
  readonly signatureInput: string | undefined
  readonly signature: string | undefined
}): WalletSignature | undefined {
  if (fields.signatureInput === undefined) return undefined
  const inputs = parseStrictDictionary(fields.signatureInput)
  if (inputs === undefined) throw refused('Signature-Input is not a valid dictionary with unique members.')
  const ofWallets = [...inputs].filter(([label, member]) => isOfWallet(label, member))
  const [found] = ofWallets
  if (found === undefined) return undefined
  if (ofWallets.length > 1) throw refused('The request has two wallet signatures; only one is allowed.')
  const [label, member] = found
  if (!isInnerList(member)) throw refused(`The member ${label} of Signature-Input has no components.`)
  const [, parameters] = member
  for (const name of parameters.keys()) {
    if (!KNOWN_PARAMETERS.includes(name)) throw refused(`The parameter ${name} is not allowed.`)
  }
  return {
    wallet: walletOf(parameters.get('keyid')),
    components: componentsOf(member),
    created: secondsOf('created', parameters.get('created')),
    expires: secondsOf('expires', parameters.get('expires')),
    nonce: nonceOf(parameters.get('nonce')),
    signatureParams: serializeInnerList(member),
    signature: signatureOf(fields.signature, label),
  }
}

function isOfWallet(label: string, [, parameters]: Item | InnerList): boolean {
  const keyId = parameters.get('keyid')
  return label === LABEL || (typeof keyId === 'string' && keyId.startsWith(SCHEME))
}

function walletOf(keyId: BareItem | undefined): Wallet {
  const [, chainId, address] = (typeof keyId === 'string' && KEY_ID.exec(keyId)) || []
  if (chainId === undefined || address === undefined) {
    throw refused('keyid must be "erc8128:", the chain id, a colon, and the address in lower case.')
  }
  if (isZeroAddress(address)) throw refused('The zero address cannot sign.')
  return { chainId: Number(chainId), address: checksumAddress(address) }
}

function componentsOf([items]: InnerList): string[] {
  if (items.length > MAXIMUM_COMPONENTS)
    throw refused(`The signature covers more than ${MAXIMUM_COMPONENTS} components.`)
  const names = items.map(([name, parameters]) => {
    if (typeof name !== 'string') throw refused('The name of a component must be a string.')
    if (parameters.size > 0) throw refused(`The component ${name} has a parameter; none are allowed.`)
    return name
  })
  if (new Set(names).size !== names.length) throw refused('The signature covers a component twice.')
  return names
}

function secondsOf(name: string, value: BareItem | undefined): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw refused(`${name} is missing or not a time in whole seconds.`)
  }
  return value
}

function nonceOf(value: BareItem | undefined): string {
  if (typeof value !== 'string' || value.length === 0 || value.length > MAXIMUM_NONCE_CHARACTERS) {
    throw refused(`nonce is missing or not a string of 1 to ${MAXIMUM_NONCE_CHARACTERS} characters.`)
  }
  return value
}

function signatureOf(field: string | undefined, label: string): Uint8Array {
  const [value] = parseStrictDictionary(field ?? '')?.get(label) ?? []
  if (!(value instanceof ArrayBuffer) || value.byteLength === 0) {
    throw refused(`Signature has no bytes for the label ${label}, or repeats a member.`)
  }
  return new Uint8Array(value)
}

/** @param reason - a whole sentence, shown to the caller. */
export function refused(reason: string): LadeError<'invalid_signature'> {
  return new LadeError('invalid_signature', { reason })
}

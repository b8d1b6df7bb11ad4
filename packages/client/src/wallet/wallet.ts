import type { AccountWallet, Eip1193Provider, SignInOptions, SignInWallet } from './wallet-options.ts'

const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** True for an Ethereum address in hex, in whatever case. */
export function isAddress(value: unknown): value is `0x${string}` {
  return typeof value === 'string' && ADDRESS.test(value)
}

/**
 * A wallet that somebody sits at, such as the extension of a browser.
 *
 * It is asked to sign in when the first request needs it, and again when the sign-in, which is good for 15 minutes, is about to
 * end: one question, however many requests wait for it. Whose account it is stays as it was at the first sign-in; for another
 * account make another client.
 *
 * @param provider - as EIP-1193 has it: `window.ethereum`, or what a wallet connector hands out.
 * @throws {TypeError} where there is no provider, as in a browser without a wallet, and for options that are none.
 * @see https://eips.ethereum.org/EIPS/eip-4361 - what is signed.
 *
 * @example
 * const client = createLadeClient({ url: 'https://lade.example', wallet: walletOf(window.ethereum) })
 */
export function walletOf(provider: Eip1193Provider, options: SignInOptions = {}): SignInWallet {
  if (typeof provider?.request !== 'function') {
    throw new TypeError('The wallet must be an EIP-1193 provider: an object with a function named request')
  }
  const { address, chainId, statement } = options
  if (address !== undefined && !isAddress(address)) throw new TypeError(`${address} is not an address`)
  checkChainId(chainId)
  if (statement !== undefined && /[^\x20-\x7e]/.test(statement)) {
    throw new TypeError('statement must be one line of ASCII')
  }
  return { ...options, provider }
}

/** The account as it is. @throws {TypeError} for what cannot sign. */
export function checkedAccount(wallet: AccountWallet): AccountWallet {
  const { account, chainId } = wallet
  if (!isAddress(account?.address) || typeof account.signMessage !== 'function') {
    throw new TypeError('account must have an address and signMessage(), like a viem account')
  }
  checkChainId(chainId)
  return wallet
}

/** @throws {TypeError} for what is no EIP-155 chain id. */
function checkChainId(chainId: number | undefined): void {
  if (chainId !== undefined && !(Number.isSafeInteger(chainId) && chainId > 0)) {
    throw new TypeError(`${chainId} is not a valid chain id`)
  }
}

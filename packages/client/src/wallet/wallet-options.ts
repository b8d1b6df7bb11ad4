/** How a wallet shows who it is: request by request, or by signing in. */
export type Wallet = AccountWallet | SignInWallet

/**
 * An account whose key is at hand: each request is signed by ERC-8128, for a minute and with a nonce of its own.
 *
 * @see docs/use/wallets.md
 *
 * @example
 * import { privateKeyToAccount } from 'viem/accounts'
 *
 * const client = createLadeClient({ url, wallet: { account: privateKeyToAccount(key) } })
 */
export interface AccountWallet {
  readonly account: WalletAccount
  /** The EIP-155 id of the chain that the account is of. @default the one on which the service looks up wallets */
  readonly chainId?: number | undefined
}

/** What signing takes of an account; viem's accounts have it, those of contracts included. */
export interface WalletAccount {
  /** In hex, in whatever case. */
  readonly address: string
  /** Signs a text as `personal_sign` does (EIP-191), and answers the signature in hex. */
  signMessage(options: { readonly message: string }): Promise<string>
}

/** A wallet that somebody sits at, made by `walletOf`. */
export interface SignInWallet extends SignInOptions {
  readonly provider: Eip1193Provider
}

export interface SignInOptions {
  /** The account to sign in with. @default the first one that the wallet offers */
  readonly address?: string | undefined
  /** The EIP-155 id of the chain that the sign-in is for. @default the one on which the service looks up wallets */
  readonly chainId?: number | undefined
  /** What the wallet shows besides, one line of ASCII. @default 'Sign in to upload files.' */
  readonly statement?: string | undefined
}

/** What a wallet has signed to sign in: what `POST /api/session` and `POST /api/auth/wallet/verify` take. */
export interface SignedSignIn {
  readonly address: string
  /** EIP-4361. */
  readonly message: string
  /** In hex. */
  readonly signature: string
}

/**
 * What is used of a wallet in a browser: `eth_requestAccounts` and `personal_sign`.
 *
 * @see https://eips.ethereum.org/EIPS/eip-1193
 */
export interface Eip1193Provider {
  request(call: { readonly method: string; readonly params?: unknown }): Promise<unknown>
}

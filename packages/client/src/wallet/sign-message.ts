import type { WalletNonceResult } from '@lade/core/wire'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { Http } from '../http/http.ts'
import { isAddress } from './wallet.ts'
import type { Eip1193Provider, SignedSignIn, SignInWallet } from './wallet-options.ts'

const DEFAULT_STATEMENT = 'Sign in to upload files.'

/**
 * Has a wallet sign the EIP-4361 message of one sign-in, with a nonce of the service.
 *
 * @param chain - the chain that the sign-in is for.
 */
export async function signMessage(
  { provider, address, statement = DEFAULT_STATEMENT }: SignInWallet,
  chain: () => Promise<number>,
  http: Http,
): Promise<SignedSignIn> {
  // First what needs nobody, so that nobody is asked in vain.
  const chainId = await chain()
  const signer = address ?? (await firstAccount(provider))
  const { nonce } = await http.json<WalletNonceResult>({ method: 'POST', path: '/api/auth/wallet/nonce' })
  const { siweText } = await import('./siwe-message.ts')
  const { host, origin } = new URL(http.baseUrl)
  const message = siweText({
    domain: host,
    address: signer,
    statement,
    uri: origin,
    chainId,
    nonce,
    issuedAt: new Date(),
  })
  const signature = await provider.request({ method: 'personal_sign', params: [hexOfText(message), signer] })
  return { address: signer, message, signature: String(signature) }
}

async function firstAccount(provider: Eip1193Provider): Promise<string> {
  const accounts = await provider.request({ method: 'eth_requestAccounts' })
  const first: unknown = Array.isArray(accounts) ? accounts[0] : undefined
  if (!isAddress(first)) throw new TypeError('The wallet returned no account')
  return first
}

function hexOfText(text: string): string {
  return `0x${bytesToHex(new TextEncoder().encode(text))}`
}

import { randomBytes } from 'node:crypto'
import { verifyMessage } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { parseSiweMessage } from 'viem/siwe'
import type { Eip1193Provider } from '../wallet/wallet-options.ts'
import { type FakeService, refuse } from './fake-service.ts'

/** The key of the first account that Anvil hands out. Everybody has it. */
export const ANVIL_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

/** A wallet in a browser, and how often somebody was asked. */
export interface FakeWallet {
  readonly provider: Eip1193Provider
  /** What was shown to be signed. */
  readonly shown: string[]
  /** Lets the next question end by the user's no. */
  sayNo(): void
  /** Lets questions wait until the result is called. */
  hold(): () => void
}

/** What providers end by when the user says no (EIP-1193). */
export const USER_SAID_NO = { code: 4001, message: 'User rejected the request.' }

export function fakeWallet(account: PrivateKeyAccount = privateKeyToAccount(ANVIL_KEY)): FakeWallet {
  const shown: string[] = []
  let saysNo = false
  let held: Promise<void> | undefined
  return {
    shown,
    sayNo() {
      saysNo = true
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
    provider: {
      async request({ method, params }) {
        // In lower case, as wallets answer it.
        if (method === 'eth_requestAccounts') return [account.address.toLowerCase()]
        if (method !== 'personal_sign') throw new Error(`nobody asks for ${method}`)
        const [text] = params as [string, string]
        const message = Buffer.from(text.slice(2), 'hex').toString('utf8')
        shown.push(message)
        await held
        const isRefused = saysNo
        saysNo = false
        if (isRefused) throw USER_SAID_NO
        return account.signMessage({ message })
      },
    },
  }
}

/** Sign-ins of a fake service, checked by viem. */
export interface FakeSignIn {
  /** What was given, oldest first. */
  readonly tokens: string[]
}

/** Lets a fake service give tokens to wallets. @param ttlSeconds - of each token, one after the other; then 900. */
export function serveSignIn(service: FakeService, ttlSeconds: number[] = []): FakeSignIn {
  const nonces = new Set<string>()
  const tokens: string[] = []
  service.failAlways('POST /api/auth/wallet/nonce', (request, response) => {
    request.resume()
    const nonce = randomBytes(16).toString('hex')
    nonces.add(nonce)
    response.end(JSON.stringify({ nonce, expiresIn: 300 }))
  })
  service.failAlways('POST /api/auth/wallet/verify', async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { message, signature } = JSON.parse(Buffer.concat(chunks).toString())
    const { address, nonce = '', domain, uri, chainId, version, issuedAt } = parseSiweMessage(message)
    const { host } = new URL(service.url)
    const isSound =
      domain === host && uri === service.url && chainId === 8453 && version === '1' && issuedAt !== undefined
    const isSigned = address !== undefined && (await verifyMessage({ address, message, signature }))
    if (!nonces.delete(nonce) || !isSound || !isSigned)
      return refuse(401, 'invalid_signature', { reason: 'No.' })(request, response)
    const token = `pk_live_wallet${tokens.length + 1}`
    tokens.push(token)
    const expiresAt = new Date(Date.now() + (ttlSeconds.shift() ?? 900) * 1000).toISOString()
    response.end(JSON.stringify({ token, address, expiresAt }))
  })
  return { tokens }
}

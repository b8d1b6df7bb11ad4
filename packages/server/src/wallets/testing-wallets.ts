import { createHash, randomBytes } from 'node:crypto'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { NonceRecords } from '../records/record-store.ts'

/** The first two accounts of anvil, which everybody has the keys of. */
export const ALICE = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
export const BOB = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')

export interface SigningOptions {
  readonly account?: PrivateKeyAccount
  readonly chainId?: number
  readonly method?: string
  /** Path and query. */
  readonly target: string
  /** Scheme, authority, and perhaps a path. */
  readonly publicUrl: string
  readonly body?: Uint8Array
  /** Fields to cover besides what has to be. */
  readonly fields?: Record<string, string>
  /** Epoch seconds. */
  readonly created: number
  readonly ttlSeconds?: number
  readonly nonce?: string
  /** What is covered, in place of what has to be. */
  readonly components?: readonly string[]
  /** The parameters as text, in place of what follows from the others. */
  readonly parameters?: string
  readonly label?: string
}

/** The parameters of a signature, in the order of the draft's example. */
export function parametersOf(options: SigningOptions): string {
  const { account = ALICE, chainId = 31_337, created, ttlSeconds = 60 } = options
  const nonce = options.nonce ?? randomBytes(16).toString('base64url')
  const keyId = `erc8128:${chainId}:${account.address.toLowerCase()}`
  return `;created=${created};expires=${created + ttlSeconds};nonce="${nonce}";keyid="${keyId}"`
}

/** What is covered at the least, as text that knows nothing of the code that verifies. */
export function componentsOf({ target, body, fields = {} }: SigningOptions): string[] {
  const query = target.includes('?') ? ['@query'] : []
  const digest = body === undefined ? [] : ['content-digest']
  return ['@method', '@authority', '@path', ...query, ...digest, ...Object.keys(fields)]
}

export function contentDigest(body: Uint8Array): string {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`
}

/** The signature base, put together by hand. */
export function baseText(options: SigningOptions, components: readonly string[], parameters: string): string {
  const { target, publicUrl, body, fields = {}, method = 'GET' } = options
  const url = new URL(publicUrl.replace(/\/$/, '') + target)
  const values: Record<string, string> = {
    '@method': method,
    '@authority': url.host,
    '@path': url.pathname,
    '@query': url.search === '' ? '?' : url.search,
    '@target-uri': url.href,
    ...(body === undefined ? {} : { 'content-digest': contentDigest(body) }),
    ...fields,
  }
  const covered = components.map((name) => `"${name}"`).join(' ')
  const lines = components.map((name) => `"${name}": ${values[name] ?? ''}`)
  return [...lines, `"@signature-params": (${covered})${parameters}`].join('\n')
}

/** The headers of a request that `account` signed. */
export async function signedHeaders(options: SigningOptions): Promise<Record<string, string>> {
  const { account = ALICE, body, fields = {}, label = 'eth' } = options
  const components = options.components ?? componentsOf(options)
  const parameters = options.parameters ?? parametersOf(options)
  const base = baseText(options, components, parameters)
  const signature = await account.signMessage({ message: base })
  const covered = components.map((name) => `"${name}"`).join(' ')
  return {
    ...fields,
    ...(body === undefined ? {} : { 'content-digest': contentDigest(body) }),
    'signature-input': `${label}=(${covered})${parameters}`,
    signature: `${label}=:${Buffer.from(signature.slice(2), 'hex').toString('base64')}:`,
  }
}

/** Name and value, alternating, as Node hands them over. */
export function rawHeadersOf(headers: Record<string, string>): string[] {
  return Object.entries(headers).flat()
}

/** Nonces in memory. */
export function openTestNonces(): NonceRecords & { readonly used: ReadonlySet<string> } {
  const used = new Set<string>()
  const issued = new Map<string, number>()
  return {
    used,
    isUsed: async ({ account, nonce }) => used.has(`${account} ${nonce}`),
    isIssued: async ({ nonce, now }) => (issued.get(nonce) ?? 0) > now,
    async use({ account, nonce }) {
      const isFirst = !used.has(`${account} ${nonce}`)
      used.add(`${account} ${nonce}`)
      return isFirst
    },
    async issue({ nonce, until }) {
      issued.set(nonce, until)
    },
    async redeem({ nonce, now }) {
      const until = issued.get(nonce)
      issued.delete(nonce)
      return until !== undefined && until > now
    },
    expire: async () => 0,
  }
}

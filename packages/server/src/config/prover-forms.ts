import { BlockList, isIP } from 'node:net'
import { z } from 'zod'
import { addressForm } from './chain-forms.ts'
import { isHostName, type SettingForm } from './setting-forms.ts'

/** A prover that is reached over HTTP. */
export interface RemoteProverSetting {
  /** `reference`: `lade prover`. `curio`: a storage provider that is sent the bytes. `curio-pull`: one that fetches them. */
  readonly kind: 'reference' | 'curio' | 'curio-pull'
  /** Without trailing slash, as `URL.origin` writes it. */
  readonly origin: string
  /** In the mixed case of EIP-55; always there for Curio, where it is the account that is paid. */
  readonly account?: `0x${string}`
  /** In the mixed case of EIP-55. Absent: FilecoinWarmStorageService of the chain. */
  readonly recordKeeper?: `0x${string}`
  /** The chain that Curio proves to. Absent: 314, Filecoin's mainnet. */
  readonly chainId?: number
}

/** One of the provers. */
export type ProverSetting = { readonly kind: 'local' } | RemoteProverSetting

/** More than anybody keeps copies at, few enough to be asked one after another. */
const MAX_PROVERS = 32
const KINDS = { '': 'reference', 'curio+': 'curio', 'curio-pull+': 'curio-pull' } as const
const REMOTE = /^(|curio\+|curio-pull\+)(https?:\/\/[^\s/?#@\\]+)\/?(?:\?([^\s?#]*))?(?:#([^\s#]*))?$/
/** Names that never lead outside: of one label, or under a top level that is nobody's. */
const PRIVATE_NAME = /^(?:[^.]+|.+\.(?:internal|local|lan|home\.arpa|localhost|test))$/i

/** Addresses of this machine and of networks that are somebody's own. @see RFC 1918, RFC 4193 */
const PRIVATE = new BlockList()
PRIVATE.addSubnet('127.0.0.0', 8, 'ipv4')
PRIVATE.addSubnet('10.0.0.0', 8, 'ipv4')
PRIVATE.addSubnet('172.16.0.0', 12, 'ipv4')
PRIVATE.addSubnet('192.168.0.0', 16, 'ipv4')
PRIVATE.addAddress('::1', 'ipv6')
PRIVATE.addSubnet('fc00::', 7, 'ipv6')

/**
 * Provers with commas between, each once.
 *
 * Plain http is for this machine and private networks: everywhere else whoever carries the bytes could read and change them.
 *
 * @example
 * proversForm.schema.parse('local,https://prover.example') // [{ kind: 'local' }, { kind: 'reference', origin: 'https://prover.example' }]
 */
export const proversForm: SettingForm<readonly ProverSetting[]> = {
  accepts: `up to ${MAX_PROVERS} different provers, separated by commas. Each prover is one of: local (Lade itself); https://host[:port][#0xACCOUNT] (a lade prover); curio+https://host[:port][?recordKeeper=0xCONTRACT][&chainId=NUMBER]#0xACCOUNT (Curio, Lade sends the files); or the same with curio-pull+https:// (Curio downloads the files). http is allowed only for this machine and private networks`,
  schema: z
    .string()
    .transform((text, context) => {
      const provers = text.split(',').map((part) => readProver(part.trim()))
      if (provers.every((prover) => prover !== undefined)) return provers
      context.addIssue({ code: 'custom', message: 'not a prover' })
      return z.NEVER
    })
    .refine((provers) => provers.length <= MAX_PROVERS)
    .refine((provers) => new Set(provers.map(nameOf)).size === provers.length),
}

function readProver(text: string): ProverSetting | undefined {
  if (text === 'local') return { kind: 'local' }
  const [, prefix, address = '', query, fragment] = REMOTE.exec(text) ?? []
  if (prefix === undefined || !(prefix in KINDS)) return undefined
  const kind = KINDS[prefix as keyof typeof KINDS]
  const url = URL.parse(address)
  if (url === null || !isHost(url) || (url.protocol === 'http:' && !isPrivate(url))) return undefined
  const account = fragment === undefined ? undefined : addressOf(fragment)
  const options = readOptions(query)
  if ((fragment !== undefined && account === undefined) || options === undefined) return undefined
  // Who is paid is said by whoever pays; the reference prover records with nobody.
  if (kind === 'reference' ? query !== undefined : account === undefined) return undefined
  return { kind, origin: url.origin, ...(account && { account }), ...options }
}

function readOptions(query: string | undefined): Pick<RemoteProverSetting, 'recordKeeper' | 'chainId'> | undefined {
  const options: { recordKeeper?: `0x${string}`; chainId?: number } = {}
  if (query === undefined) return options
  for (const part of query.split('&')) {
    const [key, value = ''] = part.split('=', 2)
    const recordKeeper = key === 'recordKeeper' ? addressOf(value) : undefined
    const isChain = key === 'chainId' && /^[1-9]\d{0,14}$/.test(value)
    if (recordKeeper !== undefined && options.recordKeeper === undefined) options.recordKeeper = recordKeeper
    else if (isChain && options.chainId === undefined) options.chainId = Number(value)
    else return undefined
  }
  return options
}

function addressOf(text: string): `0x${string}` | undefined {
  return addressForm.schema.safeParse(text).data
}

function isHost({ hostname }: URL): boolean {
  const host = hostOf(hostname)
  return isIP(host) !== 0 || isHostName(host)
}

function isPrivate({ hostname }: URL): boolean {
  const host = hostOf(hostname)
  const family = isIP(host)
  if (family === 0) return PRIVATE_NAME.test(host)
  return PRIVATE.check(host, family === 6 ? 'ipv6' : 'ipv4')
}

function hostOf(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

function nameOf(prover: ProverSetting): string {
  return prover.kind === 'local' ? 'local' : prover.origin
}

import { LadeError } from '@lade/core/errors'
import type { BlockedCallerRecord } from '../records/record-store.ts'
import { NetworkMap, parseNetwork } from './networks.ts'

const USER = 'user:'
const WALLET = /^wallet:\d+:(0x[0-9a-fA-F]{40})$/
const ADDRESS = 'ip:'
/** Anonymous callers of IPv6 share the principal of their /64. */
const SHARED_PREFIX = 64

/** Callers that are refused, as this process knows it. */
export class BlockedCallers {
  readonly #callers = new Map<number, BlockedCallerRecord>()
  readonly #byValue = new Map<string, BlockedCallerRecord>()
  readonly #networks = new NetworkMap<BlockedCallerRecord>()

  /** How many are blocked. */
  get size(): number {
    return this.#callers.size
  }

  /** True while some network is blocked. */
  get hasNetworks(): boolean {
    return this.#networks.size > 0
  }

  /** Takes the changes of the records. */
  apply(changed: readonly BlockedCallerRecord[]): void {
    for (const caller of changed) {
      if (caller.liftedAt === null) this.#callers.set(caller.id, caller)
      else this.#callers.delete(caller.id)
    }
    if (changed.length === 0) return
    this.#byValue.clear()
    this.#networks.clear()
    for (const caller of this.#callers.values()) {
      const network = caller.kind === 'network' ? parseNetwork(caller.value) : undefined
      if (network === undefined) this.#byValue.set(caller.value, caller)
      else this.#networks.set(network, caller)
    }
  }

  /** The refusal of an address. */
  ofAddress(address: string): LadeError<'caller_blocked'> | undefined {
    return refusalOf(this.#networks.find(address))
  }

  /** The refusal of a user, a wallet, or the address that an anonymous caller is charged by. */
  ofPrincipal(principal: string): LadeError<'caller_blocked'> | undefined {
    return refusalOf(this.find(principal))
  }

  /** The block of a principal; undefined for one that is served. */
  find(principal: string): BlockedCallerRecord | undefined {
    if (this.#callers.size === 0) return undefined
    if (principal.startsWith(ADDRESS)) return this.#ofAddressPrincipal(principal.slice(ADDRESS.length))
    return this.#byValue.get(blockedValueOf(principal))
  }

  #ofAddressPrincipal(text: string): BlockedCallerRecord | undefined {
    const [address = '', prefix] = text.split('/')
    return this.#networks.find(address, prefix === undefined ? undefined : SHARED_PREFIX)
  }
}

/** How a principal of a user or a wallet is blocked: a wallet on every chain. */
export function blockedValueOf(principal: string): string {
  const wallet = WALLET.exec(principal)?.[1]
  return wallet === undefined ? principal : walletValue(wallet)
}

/** @param address - of a wallet, in any case. */
export function walletValue(address: string): string {
  return `wallet:${address.toLowerCase()}`
}

/** @param sub - the id of a user. */
export function userValue(sub: string): string {
  return `${USER}${sub}`
}

function refusalOf(caller: BlockedCallerRecord | undefined): LadeError<'caller_blocked'> | undefined {
  return caller && new LadeError('caller_blocked', { caller: caller.kind, reason: caller.reason })
}

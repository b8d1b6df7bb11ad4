import type { Address } from './chain.ts'

/** An account or a contract, with the chain that it is on. */
export interface ChainAccount {
  readonly chainId: number
  readonly address: Address
}

/**
 * The name of an account or a contract that is the same on no other chain (CAIP-10).
 *
 * @example
 * accountIdOf({ chainId: 8453, address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' })
 * // 'eip155:8453:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
 */
export function accountIdOf({ chainId, address }: ChainAccount): string {
  return `${chainNameOf(chainId)}:${address}`
}

/** The name of a chain (CAIP-2), which the names of its accounts begin with. */
export function chainNameOf(chainId: number): string {
  return `eip155:${chainId}`
}

/** What `accountIdOf` wrote; undefined for anything else. */
export function readAccountId(name: string): ChainAccount | undefined {
  const [, chainId, address] = /^eip155:([1-9]\d{0,15}):(0x[0-9a-fA-F]{40})$/.exec(name) ?? []
  return chainId === undefined ? undefined : { chainId: Number(chainId), address: address as Address }
}

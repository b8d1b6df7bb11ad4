import type { Address } from 'viem'
import { Refusal } from './refusal.ts'

/** A token that its issuer freezes accounts of: balances, the allowances of those who have no standing one, and what is frozen. */
export class ModelToken {
  readonly balances = new Map<Address, bigint>()
  readonly frozen = new Set<Address>()
  isPaused = false
  /** What the contract may take from accounts that approve by permits only. */
  readonly allowances = new Map<Address, bigint>()
  readonly market: Address

  constructor(market: Address, accounts: readonly Address[], each: bigint) {
    this.market = market
    for (const account of accounts) this.balances.set(account, each)
    this.balances.set(market, 0n)
  }

  /** @returns undoes what happened since. */
  checkpoint(): () => void {
    const [balances, allowances] = [new Map(this.balances), new Map(this.allowances)]
    return () => {
      for (const [account, amount] of balances) this.balances.set(account, amount)
      for (const [account, amount] of allowances) this.allowances.set(account, amount)
    }
  }

  /** To the contract, by its own call. @throws {Refusal} */
  pull(from: Address, amount: bigint): void {
    const allowance = this.allowances.get(from)
    if (allowance !== undefined) {
      if (allowance < amount) throw new Refusal('token')
      this.allowances.set(from, allowance - amount)
    }
    if (!this.#move(from, this.market, amount)) throw new Refusal('token')
  }

  /** From the contract. @throws {Refusal} */
  push(to: Address, amount: bigint): void {
    if (!this.#move(this.market, to, amount)) throw new Refusal('token')
  }

  tryPush(to: Address, amount: bigint): boolean {
    return this.#move(this.market, to, amount)
  }

  #move(from: Address, to: Address, amount: bigint): boolean {
    const balance = this.balances.get(from) ?? 0n
    if (this.isPaused || this.frozen.has(from) || this.frozen.has(to) || balance < amount) return false
    this.balances.set(from, balance - amount)
    this.balances.set(to, (this.balances.get(to) ?? 0n) + amount)
    return true
  }
}

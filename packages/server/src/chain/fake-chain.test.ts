import { DAY_MS } from '@lade/core/time'
import { describe, expect, it } from 'vitest'
import type { MarketplaceVersion } from './chain.ts'
import { type ChainSubject, describeChain } from './conformance.ts'
import { openFakeChain } from './fake-chain.ts'

let accounts = 0

const subjectOf = (version: MarketplaceVersion): ChainSubject => ({
  async open() {
    const contracts = [{ address: '0x5FbDB2315678afecb367f032d93F642f64180aa3', version }] as const
    const chain = openFakeChain({ contracts, needsApproval: true, periodMs: DAY_MS })
    const newAccount = () => {
      accounts += 1
      return `0x${accounts.toString(16).padStart(40, 'c')}` as const
    }
    return {
      chain,
      async fundedAccount(microUsdc) {
        const account = newAccount()
        chain.setBalance(account, microUsdc)
        return account
      },
      moveUsdc: async (from, to, microUsdc) => chain.transferUsdc(from, to, microUsdc),
      async contractWallet() {
        const account = newAccount()
        const signature = new Uint8Array(96).fill(accounts)
        chain.acceptAsContract(account, signature)
        return { account, signature }
      },
      prover: '0x000000000000000000000000000000000000dEaD',
      async accept(dealId) {
        chain.act({ kind: 'accept', dealId })
        chain.mine()
      },
      setOnline: async (isOnline) => chain.setOnline(isOnline),
      mine: async (blocks) => void chain.mine(blocks),
      reorganise: async (depth) => chain.reorganise({ depth, transactions: 'dropped' }),
      drop: async (hash) => chain.drop(hash),
      close: () => chain.close(),
    }
  },
})
describeChain('fake, version 1', subjectOf(1))
describeChain('fake, version 2', subjectOf(2))

describe('fake only', () => {
  it('keeps deals exactly while their block is there', async () => {
    const chain = openFakeChain()
    const { marketplace } = chain
    const piece = { pieceRoot: 'aa', paddedSizeBytes: 128, leafCount: 3 }
    const proposal = { prover: marketplace.account, ...piece, durationSeconds: 9, bondMicroUsdc: 0n }
    const contract = marketplace.contracts[0].address
    const call = { kind: 'propose', contract, deals: [{ ...proposal, paymentMicroUsdc: 2n ** 70n }] } as const
    const { raw, hash } = await marketplace.sign({ call, nonce: 0, fees: await marketplace.fees() })
    await marketplace.send(raw)
    const block = chain.mine()
    expect(chain.deals).toEqual([
      { contract, dealId: 1n, proposal: call.deals[0], transaction: hash, block, extraSeconds: 0 },
    ])
    chain.reorganise({ depth: 1 })
    expect(chain.deals).toEqual([])
    expect(chain.pool).toEqual([hash])
    chain.mine()
    expect(chain.deals.map(({ dealId }) => dealId)).toEqual([1n])
    chain.reorganise({ depth: 1, transactions: 'again' })
    expect(chain.deals.map(({ dealId }) => dealId)).toEqual([1n])
  })

  it('wants a tenth more of a replacement, for both fees', async () => {
    const { marketplace } = openFakeChain()
    const send = async (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => {
      const { raw } = await marketplace.signEmpty({ nonce: 0, fees: { maxFeePerGas, maxPriorityFeePerGas } })
      return (await marketplace.send(raw)).outcome
    }
    expect(await send(1_000_000_000n, 100n)).toBe('accepted')
    expect(await send(1_100_000_000n, 109n)).toBe('underpriced')
    expect(await send(1_099_999_999n, 110n)).toBe('underpriced')
    expect(await send(1_100_000_000n, 110n)).toBe('accepted')
  })

  it('loses answers, with and without what they were about', async () => {
    const chain = openFakeChain()
    const { raw, hash } = await chain.marketplace.signEmpty({ nonce: 0, fees: await chain.marketplace.fees() })
    chain.loseNextAnswer({ arrives: false })
    await expect(chain.marketplace.send(raw)).rejects.toHaveProperty('code', 'chain_offline')
    expect(chain.pool).toEqual([])
    chain.loseNextAnswer({ arrives: true })
    await expect(chain.marketplace.send(raw)).rejects.toHaveProperty('code', 'chain_offline')
    expect(chain.pool).toEqual([hash])
  })

  it('lags behind and has nonces used up elsewhere', async () => {
    const chain = openFakeChain()
    const { raw, hash } = await chain.marketplace.signEmpty({ nonce: 0, fees: await chain.marketplace.fees() })
    await chain.marketplace.send(raw)
    chain.useNonceElsewhere()
    await expect(chain.marketplace.find(hash)).resolves.toEqual({ place: 'unknown' })
    await expect(chain.marketplace.send(raw)).resolves.toEqual({ outcome: 'nonce_used' })
    chain.setLag(1)
    await expect(chain.marketplace.confirmedNonce()).resolves.toBe(0)
    await expect(chain.marketplace.head()).resolves.toHaveProperty('number', 0)
  })
})

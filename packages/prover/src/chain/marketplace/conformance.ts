import { makeLeafProof } from '@lade/core/piece'
import type { Hex } from 'viem'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type ChainHarness, PAY_OF_PERIOD, startChainHarness } from '../../testing/chain-harness.ts'
import { pieceOf } from '../../testing/harness.ts'
import type { ContractVersion } from '../../testing/test-market.ts'
import { ChainAccount } from '../chain-account.ts'
import { readChainLimits } from '../chain-limits.ts'
import type { Deal } from '../deal.ts'
import type { DealProof, Marketplace, ProverCall } from './marketplace.ts'
import { openMarketplace } from './open-marketplace.ts'

const PIECE = pieceOf(2000)
const PERIODS = 3
const GAS = 5_000_000n

/** What every version of the contract does for a prover, on a chain of its own for each test. */
export function describeMarketplace(version: ContractVersion): void {
  describe(`the marketplace of version ${version}`, () => {
    let harness: ChainHarness
    let chain: ChainAccount
    let marketplace: Marketplace

    beforeEach(async () => {
      harness = await startChainHarness({ version })
      const account = await harness.newProver()
      chain = new ChainAccount({ ...account, limits: readChainLimits({}) }, { pollMs: 10, raiseAfterMs: 60_000 })
      marketplace = await openMarketplace(chain, harness.marketplace.toLowerCase() as Hex)
    })

    const propose = (count = 1) =>
      harness.proposeMany(Array.from({ length: count }, () => harness.proposal(chain.address, PIECE, PERIODS)))
    const dealsNow = async (...dealIds: bigint[]): Promise<Deal[]> => {
      const found: Deal[] = []
      for await (const deals of marketplace.deals(dealIds)) found.push(...deals)
      return found
    }
    const dealNow = async (dealId: bigint): Promise<Deal> => {
      const [deal] = await dealsNow(dealId)
      if (deal === undefined) throw new Error('there is no answer')
      return deal
    }
    /** In a block of its own. */
    const send = async (call: ProverCall) => {
      const stopping = new AbortController()
      onTestFinished(() => stopping.abort())
      const sent = chain.send(marketplace.encode(call), GAS, stopping.signal)
      await expect.poll(async () => (await harness.chain.getTxpoolStatus()).pending).toBe(1)
      await harness.mine()
      return sent
    }
    const prove = async (deal: Deal): Promise<DealProof> => {
      const challenge = await marketplace.challengeOf(deal, await chain.head())
      if ('refused' in challenge) throw new Error(challenge.refused)
      const leaves = challenge.leafIndexes.map((leafIndex) =>
        makeLeafProof({
          rawSizeBytes: PIECE.bytes.length,
          leafIndex,
          readRaw: (offset, length) => PIECE.bytes.subarray(offset, offset + length),
        }),
      )
      return { deal, challenge, leaves: await Promise.all(leaves) }
    }

    test('says what it is, and which deals it has', async () => {
      expect(marketplace).toMatchObject({ version, firstDealId: 1n, address: harness.marketplace.toLowerCase() })
      expect(await marketplace.lastDealId()).toBe(0n)
      expect(await propose(2)).toBe(2n)
      const proposal = harness.proposal(chain.address, PIECE, PERIODS)
      const [second, none] = await dealsNow(2n, 3n)
      expect(second).toMatchObject({
        contract: marketplace.address,
        dealId: 2n,
        state: 'proposed',
        client: harness.client.toLowerCase(),
        prover: chain.address,
        root: Buffer.from(proposal.commp.slice(2), 'hex'),
        paddedSizeBytes: proposal.pieceSize,
        durationSeconds: Number(proposal.duration),
        remaining: proposal.totalPayment,
        challengeBlock: 0n,
        earned: 0n,
      })
      expect(none).toMatchObject({ dealId: 3n, state: 'none' })
    })

    test('accepts, opens, draws, proves and settles', async () => {
      const dealId = await propose()
      expect(await send({ kind: 'accept', deals: [await dealNow(dealId)] })).toMatchObject({ outcome: 'landed' })
      await send({ kind: 'open', deals: [await dealNow(dealId)] })
      const opened = await dealNow(dealId)
      const { number } = await chain.head()
      expect(opened.challengeBlock).toBe(number + marketplace.terms.drawBlocks)
      expect(await marketplace.challengeOf(opened, await chain.head())).toEqual({ refused: 'ChallengeNotDrawn' })
      for (let block = 0n; block <= marketplace.terms.drawBlocks; block += 1n) await harness.mine()
      const proof = await prove(opened)
      expect(proof.leaves).toHaveLength(marketplace.terms.leavesOfProof)
      expect(await send({ kind: 'prove', proofs: [proof] })).toMatchObject({ outcome: 'landed' })
      expect(await dealNow(dealId)).toMatchObject({ earned: PAY_OF_PERIOD, period: 1, challengeBlock: 0n })
      await send({ kind: 'settle', deals: [await dealNow(dealId)] })
      expect(await harness.balanceOf(chain.address)).toBe(PAY_OF_PERIOD)
    })

    test('refuses a call before it is sent, by the name of its error', async () => {
      const deal = await dealNow(await propose())
      const refusalOf = (kind: 'open' | 'settle') => chain.estimateGas(marketplace.encode({ kind, deals: [deal] }))
      expect(await refusalOf('open')).toEqual({ refused: 'WrongState' })
      expect(await refusalOf('settle')).toEqual({ refused: 'WrongState' })
    })

    test('serves many deals in a call where it says so, and names those that it leaves out', async () => {
      await propose(3)
      for (const dealId of [1n, 2n]) await send({ kind: 'accept', deals: [await dealNow(dealId)] })
      const deals = await dealsNow(1n, 2n, 3n)
      if (!marketplace.takesMany('open')) {
        expect(() => marketplace.encode({ kind: 'open', deals })).toThrow(TypeError)
        return
      }
      const opened = await send({ kind: 'open', deals })
      if (opened.outcome === 'lost') throw new Error('the call was lost')
      expect(marketplace.skippedIn(opened.logs)).toEqual([{ dealId: 3n, reason: 'WrongState' }])
      for (let block = 0n; block <= marketplace.terms.drawBlocks; block += 1n) await harness.mine()
      const proofs = await Promise.all((await dealsNow(1n, 2n)).map(prove))
      await send({ kind: 'prove', proofs })
      expect((await dealsNow(1n, 2n)).map(({ earned }) => earned)).toEqual([PAY_OF_PERIOD, PAY_OF_PERIOD])
    })
  })
}

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Chain } from './chain.ts'
import { expectOffline } from './conformance/expect-offline.ts'
import type { ChainFixture } from './conformance/fixture.ts'
import { describeMarketplace } from './conformance/marketplace-cases.ts'
import { messageOf, otherHalf, signer, signFor, withRecoveryValue } from './conformance/signatures.ts'

export type { ChainFixture } from './conformance/fixture.ts'

/** How the suite gets a chain to test. */
export interface ChainSubject {
  /** Before every test; the account of the marketplace has sent nothing yet, has USDC, and has not approved anything. */
  open(): Promise<ChainFixture>
}

/** Of the least balance, as every driver has it where nothing else is said. */
const WINDOW_BLOCKS = 128
const NOBODY = '0x0000000000000000000000000000000000000000'

/** The promises of `Chain`, for every driver. */
export function describeChain(name: string, subject: ChainSubject): void {
  describe(`Chain: ${name}`, () => {
    let fixture: ChainFixture
    let chain: Chain
    beforeEach(async () => {
      fixture = await subject.open()
      chain = fixture.chain
    })
    afterEach(() => fixture.close())

    describe('usdcBalance', () => {
      it('is 0 for an account that never had any', async () => {
        await expect(chain.usdcBalance('0x00000000000000000000000000000000000000f1')).resolves.toBe(0n)
      })

      it('is exact, in whichever case the account is written', async () => {
        const account = await fixture.fundedAccount(2n ** 60n + 1n)
        await expect(chain.usdcBalance(account)).resolves.toBe(2n ** 60n + 1n)
        await expect(chain.usdcBalance(account.toLowerCase() as typeof account)).resolves.toBe(2n ** 60n + 1n)
      })

      it('answers many questions side by side', async () => {
        const account = await fixture.fundedAccount(7n)
        const answers = await Promise.all(Array.from({ length: 20 }, () => chain.usdcBalance(account)))
        expect(new Set(answers)).toEqual(new Set([7n]))
      })

      it('error: offline', async () => {
        await fixture.setOnline(false)
        await expectOffline(chain.usdcBalance(NOBODY))
        await fixture.setOnline(true)
        await expect(chain.usdcBalance(NOBODY)).resolves.toBe(0n)
      })
    })

    describe('leastUsdcBalance', () => {
      it('is the balance of an account that has not moved', async () => {
        const account = await fixture.fundedAccount(7n)
        await fixture.mine(WINDOW_BLOCKS)
        await expect(chain.leastUsdcBalance(account)).resolves.toBe(7n)
        await expect(chain.leastUsdcBalance(NOBODY)).resolves.toBe(0n)
      })

      it('counts what came only when the window has passed, and what went at once', async () => {
        const [payer, payee] = [await fixture.fundedAccount(10n), await fixture.fundedAccount(1n)]
        await fixture.mine(WINDOW_BLOCKS)
        await fixture.moveUsdc(payer, payee, 4n)
        const both = async () => [await chain.leastUsdcBalance(payer), await chain.leastUsdcBalance(payee)]
        expect(await both()).toEqual([6n, 1n])
        await fixture.mine(WINDOW_BLOCKS - 2)
        expect(await both(), 'the block before is the oldest').toEqual([6n, 1n])
        await fixture.mine()
        expect(await both()).toEqual([6n, 5n])
      })

      it('sees what went and came back in between', async () => {
        const account = await fixture.fundedAccount(10n)
        const other = await fixture.fundedAccount(0n)
        await fixture.mine(WINDOW_BLOCKS)
        await fixture.moveUsdc(account, other, 9n)
        await fixture.mine(3)
        await fixture.moveUsdc(other, account, 9n)
        await expect(chain.leastUsdcBalance(account)).resolves.toBe(1n)
        await expect(chain.leastUsdcBalance(other)).resolves.toBe(0n)
      })

      it('error: offline', async () => {
        await fixture.setOnline(false)
        await expectOffline(chain.leastUsdcBalance(NOBODY))
      })
    })

    describe('isSignedBy', () => {
      const message = messageOf('a message\nof two lines')

      it('takes a signature by the account itself, and asks nobody about it', async () => {
        const signature = await signFor(message)
        await expect(chain.isSignedBy({ account: signer.address, message, signature })).resolves.toBe(true)
        const lowerCase = signer.address.toLowerCase() as typeof signer.address
        await expect(chain.isSignedBy({ account: lowerCase, message, signature })).resolves.toBe(true)
        await fixture.setOnline(false)
        await expect(chain.isSignedBy({ account: signer.address, message, signature })).resolves.toBe(true)
      })

      it('refuses another message, another account and no account', async () => {
        const signature = await signFor(message)
        const account = signer.address
        await expect(chain.isSignedBy({ account, message: messageOf('else'), signature })).resolves.toBe(false)
        await expect(
          chain.isSignedBy({ account: fixture.chain.marketplace.account, message, signature }),
        ).resolves.toBe(false)
        await expect(chain.isSignedBy({ account: NOBODY, message, signature })).resolves.toBe(false)
      })

      it('refuses a second spelling of a signature', async () => {
        const signature = await signFor(message)
        const spellings = [
          otherHalf(signature),
          withRecoveryValue(signature, (v) => v - 27),
          withRecoveryValue(signature, (v) => v + 8),
          signature.subarray(0, 64),
          Uint8Array.from([...signature, 0]),
        ]
        for (const spelling of spellings) {
          await expect(chain.isSignedBy({ account: signer.address, message, signature: spelling })).resolves.toBe(false)
        }
      })

      it('refuses what is no signature', async () => {
        for (const signature of [new Uint8Array(0), new Uint8Array(65), new Uint8Array(65).fill(0xff)]) {
          await expect(chain.isSignedBy({ account: signer.address, message, signature })).resolves.toBe(false)
        }
      })

      it('takes a signature that the contract at the account takes', async () => {
        const { account, signature } = await fixture.contractWallet(message)
        await expect(chain.isSignedBy({ account, message, signature })).resolves.toBe(true)
        const other = signature.map((byte, index) => (index === 5 ? byte ^ 1 : byte))
        await expect(chain.isSignedBy({ account, message, signature: other })).resolves.toBe(false)
      })

      it('error: offline, when only the chain can tell', async () => {
        const { account, signature } = await fixture.contractWallet(message)
        await fixture.setOnline(false)
        await expectOffline(chain.isSignedBy({ account, message, signature }))
      })
    })

    it('says whether it can be reached', async () => {
      await expect(chain.check()).resolves.toBeUndefined()
      await fixture.setOnline(false)
      await expectOffline(chain.check())
      await fixture.setOnline(true)
      await expect(chain.check()).resolves.toBeUndefined()
    })

    it('can be closed twice', async () => {
      await chain.close()
      await expect(chain.close()).resolves.toBeUndefined()
    })

    describeMarketplace(() => fixture)
  })
}

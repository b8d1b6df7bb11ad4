import { parseSignature } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Fixture, openFixture } from './testing/marketplace-fixture.ts'

const owner = mnemonicToAccount('legal winner thank year wave sausage worth useful legal winner thank yellow')

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())

it('has six decimals', async () => {
  await expect(fixture.client.readContract({ ...fixture.usdcCall, functionName: 'decimals' })).resolves.toBe(6)
})

it('takes a permit by signature (ERC-2612)', async () => {
  const deadline = 2n ** 40n
  const signature = await owner.signTypedData({
    domain: { name: 'USD Coin', version: '1', chainId: 31_337, verifyingContract: fixture.usdc },
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'Permit',
    message: { owner: owner.address, spender: fixture.marketplace, value: 5n, nonce: 0n, deadline },
  })
  const { r, s, yParity } = parseSignature(signature)
  const args = [owner.address, fixture.marketplace, 5n, deadline, 27 + yParity, r, s] as const
  const account = mnemonicToAccount('test test test test test test test test test test test junk')
  await fixture.client.writeContract({ ...fixture.usdcCall, account, functionName: 'permit', args })
  await fixture.mine(1)
  const allowance = [owner.address, fixture.marketplace] as const
  const question = { ...fixture.usdcCall, functionName: 'allowance', args: allowance } as const
  await expect(fixture.client.readContract(question)).resolves.toBe(5n)
})

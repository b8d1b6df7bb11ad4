import { parseSignature } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Ground, openGround } from './testing/marketplace-ground.ts'

const owner = mnemonicToAccount('legal winner thank year wave sausage worth useful legal winner thank yellow')

let ground: Ground
beforeAll(async () => {
  ground = await openGround()
})
afterAll(() => ground.stop())

it('has six decimals', async () => {
  await expect(ground.client.readContract({ ...ground.usdcCall, functionName: 'decimals' })).resolves.toBe(6)
})

it('takes a permit by signature (ERC-2612)', async () => {
  const deadline = 2n ** 40n
  const signature = await owner.signTypedData({
    domain: { name: 'USD Coin', version: '1', chainId: 31_337, verifyingContract: ground.usdc },
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
    message: { owner: owner.address, spender: ground.marketplace, value: 5n, nonce: 0n, deadline },
  })
  const { r, s, yParity } = parseSignature(signature)
  const args = [owner.address, ground.marketplace, 5n, deadline, 27 + yParity, r, s] as const
  const account = mnemonicToAccount('test test test test test test test test test test test junk')
  await ground.client.writeContract({ ...ground.usdcCall, account, functionName: 'permit', args })
  await ground.mine(1)
  const allowance = [owner.address, ground.marketplace] as const
  const question = { ...ground.usdcCall, functionName: 'allowance', args: allowance } as const
  await expect(ground.client.readContract(question)).resolves.toBe(5n)
})

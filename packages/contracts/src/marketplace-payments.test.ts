import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { compileSources } from '../compile.ts'
import { marketplaceAbi } from './contracts.ts'
import { type Ground, openGround, PERIOD, pieceOf } from './testing/marketplace-ground.ts'

/** A token that refuses accounts, as USDC does, and one that calls back on every transfer, as USDC never would. */
const HOSTILE_TOKEN = `
// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

contract HostileToken is ERC20("Hostile", "HOSTILE") {
    mapping(address => bool) public isRefused;
    address private target;
    bytes private data;
    uint256 public calls;
    uint256 public callsThatWorked;

    function mint(address to, uint256 amount) external { _mint(to, amount); }
    function refuse(address account, bool isNow) external { isRefused[account] = isNow; }
    function callBack(address target_, bytes calldata data_) external { target = target_; data = data_; }

    function _update(address from, address to, uint256 value) internal override {
        require(!isRefused[to], "refused");
        super._update(from, to, value);
        if (target == address(0)) return;
        calls++;
        (bool worked,) = target.call(data);
        if (worked) callsThatWorked++;
    }
}
`
const hostileAbi = parseAbi([
  'function refuse(address account, bool isNow)',
  'function callBack(address target, bytes data)',
  'function calls() view returns (uint256)',
  'function callsThatWorked() view returns (uint256)',
])
const piece = pieceOf(new Uint8Array(127).fill(9))
const account = mnemonicToAccount('test test test test test test test test test test test junk')

let ground: Ground
beforeAll(async () => {
  const [token] = compileSources({ 'HostileToken.sol': HOSTILE_TOKEN })
  ground = await openGround({ token: token?.bytecode as Hex })
})
afterAll(() => ground.stop())

function token() {
  return { address: ground.usdc, abi: hostileAbi, account, chain: null } as const
}

async function refuse(who: `0x${string}`, isNow: boolean): Promise<void> {
  await ground.client.writeContract({ ...token(), functionName: 'refuse', args: [who, isNow] })
  await ground.mine(1)
}

describe('payments', () => {
  let dealId: bigint
  beforeEach(async () => {
    const { client1, prover } = ground
    const terms = [prover.address, piece.commp, piece.pieceSize, 4n * BigInt(PERIOD), 4_000n] as const
    await client1.send('proposeDeal', terms)
    dealId = await ground.lastDealId()
    await prover.send('acceptDeal', [dealId])
    await prover.send('openChallenge', [dealId])
    await prover.send('prove', await ground.proofOf(dealId, piece))
    await ground.passSeconds(2 * PERIOD)
  })

  it.each(['client', 'prover'] as const)(
    'reach the other side where the %s cannot be paid, and it later',
    async (side) => {
      const { client1, prover, stranger } = ground
      const [refused, other, owed] =
        side === 'client' ? [client1, prover, 'refundable' as const] : [prover, client1, 'earned' as const]
      await refuse(refused.address, true)
      const before = await Promise.all([ground.balance(refused.address), ground.balance(other.address)])
      await stranger.send('settle', [dealId])
      const after = await Promise.all([ground.balance(refused.address), ground.balance(other.address)])
      expect(after).toEqual([before[0], before[1] + 1_000n])
      expect((await ground.deal(dealId))[owed]).toBe(1_000n)

      await ground.passSeconds(10 * PERIOD)
      await stranger.send('slash', [dealId])
      await refuse(refused.address, false)
      await stranger.send('settle', [dealId])
      const sum = async () => (await ground.balance(refused.address)) + (await ground.balance(other.address))
      expect((await sum()) - before[0] - before[1]).toBe(4_000n)
      expect((await ground.deal(dealId))[owed]).toBe(0n)
    },
  )

  it('cannot be drawn twice by calling back from inside one', async () => {
    const { prover, stranger } = ground
    const data = encodeFunctionData({ abi: marketplaceAbi, functionName: 'settle', args: [dealId] })
    await ground.client.writeContract({ ...token(), functionName: 'callBack', args: [ground.marketplace, data] })
    await ground.mine(1)
    const before = await ground.balance(prover.address)
    await stranger.send('settle', [dealId])
    expect((await ground.balance(prover.address)) - before).toBe(1_000n)
    await expect(ground.client.readContract({ ...token(), functionName: 'calls' })).resolves.toBe(2n)
    await expect(ground.client.readContract({ ...token(), functionName: 'callsThatWorked' })).resolves.toBe(0n)
  })
})

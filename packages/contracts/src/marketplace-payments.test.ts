import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { compileSources } from '../compile.ts'
import { marketplaceAbi } from './contracts.ts'
import { dealSteps } from './testing/deal-steps.ts'
import { type Fixture, openFixture, PERIOD } from './testing/marketplace-fixture.ts'

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
const account = mnemonicToAccount('test test test test test test test test test test test junk')

let fixture: Fixture
beforeAll(async () => {
  const [token] = compileSources({ 'HostileToken.sol': HOSTILE_TOKEN })
  fixture = await openFixture({ token: token?.bytecode as Hex })
})
afterAll(() => fixture.stop())

const { activeDeal, provePeriod } = dealSteps(() => fixture)

function token() {
  return { address: fixture.usdc, abi: hostileAbi, account, chain: null } as const
}

async function refuse(who: `0x${string}`, isNow: boolean): Promise<void> {
  await fixture.client.writeContract({ ...token(), functionName: 'refuse', args: [who, isNow] })
  await fixture.mine(1)
}

describe('payments', () => {
  let dealId: bigint
  beforeEach(async () => {
    dealId = await activeDeal({ duration: 4n * BigInt(PERIOD), totalPayment: 4_000n })
    await provePeriod(dealId)
    await fixture.passSeconds(2 * PERIOD)
  })

  it.each(['client', 'prover'] as const)(
    'reach the other side where the %s cannot be paid, and it later',
    async (side) => {
      const { client1, prover, stranger } = fixture
      const [refused, other, owed] =
        side === 'client' ? [client1, prover, 'refundable' as const] : [prover, client1, 'earned' as const]
      await refuse(refused.address, true)
      const before = await Promise.all([fixture.balance(refused.address), fixture.balance(other.address)])
      await stranger.send('settle', [dealId])
      const after = await Promise.all([fixture.balance(refused.address), fixture.balance(other.address)])
      expect(after).toEqual([before[0], before[1] + 1_000n])
      expect((await fixture.deal(dealId))[owed]).toBe(1_000n)

      await fixture.passSeconds(10 * PERIOD)
      await stranger.send('slash', [dealId])
      await refuse(refused.address, false)
      await stranger.send('settle', [dealId])
      const sum = async () => (await fixture.balance(refused.address)) + (await fixture.balance(other.address))
      expect((await sum()) - before[0] - before[1]).toBe(4_000n)
      expect((await fixture.deal(dealId))[owed]).toBe(0n)
    },
  )

  it('cannot be drawn twice by calling back from inside one', async () => {
    const { prover, stranger } = fixture
    const data = encodeFunctionData({ abi: marketplaceAbi, functionName: 'settle', args: [dealId] })
    await fixture.client.writeContract({ ...token(), functionName: 'callBack', args: [fixture.marketplace, data] })
    await fixture.mine(1)
    const before = await fixture.balance(prover.address)
    await stranger.send('settle', [dealId])
    expect((await fixture.balance(prover.address)) - before).toBe(1_000n)
    await expect(fixture.client.readContract({ ...token(), functionName: 'calls' })).resolves.toBe(2n)
    await expect(fixture.client.readContract({ ...token(), functionName: 'callsThatWorked' })).resolves.toBe(0n)
  })
})

import {
  concat,
  encodeAbiParameters,
  encodeDeployData,
  fromRlp,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  parseAbi,
  toRlp,
  zeroAddress,
} from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { compileSources } from '../compile.ts'
import { CHALLENGED_LEAVES, challengedLeaves } from './challenge/challenge.ts'
import { marketplaceAbi, marketplaceBytecode } from './contracts.ts'
import { dealSteps } from './testing/deal-steps.ts'
import { type Fixture, type FixtureOptions, openFixture, PERIOD } from './testing/marketplace-fixture.ts'
import { type Piece, pieceOf, scattered } from './testing/pieces.ts'

/** EIP-2935: it keeps the hash of block n in slot n % 8191. */
const HISTORY = '0x0000F90827F1C53a10cb7A02335B175320002935'
const HISTORY_BLOCKS = 8_191n
const FIELDS = { logsBloom: 6, difficulty: 7, timestamp: 11, extraData: 12, mixHash: 13, nonce: 14 } as const
const LONG_PERIOD = 20n * BigInt(PERIOD)

let fixture: Fixture
const steps = dealSteps(() => fixture)

async function open(options: FixtureOptions = {}): Promise<Fixture> {
  fixture = await openFixture(options)
  return fixture
}

async function openedDeal({ commp, pieceSize, leafCount }: Piece = steps.piece): Promise<bigint> {
  const dealId = await steps.activeDeal({ commp, pieceSize, leafCount, duration: LONG_PERIOD, totalPayment: 20_000n })
  await fixture.prover.send('openChallenge', [dealId])
  return dealId
}

describe('the leaves of a challenge', () => {
  afterEach(() => fixture.stop())

  // Before and after the header has a hash of requests.
  it.each(['cancun', 'prague', 'osaka'])(
    'are drawn by the mixHash of the block after the opening (%s)',
    async (hardfork) => {
      await open({ hardfork })
      const piece = pieceOf(scattered(127 * 64))
      const dealId = await openedDeal(piece)
      await expect(fixture.leavesRefusal(dealId, '0x')).resolves.toEqual({ name: 'ChallengeNotDrawn', args: [dealId] })
      const [, header] = await fixture.proofOf(dealId, piece)
      const { seedBlock, period, leafCount } = await fixture.deal(dealId)
      const { mixHash } = await fixture.rpcBlock(BigInt(seedBlock))
      const leaves = challengedLeaves({ seed: mixHash, dealId, period, leafCount })
      expect(leaves).toHaveLength(CHALLENGED_LEAVES)
      await expect(fixture.challengedLeaves(dealId, header)).resolves.toEqual(leaves)
      await fixture.prover.send('prove', [dealId, header, await fixture.nodesOf(dealId, piece)])
      await expect(fixture.leavesRefusal(dealId, header)).resolves.toEqual({ name: 'ChallengeNotOpen', args: [dealId] })
    },
  )

  it('differ from deal to deal and from period to period', async () => {
    await open()
    const piece = pieceOf(scattered(127 * 64))
    const seed = keccak256('0x01')
    const drawn = [
      ...[1n, 2n, 3n].map((dealId) => challengedLeaves({ seed, dealId, period: 0, leafCount: 256n })),
      challengedLeaves({ seed, dealId: 1n, period: 1, leafCount: 256n }),
    ]
    expect(new Set(drawn.map(String)).size).toBe(4)
    const [one, other] = [await steps.activeDeal(piece), await steps.activeDeal(piece)]
    await fixture.prover.send('openMany', [[one, other]])
    const [, header] = await fixture.proofOf(one, piece)
    const ofBoth = await Promise.all([one, other].map((dealId) => fixture.challengedLeaves(dealId, header)))
    expect(ofBoth[0]).not.toEqual(ofBoth[1])
  })

  it('all have data: a piece half full was proved in 9 of 20 periods without its data, and now in none', async () => {
    await open()
    // 129 of 256 leaves have data; the others are zeros that nobody has to store.
    const half = pieceOf(scattered(127 * 32 + 1))
    expect([half.leafCount, half.pieceSize]).toEqual([129n, 256n * 32n])
    const dealId = await openedDeal(half)
    for (let turn = 0; turn < 20; turn += 1) {
      const [, header, nodes] = await fixture.proofOf(dealId, half)
      const leaves = await fixture.challengedLeaves(dealId, header)
      expect(leaves.every((leaf) => leaf < half.leafCount)).toBe(true)
      // Who has lost the data has the tree above it at best.
      const lost = nodes.map((node, index) => (index % 9 === 0 ? pad('0x') : node))
      await expect(fixture.prover.refusal('prove', [dealId, header, lost])).resolves.toMatchObject({
        name: 'InvalidProof',
      })
      await fixture.prover.send('prove', [dealId, header, nodes])
      if (turn === 19) break
      await fixture.passSeconds(PERIOD)
      await fixture.prover.send('openChallenge', [dealId])
    }
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ period: 20, misses: 0 })
  })

  it('wait for the block that the contract’s delay names', async () => {
    await open({ seedDelayBlocks: 4 })
    const dealId = await openedDeal()
    const { seedBlock } = await fixture.deal(dealId)
    expect(BigInt(seedBlock)).toBe((await fixture.client.getBlockNumber({ cacheTime: 0 })) + 4n)
    await fixture.mine(4)
    await expect(fixture.leavesRefusal(dealId, '0x')).resolves.toMatchObject({ name: 'ChallengeNotDrawn' })
    await fixture.prover.send('prove', await fixture.proofOf(dealId, steps.piece))
  })

  it('lapse after 256 blocks where the chain keeps no older hashes', async () => {
    await open({ hardfork: 'cancun' })
    const dealId = await openedDeal()
    const proof = await fixture.proofOf(dealId, steps.piece)
    await fixture.mine(255)
    await expect(fixture.challengedLeaves(dealId, proof[1])).resolves.toHaveLength(CHALLENGED_LEAVES)
    await fixture.mine(1)
    await expect(fixture.prover.refusal('prove', proof)).resolves.toEqual({ name: 'ChallengeLapsed', args: [dealId] })
  })

  it('are there for longer where it has EIP-2935, so that a backlog does not lapse', async () => {
    await open()
    const dealId = await openedDeal()
    const proof = await fixture.proofOf(dealId, steps.piece)
    await fixture.mine(600)
    const { seedBlock } = await fixture.deal(dealId)
    const slot = { address: HISTORY, index: numberToHex(BigInt(seedBlock) % HISTORY_BLOCKS, { size: 32 }) } as const
    const value = await fixture.client.getStorageAt({ address: HISTORY, slot: slot.index })
    await fixture.client.setStorageAt({ ...slot, value: pad('0x') })
    await expect(fixture.prover.refusal('prove', proof)).resolves.toMatchObject({ name: 'ChallengeLapsed' })
    await fixture.client.setStorageAt({ ...slot, value: value ?? '0x' })
    await fixture.prover.send('prove', proof)
  })
})

describe('the header of a block', () => {
  let dealId: bigint
  let header: Hex
  let fields: Hex[]
  beforeAll(async () => {
    await open()
    dealId = await openedDeal()
    header = (await fixture.proofOf(dealId, steps.piece))[1]
    fields = fromRlp(header, 'hex') as Hex[]
    // From now on the hash is the one that EIP-2935's contract answers, so that these tests choose it.
    await fixture.mine(257)
  })
  afterAll(() => fixture.stop())

  /** Makes these bytes the header of the block, by their hash, and asks for the leaves. */
  async function leavesOf(bytes: Hex): Promise<readonly bigint[] | string | undefined> {
    const { seedBlock } = await fixture.deal(dealId)
    const index = numberToHex(BigInt(seedBlock) % HISTORY_BLOCKS, { size: 32 })
    await fixture.client.setStorageAt({ address: HISTORY, index, value: keccak256(bytes) })
    return fixture
      .challengedLeaves(dealId, bytes)
      .catch(async () => String((await fixture.leavesRefusal(dealId, bytes)).name))
  }
  const changed = (changes: Partial<Record<keyof typeof FIELDS, Hex>>): Hex =>
    toRlp(
      fields.map(
        (field, index) =>
          Object.entries(changes).find(([name]) => FIELDS[name as keyof typeof FIELDS] === index)?.[1] ?? field,
      ),
    )

  it('must have the hash of the block', async () => {
    await leavesOf(header)
    for (const wrong of [
      await fixture.headerOf(1n),
      '0x',
      header.slice(0, -2),
      `${header}00`,
      header.replace('a0', 'a1'),
    ]) {
      const refusal = await fixture.leavesRefusal(dealId, wrong as Hex)
      expect(refusal).toEqual({ name: 'InvalidHeader', args: [dealId] })
    }
  })

  it('gives the same leaves whatever else its maker can change: 20 of 20 periods were ground by hashes', async () => {
    const leaves = await leavesOf(header)
    expect(leaves).toHaveLength(CHALLENGED_LEAVES)
    for (let attempt = 0; attempt < 256; attempt += 1) {
      const ground = changed({
        extraData:
          attempt < 128
            ? numberToHex(attempt)
            : pad(numberToHex(attempt), { size: attempt % 33 === 0 ? 1 : attempt % 33 }),
        timestamp: numberToHex(1_900_000_000 + attempt),
        ...(attempt % 2 === 0 ? { logsBloom: pad(numberToHex(attempt), { size: 256 }) } : {}),
      })
      expect(await leavesOf(ground)).toEqual(leaves)
    }
    expect(await leavesOf(changed({ mixHash: keccak256('0x02') }))).not.toEqual(leaves)
  })

  it.each([
    ['0', numberToHex(0n, { size: 32 })],
    ['1 (Arbitrum)', numberToHex(1n, { size: 32 })],
    ['small (zkSync)', numberToHex(2_500_000_000_000_000n, { size: 32 })],
    ['just too small', numberToHex(2n ** 128n - 1n, { size: 32 })],
  ])('has no seed where its mixHash is %s', async (_, mixHash) => {
    expect(await leavesOf(changed({ mixHash }))).toBe('NoSeed')
  })

  it('must have the form of Ethereum’s: each field at its place and of its length', async () => {
    const seed = keccak256('0x03')
    const others: Readonly<Record<string, Hex>> = {
      'a mixHash of 31 bytes': changed({ mixHash: `0x${'77'.repeat(31)}` }),
      'a mixHash of 33 bytes': changed({ mixHash: `0x${'77'.repeat(33)}` }),
      'an empty mixHash': changed({ mixHash: '0x' }),
      'a nonce of 32 bytes': changed({ nonce: seed }),
      'no nonce': toRlp(fields.slice(0, 14)),
      'one field fewer before it': toRlp(fields.filter((_, index) => index !== FIELDS.difficulty)),
      'one field more before it': toRlp([...fields.slice(0, 12), seed, ...fields.slice(12)]),
      'a bloom of 255 bytes': changed({ logsBloom: `0x${'00'.repeat(255)}` }),
      'a miner of 21 bytes': toRlp(fields.map((field, index) => (index === 2 ? `${field}00` : field)) as Hex[]),
      'a parent of 31 bytes': toRlp(fields.map((field, index) => (index === 0 ? field.slice(0, -2) : field)) as Hex[]),
      'extra data of 56 bytes': changed({ extraData: `0x${'aa'.repeat(56)}` }),
      // Its maker chooses the bytes of extra data: read as short, this one would end before a mixHash of the maker's own.
      'a mixHash inside of extra data': changed({
        extraData: concat([`0x${'aa'.repeat(55)}`, '0xa0', seed, '0x88', `0x${'aa'.repeat(30)}`]),
      }),
      'a list in its place': toRlp(fields.map((field, index) => (index === FIELDS.extraData ? [field, seed] : field))),
      'a string, not a list': toRlp(header),
      'one byte after it': concat([header, '0x00']),
      'a length of three bytes': concat(['0xfa00', `0x${header.slice(4)}`]),
      nothing: '0x',
    }
    for (const [name, bytes] of Object.entries(others))
      expect([name, await leavesOf(bytes)]).toEqual([name, 'InvalidHeader'])
    // Extra data of 55 bytes is the longest that is read; fields that later forks add do not matter.
    expect(await leavesOf(changed({ extraData: `0x${'aa'.repeat(55)}` }))).toHaveLength(CHALLENGED_LEAVES)
    expect(await leavesOf(toRlp([...fields, seed, '0x01']))).toHaveLength(CHALLENGED_LEAVES)
    expect(await leavesOf(toRlp(fields.slice(0, 15)))).toHaveLength(CHALLENGED_LEAVES)
  })
})

/** Answers as Filecoin's precompile does: 32 bytes for the 32 bytes of an epoch that is not in the future. */
const FAKE_BEACON = `
// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;
contract FakeBeacon {
    uint256 private salt;
    bool private isBroken;
    function change(uint256 salt_, bool isBroken_) external { (salt, isBroken) = (salt_, isBroken_); }
    fallback(bytes calldata input) external returns (bytes memory) {
        uint256 epoch = abi.decode(input, (uint256));
        require(epoch <= block.number && !isBroken);
        return salt == 0 ? abi.encode(keccak256(abi.encode(epoch))) : abi.encode(salt);
    }
}
`

describe('a beacon', () => {
  afterEach(() => fixture.stop())

  it('draws the leaves without a header and without a limit, and never while it has no answer', async () => {
    const [beacon] = compileSources({ 'FakeBeacon.sol': FAKE_BEACON })
    await open({ beacon: beacon?.bytecode as Hex, hardfork: 'cancun' })
    const dealId = await openedDeal()
    const { seedBlock, period, leafCount } = await fixture.deal(dealId)
    await expect(fixture.leavesRefusal(dealId, '0x')).resolves.toMatchObject({ name: 'ChallengeNotDrawn' })
    await fixture.mine(600)
    const seed = keccak256(encodeAbiParameters([{ type: 'uint256' }], [BigInt(seedBlock)]))
    const leaves = challengedLeaves({ seed, dealId, period, leafCount })
    await expect(fixture.challengedLeaves(dealId, '0x')).resolves.toEqual(leaves)
    const nodes = (await Promise.all(leaves.map((leaf) => steps.piece.nodesOf(leaf)))).flat()

    const call = {
      address: fixture.beacon,
      abi: parseAbi(['function change(uint256 salt, bool isBroken)']),
      chain: null,
    } as const
    const change = async (salt: bigint, isBroken: boolean) => {
      const account = fixture.stranger.address
      await fixture.client.impersonateAccount({ address: account })
      await fixture.client.writeContract({ ...call, account, functionName: 'change', args: [salt, isBroken] })
      await fixture.mine(1)
    }
    for (const [salt, isBroken] of [
      [1n, false],
      [2n ** 128n - 1n, false],
      [0n, true],
    ] as const) {
      await change(salt, isBroken)
      const refusal = await fixture.prover.refusal('prove', [dealId, '0x', nodes])
      expect(refusal).toEqual({ name: 'NoSeed', args: [dealId] })
    }
    await change(0n, false)
    await fixture.prover.send('prove', [dealId, '0x', nodes])
  })
})

describe('the constructor', () => {
  afterEach(() => fixture.stop())

  it('refuses a chain whose blocks have no randomness', async () => {
    await open()
    const { usdc, client } = fixture
    const args = [usdc, 1n, 1n, 1n, 1, zeroAddress] as const
    const data = encodeDeployData({ abi: marketplaceAbi, bytecode: marketplaceBytecode, args })
    const deployedWhere = async (mixHash: bigint) => {
      const params = [{ data }, 'latest', {}, { random: numberToHex(mixHash, { size: 32 }) }]
      return client.request({ method: 'eth_call', params } as never).then(
        () => 'deployed',
        (error: unknown) => String(error),
      )
    }
    // NoRandomness(uint256)
    const selector = keccak256(new TextEncoder().encode('NoRandomness(uint256)')).slice(2, 10)
    for (const mixHash of [0n, 1n, 2_500_000_000_000_000n, 2n ** 128n - 1n]) {
      expect(await deployedWhere(mixHash)).toContain(selector)
    }
    expect(await deployedWhere(2n ** 128n)).toBe('deployed')
  })
})

import { dealSteps } from './deal-steps.ts'
import { type Fixture, openFixture, PERIOD } from './marketplace-fixture.ts'
import { type Piece, uniformPiece } from './pieces.ts'

/** How many deals a batch has. */
const BATCH = 20
/** 32 bytes a leaf: 1 MiB, 1 GiB and 32 GiB. */
export const HEIGHTS = { '1 MiB': 15, '1 GiB': 25, '32 GiB': 30 } as const

/** Units of gas of each call, of whole transactions; of one deal where they are batches. */
export interface CallGas {
  readonly [call: string]: number
}

/** Units of gas of one proved period. */
export interface ProofGas {
  readonly open: number
  readonly prove: number
  readonly openInBatch: number
  readonly proveInBatch: number
}

/** What the calls cost that do not depend on the size of the piece. Clients and provers have had deals before. */
export async function measureCalls(): Promise<CallGas> {
  const fixture = await openFixture()
  const { termsOf, propose, activeDeal, provePeriod } = dealSteps(() => fixture)
  const { client1: client, prover, stranger } = fixture
  const duration = 10n * BigInt(PERIOD)
  const gasOf = async (sent: Promise<{ gasUsed: bigint }>) => Number((await sent).gasUsed)
  const accept = async (dealId: bigint) => prover.send('acceptDeal', [dealId, await fixture.termsHash(dealId)])
  await propose()
  const bonded = { duration, bond: 500n }
  const gas: Record<string, number> = {}
  gas.proposeDeal = await gasOf(client.send('proposeDeal', [termsOf({ duration })]))
  gas['proposeDeal, with a bond'] = await gasOf(client.send('proposeDeal', [termsOf(bonded)]))
  const proposals = Array.from({ length: BATCH }, () => termsOf({ duration }))
  gas[`proposeDeals, each of ${BATCH}`] = Math.round((await gasOf(client.send('proposeDeals', [proposals]))) / BATCH)
  gas.acceptDeal = await gasOf(accept(await propose({ duration })))
  gas['acceptDeal, with a bond'] = await gasOf(accept(await propose(bonded)))
  gas.withdrawDeal = await gasOf(client.send('withdrawDeal', [await propose()]))
  gas.extendDeal = await gasOf(client.send('extendDeal', [await activeDeal({ duration }), 1_000n, 5n]))
  gas.endDeal = await gasOf(client.send('endDeal', [await activeDeal({ duration })]))
  const missed = await activeDeal(bonded)
  await fixture.passSeconds(3 * PERIOD)
  gas['slash, of a deal with a bond that ends'] = await gasOf(stranger.send('slash', [missed]))
  const running = await activeDeal({ duration })
  await provePeriod(running)
  gas['settle, of a running deal'] = await gasOf(stranger.send('settle', [running]))
  const over = await activeDeal({ duration: BigInt(PERIOD), bond: 500n })
  await provePeriod(over)
  await fixture.passSeconds(PERIOD)
  gas['settle, of a deal with a bond that is over'] = await gasOf(stranger.send('settle', [over]))
  await fixture.stop()
  return gas
}

/** What a proved period costs by the size of the piece. */
export async function measureProofs(hardfork: string): Promise<Readonly<Record<string, ProofGas>>> {
  const fixture = await openFixture({ hardfork })
  const gas: Record<string, ProofGas> = {}
  for (const [size, height] of Object.entries(HEIGHTS)) gas[size] = await measureProof(fixture, uniformPiece(height))
  await fixture.stop()
  return gas
}

async function measureProof(fixture: Fixture, piece: Piece): Promise<ProofGas> {
  const { activeDeal } = dealSteps(() => fixture)
  const { commp, pieceSize, leafCount } = piece
  const terms = { commp, pieceSize, leafCount, duration: 10n * BigInt(PERIOD), totalPayment: 10_000n }
  const dealId = await activeDeal(terms)
  const open = await fixture.prover.send('openChallenge', [dealId])
  const prove = await fixture.prover.send('prove', await fixture.proofOf(dealId, piece))

  const ids: bigint[] = []
  for (let count = 0; count < BATCH; count += 1) ids.push(await activeDeal(terms))
  const openMany = await fixture.prover.send('openMany', [ids])
  await fixture.mine(2)
  const header = await fixture.headerOf(openMany.blockNumber + 1n)
  const proofs: { dealId: bigint; header: bigint; nodes: `0x${string}`[] }[] = []
  for (const each of ids) proofs.push({ dealId: each, header: 0n, nodes: await fixture.nodesOf(each, piece) })
  const proveMany = await fixture.prover.send('proveMany', [[header], proofs])
  return {
    open: Number(open.gasUsed),
    prove: Number(prove.gasUsed),
    openInBatch: Math.round(Number(openMany.gasUsed) / BATCH),
    proveInBatch: Math.round(Number(proveMany.gasUsed) / BATCH),
  }
}

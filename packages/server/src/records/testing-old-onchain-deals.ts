import { expect } from 'vitest'
import type { RecordStore } from './record-store.ts'

const CHAIN = 'eip155:31337'
const ACCOUNT = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const OLDER = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const NEWER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** The schema that deals of the chain were recorded in when they were known by their numbers alone, in either engine. */
export function beforeNamedDeals(migrations: readonly string[]): readonly string[] {
  return migrations.slice(
    0,
    migrations.findIndex((migration) => migration.includes('onchain_deals_unnamed')),
  )
}

/** Deals of two contracts with the same number, one that is on its way, and a queued one, as the program of that time left them. */
export const OLD_ONCHAIN_DEALS = `
  INSERT INTO pieces (id, offset_bytes, size_bytes, piece_root, revision, wanted, is_short, status)
    VALUES (70, 0, 127, ROOT, 1, 1, 0, 'staged');
  INSERT INTO copies (id, piece, prover, state, attempts, next_at, to_remove, onchain) VALUES
    (1, 70, 'a', 'stored', 0, 0, 0, 1), (2, 70, 'b', 'stored', 0, 0, 0, 1), (3, 70, 'c', 'stored', 0, 0, 0, 1),
    (4, 70, 'd', 'stored', 0, 0, 0, 1);
  INSERT INTO transactions (id, account, nonce, call, state, succeeded, block_number, block_hash, created_at) VALUES
    (1, '${ACCOUNT}', 0, '{}', 'final', 1, 5, '0xb5', 0), (2, '${ACCOUNT}', 1, '{}', 'final', 1, 6, '0xb6', 0),
    (3, '${ACCOUNT}', 2, '{}', 'open', NULL, NULL, NULL, 0);
  INSERT INTO transaction_attempts (tx, position, hash, raw, max_fee_per_gas, max_priority_fee_per_gas, signed_at) VALUES
    (1, 0, '0x1', '0x02f894${OLDER.slice(2).toLowerCase()}80', '1', '1', 0),
    (2, 0, '0x2', '0x02f894${NEWER.slice(2).toLowerCase()}80', '1', '1', 0),
    (3, 0, '0x3', '0x02f894${NEWER.slice(2).toLowerCase()}81', '1', '1', 0);
  INSERT INTO onchain_deals (copy, state, tx, position, onchain_id, ends_at, reverts, extension_failures) VALUES
    (1, 'final', 1, 0, '41', 9, 0, 0), (2, 'final', 2, 0, '41', 9, 0, 0), (3, 'proposing', 3, 0, NULL, NULL, 0, 0),
    (4, 'queued', NULL, NULL, NULL, NULL, 0, 0);
  INSERT INTO escrows (contract, onchain_id, state, final_state, paid_in, paid_out, returned, check_at, action_tx, failures) VALUES
    ('${OLDER}', '41', 'active', 'active', 10, 4, 1, 7, NULL, 0),
    ('${NEWER}', '41', 'proposed', 'proposed', 20, 0, 0, 7, 2, 1);
  INSERT INTO marks (name, value) VALUES ('escrow:${OLDER}', '5'), ('escrow:${NEWER}', '6');`

/** Every deal gets the contract that its own transaction called, as soon as that is configured, and keeps it. */
export async function expectNamedDeals(store: RecordStore): Promise<void> {
  const [older, newer, accountId] = [OLDER, NEWER, ACCOUNT].map((address) => `${CHAIN}:${address}`) as [
    string,
    string,
    string,
  ]
  const contracts = async () => (await store.chain.dealsOf([1, 2, 3, 4])).map(({ contract }) => contract)
  const adopt = (...configured: string[]) =>
    store.chain.adopt({ chain: CHAIN, account: ACCOUNT, contracts: configured })
  const escrows = () => store.escrow.find([older, newer].map((contract) => ({ contract, onchainId: '41' })))
  expect(await contracts()).toEqual([null, null, null, null])
  expect(await store.chain.tooShort({ endsAfter: 0, endsBefore: 100, limit: 9 })).toMatchObject({ deals: [] })

  await adopt(OLDER)
  expect(await contracts(), 'the other contract is not configured').toEqual([older, null, null, null])
  expect(await escrows()).toMatchObject([
    { contract: older, paidInMicroUsdc: 10, paidOutMicroUsdc: 4, returnedMicroUsdc: 1 },
  ])
  await adopt(NEWER, OLDER)
  await adopt(NEWER, OLDER)
  expect(await contracts()).toEqual([older, newer, newer, null])
  expect(await escrows()).toMatchObject([
    { state: 'active' },
    { contract: newer, state: 'proposed', paidInMicroUsdc: 20 },
  ])
  expect([await store.escrow.scannedTo(older), await store.escrow.scannedTo(newer)]).toEqual([5, 6])
  const states = ['open', 'mined', 'confirmed', 'final'] as const
  const known = await store.chain.transactions({ account: accountId, states, limit: 9 })
  expect(known.map(({ nonce }) => nonce)).toEqual([0, 1, 2])
  expect(await store.chain.nextNonce(accountId)).toBe(3)
  expect(await store.escrow.due({ contract: newer, now: 9, limit: 9 }), 'a transaction about it is under way').toEqual(
    [],
  )
  expect(await store.escrow.due({ contract: older, now: 9, limit: 9 })).toMatchObject([{ onchainId: '41' }])

  // A process of the older version that runs on for a while counts again what was counted: it is not counted twice.
  const again = { onchainId: '41', kind: 'proposed', microUsdc: 10 } as const
  await store.escrow.apply({ contract: OLDER, after: undefined, to: 5, changes: [again], now: 9 })
  await adopt(NEWER, OLDER)
  expect((await store.escrow.totals([OLDER, older])).paidInMicroUsdc).toBe(10)
}

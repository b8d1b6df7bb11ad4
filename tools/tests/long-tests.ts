/**
 * Test files that are not part of `npm test`, which takes less than 4 minutes on two cores. `npm run test:long` runs them, and so does `.ci/run`.
 * A file belongs here if it takes more than about 10 s of a processor and another file tests the same code for ordinary cases.
 */
export const LONG_TESTS: readonly string[] = [
  'examples/network/demo.test.ts',
  'packages/cli/src/commands/backup.test.ts',
  'packages/cli/src/devnet/devnet.test.ts',
  'packages/cli/src/doctor/adopt-here.test.ts',
  'packages/client/src/client-parts.test.ts',
  'packages/client/src/suite.test.ts',
  'packages/contracts/src/marketplace-fuzz.test.ts',
  'packages/contracts/src/marketplace-gas.test.ts',
  'packages/core/src/dag/directory/reference-directories.test.ts',
  'packages/core/src/dag/reference-importer.test.ts',
  'packages/prover/src/chain/deal-follower.test.ts',
  'packages/prover/src/chain/deal-limits.test.ts',
  'packages/prover/src/chain/deal-load.test.ts',
  'packages/prover/src/driver-faults.test.ts',
  'packages/server/src/blobs/drivers/s3/s3-blob-store-variants.conformance.test.ts',
  'packages/server/src/blobs/drivers/s3/s3-blob-store.faults.test.ts',
  'packages/server/src/blobs/drivers/s3/s3-late-requests.test.ts',
  'packages/server/src/http/slow-readers.test.ts',
  'packages/server/src/main.test.ts',
  'packages/server/src/placement/moving-copies.test.ts',
  'packages/server/src/placement/placement-crash.test.ts',
  'packages/server/src/records/drivers/sqlite/placement-model.test.ts',
  'packages/server/src/onchain-deals/proposer-model.test.ts',
  'packages/server/src/uploads/compose-by-reading.test.ts',
  'packages/server/src/wallets/looping-wallets.test.ts',
  'packages/server/src/wiring/join-objects-s3.test.ts',
  'packages/server/src/wiring/join-objects-upgrade.test.ts',
  'packages/server/src/wiring/join-objects.test.ts',
]

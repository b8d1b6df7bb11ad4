/**
 * Test files that measure the memory, the processor time or the event loop of their own process. Each runs in a worker of its own, so that what other files
 * have loaded, freed and left running is not measured with it.
 */
export const MEASURING_TESTS: readonly string[] = [
  'packages/node/src/memory/collect-when-quiet.test.ts',
  'packages/node/src/memory/discard-pages.test.ts',
  'packages/node/src/memory/return-memory.test.ts',
  'packages/server/src/blobs/receive-memory.test.ts',
  'packages/server/src/http/request-rounds.test.ts',
  'packages/server/src/http/unanswered.test.ts',
  'packages/server/src/uploads/compose-cost.test.ts',
]

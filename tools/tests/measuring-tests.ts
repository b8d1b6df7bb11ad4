/**
 * Test files that measure the memory or the processor time of their own process. Each runs in a worker of its own, so that what other files
 * have loaded and freed is not measured with it.
 */
export const MEASURING_TESTS: readonly string[] = [
  'packages/node/src/memory/return-memory.test.ts',
  'packages/server/src/blobs/receive-memory.test.ts',
  'packages/server/src/http/unanswered.test.ts',
  'packages/server/src/uploads/compose-cost.test.ts',
]

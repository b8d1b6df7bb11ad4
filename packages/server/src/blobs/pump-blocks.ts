import type { BodyIntake } from './body-intake.ts'

/** What is done with each block of a body. */
export interface BlockUses {
  readonly onBlock?: (block: Uint8Array) => void
  /** Called for one block after the other. */
  readonly write: (block: Uint8Array) => Promise<void>
  /** Called for several blocks at once, in their order. */
  readonly hash?: ((block: Uint8Array) => Promise<void>) | undefined
  /** Called at the first failure, while blocks are still in use. */
  readonly onFailure?: () => void
}

/**
 * Writes and hashes every block of a body, side by side and in order, several blocks at once. Resolves when all of it is used.
 *
 * @throws what the body or a use failed with, once no block is in use any more.
 */
export async function pumpBlocks(intake: BodyIntake, { onBlock, write, hash, onFailure }: BlockUses): Promise<void> {
  const inUse = new Set<Promise<unknown>>()
  let writing: Promise<void> = Promise.resolve()
  try {
    intake.start()
    for (let block = await intake.next(); block !== undefined; block = await intake.next()) {
      const current = block
      onBlock?.(current)
      // A store takes one write at a time; the hasher takes them as they come.
      writing = writing.then(() => write(current))
      const uses = hash === undefined ? [writing] : [writing, hash(current)]
      // Given back when neither reads it any more, however that ended.
      const used = Promise.allSettled(uses).then(() => {
        intake.release(current)
        return Promise.all(uses)
      })
      inUse.add(used)
      used.then(
        () => inUse.delete(used),
        // While the next block is waited for, nobody looks at this one's promise.
        (error: unknown) => intake.fail(error),
      )
    }
    await Promise.all(inUse)
  } catch (error) {
    onFailure?.()
    // The store must not be told to forget a blob that it is still writing.
    await Promise.allSettled(inUse)
    throw error
  }
}

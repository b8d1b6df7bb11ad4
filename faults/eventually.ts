import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Asks until `broken` answers an empty list, and answers the last list when that takes longer than `withinMs`.
 *
 * @example
 * expect(await eventually(() => atRest(readDataDirectory(dir)), 2000)).toEqual([])
 */
export async function eventually(
  broken: () => readonly string[] | Promise<readonly string[]>,
  withinMs: number,
): Promise<readonly string[]> {
  const end = Date.now() + withinMs
  for (;;) {
    const sentences = await broken()
    if (sentences.length === 0 || Date.now() > end) return sentences
    await sleep(50)
  }
}

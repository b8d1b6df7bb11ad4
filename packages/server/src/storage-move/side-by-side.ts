export interface SideBySideOptions<Item> {
  readonly items: AsyncGenerator<Item>
  /** How many are worked on at a time. */
  readonly jobs: number
  readonly signal: AbortSignal
}

/**
 * Works on all items, some at a time. The first that fails ends the others, through the signal that each is handed.
 *
 * @throws the reason of `signal`, or what the first failed with.
 */
export async function sideBySide<Item>(
  { items, jobs, signal: outer }: SideBySideOptions<Item>,
  work: (item: Item, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const ending = new AbortController()
  const signal = AbortSignal.any([outer, ending.signal])

  async function workOn(): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const next = await items.next()
      if (next.done === true) return
      await work(next.value, signal)
    }
  }

  const workers = Array.from({ length: jobs }, () =>
    workOn().catch((error: unknown) => {
      ending.abort(error)
      throw error
    }),
  )
  await Promise.allSettled(workers)
  if (outer.aborted) throw outer.reason
  if (ending.signal.aborted) throw ending.signal.reason
}

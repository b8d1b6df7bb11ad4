/** How many rows a list shows where `--limit` does not say it, and the most that it may say. */
export const DEFAULT_LISTED = 100
export const MAX_LISTED = 1_000_000

/** The first `limit` of what comes, and whether there would be more. Nothing is asked for beyond the one that tells. */
export async function takeFirst<Item>(
  items: AsyncIterable<Item>,
  limit: number,
): Promise<{ readonly items: readonly Item[]; readonly hasMore: boolean }> {
  const taken: Item[] = []
  for await (const item of items) {
    if (taken.length === limit) return { items: taken, hasMore: true }
    taken.push(item)
  }
  return { items: taken, hasMore: false }
}

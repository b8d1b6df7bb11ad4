/** Goes through what comes in pages. */
export async function* allOf<Page extends { readonly nextCursor: string | null }, Entry>(
  page: (cursor: string | undefined) => Promise<Page>,
  entriesOf: (page: Page) => readonly Entry[],
): AsyncGenerator<Entry, void, undefined> {
  let cursor: string | undefined
  do {
    const next = await page(cursor)
    yield* entriesOf(next)
    cursor = next.nextCursor ?? undefined
  } while (cursor !== undefined)
}

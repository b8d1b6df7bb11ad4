/** One answer of a listing. */
export interface ListedPage<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

/**
 * The items of a listing, page after page. A page may be empty before a page that follows.
 *
 * @param read - asks for the page of these options.
 */
export async function* itemsOfPages<Item>(
  read: (page: { readonly cursor?: string }) => Promise<ListedPage<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | null = null
  do {
    const page: ListedPage<Item> = await read(cursor === null ? {} : { cursor })
    yield* page.items
    cursor = page.nextCursor
  } while (cursor !== null)
}

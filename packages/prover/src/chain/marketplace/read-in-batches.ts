/** So many deals are asked for side by side. */
const DEALS_IN_ONE_GO = 500

/** Reads values by their ids, in that order, some hundred at a time. */
export async function* readInBatches<Id, Value>(
  ids: readonly Id[],
  read: (id: Id) => Promise<Value>,
): AsyncGenerator<Value[]> {
  for (let start = 0; start < ids.length; start += DEALS_IN_ONE_GO) {
    yield await Promise.all(ids.slice(start, start + DEALS_IN_ONE_GO).map(read))
  }
}

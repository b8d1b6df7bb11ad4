/**
 * Finds the first deal of a contract whose numbers have no gaps, in some sixty questions at most.
 *
 * @param lastDealId - the newest; one below the first when there is none.
 */
export async function findFirstDealId(
  lastDealId: bigint,
  hasDeal: (dealId: bigint) => Promise<boolean>,
): Promise<bigint> {
  if (lastDealId < 1n || (await hasDeal(1n))) return 1n
  let before = 1n
  let first = lastDealId + 1n
  while (first - before > 1n) {
    const middle = (before + first) / 2n
    if (await hasDeal(middle)) first = middle
    else before = middle
  }
  return first
}

/**
 * Waits for all of them, whichever fail: nothing of them goes on after this.
 *
 * @throws what the first of those that failed did, in their order.
 */
export async function allOf<Value>(promises: readonly (Promise<Value> | undefined)[]): Promise<(Value | undefined)[]> {
  const settled = await Promise.allSettled(promises)
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

/** What the day of a client address is counted under, over all wallets that use it. */
export const WALLET_ADDRESSES = 'wallet addresses'
const ADDRESS_PREFIX = 'address '

/**
 * A client address in the place of a token: it counts what all wallets together upload from there.
 *
 * @param principal - such as `ip:192.0.2.7`.
 */
export function addressAsToken(
  principal: string,
  capBytes: number,
): { readonly id: string; readonly capBytes: number } {
  return { id: `${ADDRESS_PREFIX}${principal}`, capBytes }
}

/** True for the id of a client address; no token has a space in its id. */
export function isAddressId(id: string): boolean {
  return id.startsWith(ADDRESS_PREFIX)
}

/** How many times one /64's share the /64s of one /48 have together, of whatever is shared out. A /48 has 65,536 of them. */
export const NETWORK_SHARES = 16

/** Whether the column `principal` has a network, which is `networkOf` in SQL. */
export const IS_IN_NETWORK = `principal LIKE 'ip:%::/64'`

/** The network of the column `principal`, of one that has one. The migrations say the same, and are never edited. */
export const NETWORK = `rtrim(substr(principal, 1, length(principal) - 5), '0123456789abcdef') || ':/48'`

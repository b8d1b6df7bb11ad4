/** In every answer. */
export const commonHeaders = { 'x-content-type-options': 'nosniff' } as const

/** In every answer of the API, too. */
export const apiHeaders = { 'cache-control': 'no-store' } as const

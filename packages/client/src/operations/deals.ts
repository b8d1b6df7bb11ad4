import type { DealEntry, DealList, DealProofs } from '@lade/core/wire'
import type { Http } from '../http/http.ts'
import type { CallOptions, DealListOptions, DealOperations, ExtendDealOptions } from '../options.ts'
import { allOf } from './pages.ts'

export function dealOperations(http: Http): DealOperations {
  return {
    list: ({ signal, ...query }: DealListOptions = {}) =>
      allOf(
        (cursor) => http.json<DealList>({ path: '/api/deals', query: { ...query, cursor }, signal }),
        ({ deals }) => deals,
      ),
    get: (dealId, { signal }: CallOptions = {}) => http.json<DealEntry>({ path: pathOf(dealId), signal }),
    extend: (dealId, { days, signal }: ExtendDealOptions) =>
      http.json<DealEntry>({
        method: 'POST',
        path: `${pathOf(dealId)}/extend`,
        json: { days },
        // Twice is twice as long.
        mayRepeat: false,
        signal,
      }),
    setRedundancy: (dealId, copies, { signal }: CallOptions = {}) =>
      http.json<DealEntry>({ method: 'PUT', path: `${pathOf(dealId)}/redundancy`, json: { copies }, signal }),
    proofs: (dealId, { signal }: CallOptions = {}) =>
      http.json<DealProofs>({ path: `${pathOf(dealId)}/proofs`, signal }),
  }
}

function pathOf(dealId: string): string {
  return `/api/deals/${encodeURIComponent(dealId)}`
}

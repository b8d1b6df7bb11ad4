import type { DealEntry, DealList } from '@lade/core/wire'
import type { Http } from '../http/http.ts'
import type { CallOptions, DealListOptions, LadeClient } from '../options.ts'
import { allOf } from './pages.ts'

export function dealOperations(http: Http): LadeClient['deals'] {
  return {
    list: ({ signal, ...query }: DealListOptions = {}) =>
      allOf(
        (cursor) => http.json<DealList>({ path: '/api/deals', query: { ...query, cursor }, signal }),
        ({ deals }) => deals,
      ),
    get: (dealId, { signal }: CallOptions = {}) =>
      http.json<DealEntry>({ path: `/api/deals/${encodeURIComponent(dealId)}`, signal }),
  }
}

import type { DealEntry, DealList, DealProofs } from '@lade/core/wire'
import { HEADER } from '@lade/core/wire/headers'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { Http } from '../http/http.ts'
import { refuseUnknownOptions } from '../known-options.ts'
import type { CallOptions, DealListOptions, DealOperations, ExtendDealOptions } from '../options.ts'
import { allOf } from './pages.ts'

export function dealOperations(http: Http): DealOperations {
  return {
    list: (options: DealListOptions = {}) => {
      refuseUnknownOptions('deals.list', options, { limit: true, status: true, signal: true })
      const { signal, ...query } = options
      return allOf(
        (cursor) => http.json<DealList>({ path: '/api/deals', query: { ...query, cursor }, signal }),
        ({ deals }) => deals,
      )
    },
    get: (dealId, { signal }: CallOptions = {}) => http.json<DealEntry>({ path: pathOf(dealId), signal }),
    async extend(dealId, options: ExtendDealOptions) {
      refuseUnknownOptions('deals.extend', options, { days: true, until: true, termDays: true, signal: true })
      const { days, until, termDays, signal } = options
      return http.json<DealEntry>({
        method: 'POST',
        path: `${pathOf(dealId)}/extend`,
        json: { days, until: until?.toISOString(), termDays },
        headers: { [HEADER.idempotencyKey]: newKey() },
        signal,
      })
    },
    setRedundancy: (dealId, copies, { signal }: CallOptions = {}) =>
      http.json<DealEntry>({ method: 'PUT', path: `${pathOf(dealId)}/redundancy`, json: { copies }, signal }),
    proofs: (dealId, { signal }: CallOptions = {}) =>
      http.json<DealProofs>({ path: `${pathOf(dealId)}/proofs`, signal }),
  }
}

function newKey(): string {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(16)))
}

function pathOf(dealId: string): string {
  return `/api/deals/${encodeURIComponent(dealId)}`
}

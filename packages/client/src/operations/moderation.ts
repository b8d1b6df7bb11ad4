import type { BlockedCallerEntry, BlockedCallerList, BlockList, BlockResult, ContentBlockEntry } from '@lade/core/wire'
import type { CallOptions } from '../call-options.ts'
import type { Http } from '../http/http.ts'
import { type OptionNames, refuseUnknownOptions } from '../known-options.ts'
import type { BlockedCallerOperations, BlockOperations, BlockOptions, BlockPageOptions } from '../moderation-options.ts'

const BLOCKS = '/api/admin/blocks'
const CALLERS = '/api/admin/blocked-callers'

const BLOCK_OPTIONS: OptionNames<BlockOptions> = { reason: true, delete: true, signal: true }
const PAGE_OPTIONS: OptionNames<BlockPageOptions> = { cursor: true, limit: true, signal: true }

export function blockOperations(http: Http): BlockOperations {
  return {
    async add(cid, options: BlockOptions) {
      refuseUnknownOptions('admin.blocks.add', options, BLOCK_OPTIONS)
      const { signal, ...rest } = options
      return http.json<BlockResult>({ method: 'POST', path: BLOCKS, json: { cid, ...rest }, signal })
    },
    remove: (cid, { signal }: CallOptions = {}) =>
      http.json<ContentBlockEntry>({ method: 'DELETE', path: `${BLOCKS}/${encodeURIComponent(cid)}`, signal }),
    async page(options: BlockPageOptions = {}) {
      refuseUnknownOptions('admin.blocks.page', options, PAGE_OPTIONS)
      const { signal, ...query } = options
      return http.json<BlockList>({ path: BLOCKS, query, signal })
    },
  }
}

export function blockedCallerOperations(http: Http): BlockedCallerOperations {
  return {
    add: (request, { signal }: CallOptions = {}) =>
      http.json<BlockedCallerEntry>({ method: 'POST', path: CALLERS, json: request, signal }),
    remove: (id, { signal }: CallOptions = {}) =>
      http.json<BlockedCallerEntry>({ method: 'DELETE', path: `${CALLERS}/${id}`, signal }),
    async page(options: BlockPageOptions = {}) {
      refuseUnknownOptions('admin.blockedCallers.page', options, PAGE_OPTIONS)
      const { signal, ...query } = options
      return http.json<BlockedCallerList>({ path: CALLERS, query, signal })
    },
  }
}

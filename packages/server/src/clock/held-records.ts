import type { RecordStore } from '../records/record-store.ts'

/**
 * The records as they are seen while the ends of files wait: a file is live as long as its term was not over when the wait began, and what
 * was to be removed later stays. Other times, such as those of leases, are as the caller says.
 *
 * @param endsAt - undefined while the ends of files do not wait.
 */
export function heldRecords(records: RecordStore, endsAt: () => number | undefined): RecordStore {
  const held = <Request extends { readonly now: number }>(request: Request): Request => {
    const now = endsAt()
    return now === undefined || now >= request.now ? request : { ...request, now }
  }
  const { quotas, files, content, blocks, compositions, discards, instances } = records
  return {
    ...records,
    quotas: {
      ...quotas,
      reserve: (request) => quotas.reserve(held(request)),
      grow: (request) => quotas.grow(held(request)),
      preview: (request) => quotas.preview(held(request)),
      commit: (commit) => quotas.commit(held(commit)),
      commitAtOnce: ({ admit, commit }) => quotas.commitAtOnce({ admit: held(admit), commit: held(commit) }),
      commitTogether: ({ admit, commits }) => quotas.commitTogether({ admit: held(admit), commits: commits.map(held) }),
      release: (request) => quotas.release(held(request)),
      usage: (request) => quotas.usage(held(request)),
    },
    files: {
      ...files,
      serving: (request) => files.serving(held(request)),
      publicUntil: (request) => files.publicUntil(held(request)),
      latest: (request) => files.latest(held(request)),
      list: (request) => files.list(held(request)),
      listDeals: (request) => files.listDeals(held(request)),
      change: (request) => files.change(held(request)),
      remove: (request) => files.remove({ endedAt: request.now, ...held(request) }),
      expire: (request) => files.expire(held(request)),
      releaseEnded: (request) => files.releaseEnded(held(request)),
      revive: (request) => files.revive(held(request)),
    },
    content: { pieces: (request) => content.pieces(held(request)) },
    blocks: { ...blocks, find: (request) => blocks.find(held(request)) },
    compositions: {
      ...compositions,
      find: (request) => compositions.find(held(request)),
      commit: (commit) => compositions.commit(held(commit)),
    },
    discards: {
      ...discards,
      pending: (request) => discards.pending(held(request)),
      begin: (request) => discards.begin(held(request)),
    },
    // Its time is that of the removals which it plans.
    instances: { ...instances, deregister: (request) => instances.deregister(held(request)) },
    underLease: (fence) => heldRecords(records.underLease(fence), endsAt),
  }
}

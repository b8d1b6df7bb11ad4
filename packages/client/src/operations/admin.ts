import type { AdminOverview } from '@lade/core/wire'
import type { AdminOperations } from '../admin-options.ts'
import type { CallOptions } from '../call-options.ts'
import type { Http } from '../http/http.ts'
import { blockedCallerOperations, blockOperations } from './moderation.ts'

export function adminOperations(http: Http): AdminOperations {
  return {
    blocks: blockOperations(http),
    blockedCallers: blockedCallerOperations(http),
    overview: ({ signal }: CallOptions = {}) => http.json<AdminOverview>({ path: '/api/admin/overview', signal }),
  }
}

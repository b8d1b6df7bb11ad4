import type { AdminOverview } from '@lade/core/wire'
import type { AdminOperations } from '../admin-options.ts'
import type { CallOptions } from '../call-options.ts'
import type { Http } from '../http/http.ts'

export function adminOperations(http: Http): AdminOperations {
  return {
    overview: ({ signal }: CallOptions = {}) => http.json<AdminOverview>({ path: '/api/admin/overview', signal }),
  }
}

import type { EndSessionResult, SessionList, SessionResult, SessionState } from '@lade/core/wire'
import type { Http } from '../http/http.ts'
import type { SessionOperations } from '../options.ts'

const PATH = '/api/session'

export function sessionOperations(http: Http): SessionOperations {
  return {
    get: ({ signal } = {}) => http.json<SessionState>({ path: PATH, isOpen: true, signal }),
    /** A code and a nonce are good once, so a sign-in whose answer was lost is not repeated. */
    async open(json, { signal } = {}) {
      const once = { mayRepeat: false, isOpen: true, signal } as const
      return (await http.json<SessionResult>({ method: 'POST', path: PATH, json, ...once })).session
    },
    async close({ signal } = {}) {
      await http.send({ method: 'DELETE', path: PATH, isOpen: true, signal })
    },
    list: ({ signal } = {}) => http.json<SessionList>({ path: '/api/sessions', signal }),
    end: (id, { signal } = {}) =>
      http.json<EndSessionResult>({ method: 'DELETE', path: `/api/sessions/${encodeURIComponent(id)}`, signal }),
  }
}

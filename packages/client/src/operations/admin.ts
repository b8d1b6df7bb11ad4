import type {
  AdminFileList,
  AdminJobs,
  AdminLimits,
  AdminOverview,
  AdminPrincipal,
  AdminPrincipalList,
  AdminUploadList,
  AuditPage,
  PersonalDataErased,
} from '@lade/core/wire'
import type { AdminOperations } from '../admin-options.ts'
import type { CallOptions } from '../call-options.ts'
import type { Http } from '../http/http.ts'
import { blockedCallerOperations, blockOperations } from './moderation.ts'

export function adminOperations(http: Http): AdminOperations {
  const get = <Result>(path: string, { signal, ...query }: CallOptions & object = {}) =>
    http.json<Result>({ path: `/api/admin/${path}`, query, signal })
  return {
    blocks: blockOperations(http),
    blockedCallers: blockedCallerOperations(http),
    overview: (options) => get<AdminOverview>('overview', options),
    principals: (options) => get<AdminPrincipalList>('principals', options),
    principal: (principal, options) => get<AdminPrincipal>(`principals/${encodeURIComponent(principal)}`, options),
    setLimits: (principal, limits, { signal } = {}) =>
      http.json<AdminLimits>({
        method: 'PUT',
        path: `/api/admin/principals/${encodeURIComponent(principal)}/limits`,
        json: limits,
        signal,
      }),
    files: (options) => get<AdminFileList>('files', options),
    uploads: (options) => get<AdminUploadList>('uploads', options),
    jobs: (options) => get<AdminJobs>('jobs', options),
    audit: (options) => get<AuditPage>('audit', options),
    auditLines: ({ signal } = {}) => linesOf(() => http.send({ path: '/api/admin/audit.jsonl', signal })),
    personalData: (caller, { signal } = {}) =>
      linesOf(() => http.send({ method: 'POST', path: '/api/admin/personal-data/export', json: { caller }, signal })),
    erasePersonalData: (caller, { signal } = {}) =>
      http.json<PersonalDataErased>({
        method: 'POST',
        path: '/api/admin/personal-data/erase',
        json: { caller },
        signal,
      }),
  }
}

/** The lines of a response, as they arrive. */
async function* linesOf(send: () => Promise<Response>): AsyncGenerator<string, void, undefined> {
  const { body } = await send()
  if (body === null) return
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

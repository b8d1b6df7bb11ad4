import type { InfoResult, PieceCidsResult } from '@lade/core/wire'
import type { Http } from '../http/http.ts'
import type { CallOptions } from '../options.ts'

/** Asked by POST, whose body takes ten times as many as a query. */
export function readPieceCids(
  http: Http,
  cids: readonly string[],
  { signal }: CallOptions = {},
): Promise<PieceCidsResult> {
  return http.json<PieceCidsResult>({ method: 'POST', path: '/api/piece-cids', json: { cids }, signal })
}

export function readInfo(http: Http, { signal }: CallOptions = {}): Promise<InfoResult> {
  return http.json<InfoResult>({ path: '/api/info', isOpen: true, signal })
}

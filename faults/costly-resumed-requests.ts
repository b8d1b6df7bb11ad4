import { randomUUID } from 'node:crypto'
import { type Caller, send } from './caller.ts'
import { mislabelledContent, sha256Hex } from './content.ts'
import type { CostlyRequest } from './costly-request.ts'

const MIB = 1024 * 1024

/**
 * The worst requests that are known for uploads in several requests.
 *
 * @param user - has a token.
 * @param dagPbCid - of no bytes that are sent.
 */
export async function costlyResumedRequests(origin: URL, user: Caller, dagPbCid: string): Promise<CostlyRequest[]> {
  const tus = { ...user.headers, 'Tus-Resumable': '1.0.0' }
  const body = mislabelledContent(MIB).bytes()
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const wrongCid = `cid ${base64(dagPbCid)}`
  const opened = await send(origin, 'POST', '/api/tus', {
    headers: { ...tus, 'Content-Length': '0', 'Upload-Length': String(2 * MIB), 'Upload-Metadata': wrongCid },
  })
  const { pathname: path } = new URL(String(opened.headers.location))
  const id = path.split('/').at(-1) ?? ''
  const bytes = { ...tus, 'Content-Type': 'application/offset+octet-stream' }
  return [
    {
      route: 'post /api/tus',
      what: '1 MiB under a wrong dag-pb id',
      path: '/api/tus',
      headers: { ...bytes, 'Upload-Length': String(MIB), 'Upload-Metadata': wrongCid },
      body,
      statuses: [422],
    },
    {
      route: 'post /api/tus',
      what: 'a concatenation of 300 unknown parts',
      path: '/api/tus',
      headers: {
        ...tus,
        'Content-Length': '0',
        'Upload-Concat': `final;${Array.from({ length: 300 }, () => randomUUID()).join(' ')}`,
      },
      statuses: [404],
    },
    {
      route: 'patch /api/tus/{id}',
      what: '1 MiB with a wrong checksum',
      path,
      headers: { ...bytes, 'Upload-Offset': '0', 'Upload-Checksum': `sha512 ${base64(sha256Hex(body))}` },
      body,
      statuses: [460],
    },
    {
      route: 'delete /api/tus/{id}',
      what: 'an unknown upload',
      path: `/api/tus/${randomUUID()}`,
      headers: tus,
      statuses: [404],
    },
    {
      route: 'patch /api/upload/{id}',
      what: '1 MiB at another offset',
      path: `/api/upload/${id}`,
      headers: {
        ...user.headers,
        'Content-Type': 'application/partial-upload',
        'Upload-Complete': '?0',
        'Upload-Offset': '5',
      },
      body,
      statuses: [409],
    },
    {
      route: 'delete /api/upload/{id}',
      what: 'an unknown upload',
      path: `/api/upload/${randomUUID()}`,
      headers: user.headers,
      statuses: [404],
    },
  ]
}

import type { IncomingMessage } from 'node:http'
import type { ContentId } from '@lade/core/content'
import { readingDirectory } from '../../../directories/directory-reading.ts'
import { cidOf } from '../../../retrieval/content-cid.ts'
import { requestPrincipal } from '../../request-principal.ts'
import type { Service } from '../../service.ts'
import type { VisibleFile } from './visible-file.ts'

/**
 * What a CID names that is a block inside of a CAR: a file by the view `unixfs`, or else a DAG, which goes on being `inside`.
 *
 * @throws {LadeError} `storage_failed`, `over_budget`.
 */
export function fileInside(
  service: Service,
  { cid }: ContentId,
  found: VisibleFile,
  request: IncomingMessage,
): Promise<VisibleFile> {
  if (cid === undefined) return Promise.resolve({ ...found, view: 'unixfs' })
  const principal = requestPrincipal(service, request)
  return readingDirectory(service, { file: found.file, principal }, async (reader) => {
    const { answer: node } = await reader.read(cidOf(cid), { ask: 'node' })
    return node.kind === 'file' ? { ...found, view: 'unixfs' } : found
  })
}

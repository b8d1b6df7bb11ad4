import { expect } from 'vitest'
import { carOf, type TestDag } from '../../../retrieval/testing-dags.ts'
import type { RunningService, UploadOptions } from '../../../testing/running/running-service.ts'

/** Uploads a DAG as a CAR under its root, and answers the root as text. */
export async function uploadDag(service: RunningService, dag: TestDag, options: UploadOptions = {}): Promise<string> {
  const cid = dag.root.toString()
  const headers = { 'content-type': 'application/vnd.ipld.car', ...options.headers }
  const answer = await service.upload(await carOf(dag.root, dag.blocks), { ...options, cid, headers })
  expect(answer.status, await answer.text()).toBe(200)
  return cid
}

/** One answer, whole. Redirects are not followed. */
export async function answerAt(service: RunningService, path: string, init: RequestInit = {}) {
  const response = await service.fetch(path, { redirect: 'manual', ...init })
  const bytes = Buffer.from(await response.arrayBuffer())
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    bytes,
    text: bytes.toString(),
    json: <Shape>() => JSON.parse(bytes.toString()) as Shape,
  }
}

/** What a browser sends that opens a page. */
export const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

import { expect } from 'vitest'
import { Caller } from './caller.ts'
import type { Target } from './target.ts'

/** The same caller at one instance: only there a newer request for an upload ends the one before. */
export function direct({ directUrl }: Pick<Target, 'directUrl'>, { contentUrl, headers }: Caller): Caller {
  return new Caller(directUrl, contentUrl, headers)
}

/** These bytes are served under this id. */
export async function expectStored(caller: Caller, cid: string, bytes: Uint8Array): Promise<void> {
  const got = await caller.retrieve(cid)
  expect(got.status, got.body.toString()).toBe(200)
  expect(Buffer.compare(got.body, bytes)).toBe(0)
}

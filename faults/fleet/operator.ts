import { randomBytes } from 'node:crypto'
import { type Answer, send } from '../caller.ts'
import { adminToken } from './admin-token.ts'

/** The key that a fleet signs with, so that an operator's token can be minted for it. */
export const TOKEN_KEY = { LADE_TOKEN_KEY: randomBytes(32).toString('hex') }

/** One request of an operator. @throws {Error} for any answer but 200. */
export type Operator = <Body>(origin: URL, method: string, path: string, json?: object) => Promise<Body>

/** An operator of fleets that sign with {@link TOKEN_KEY}. */
export async function operatorOf(): Promise<Operator> {
  const headers = { Authorization: `Bearer ${await adminToken(TOKEN_KEY)}` }
  return async <Body>(origin: URL, method: string, path: string, json?: object) => {
    const body = json === undefined ? {} : { body: Buffer.from(JSON.stringify(json)) }
    const type = json === undefined ? {} : { 'Content-Type': 'application/json' }
    const answer: Answer = await send(origin, method, path, { headers: { ...headers, ...type }, ...body })
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.body}`)
    return JSON.parse(answer.body.toString()) as Body
  }
}

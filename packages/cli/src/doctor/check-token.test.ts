import type { LadeClient } from '@lade/client'
import { LadeError } from '@lade/core/errors'
import { describe, expect, it } from 'vitest'
import type { Account } from '../account/connection.ts'
import { checkToken } from './check-token.ts'

const NOW = new Date('2026-11-21T10:00:00Z')
const DAY_SECONDS = 86_400

function accountWith(payload: Record<string, unknown>): Account {
  const token = `pk_live_e30.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.x`
  const saved = { logins: { tokens: {} }, file: '', exists: true, warnings: [] }
  return { url: 'http://lade.test', token, tokenFrom: 'LADE_TOKEN', saved }
}
const expiring = (days: number) => NOW.getTime() / 1000 + days * DAY_SECONDS
const answering = (usage: () => Promise<unknown>) => ({ usage }) as unknown as LadeClient
const taken = answering(async () => ({}))
const scopes = ['put', 'get', 'list', 'pin']

describe('checkToken', () => {
  it('says whose a good token is, what it allows and how long', async () => {
    const account = accountWith({ email: 'ada@example.org', scopes, exp: expiring(100) })
    expect(await checkToken(account, taken, NOW)).toEqual({
      check: 'token',
      state: 'ok',
      sentence: 'The token from LADE_TOKEN is valid for ada@example.org, allows everything, and expires in 100 days.',
    })
  })

  it('names the scopes that it lacks, also when the service could not be asked for want of one', async () => {
    const client = answering(async () => {
      throw new LadeError('insufficient_scope', { required: 'list' })
    })
    const account = accountWith({ email: 'ada@example.org', scopes: ['put'], exp: expiring(100) })
    expect(await checkToken(account, client, NOW)).toMatchObject({
      state: 'ok',
      sentence: expect.stringContaining('allows put and not get, list, pin'),
    })
  })

  it('warns two weeks before the end', async () => {
    expect(await checkToken(accountWith({ scopes, exp: expiring(13) }), taken, NOW)).toMatchObject({
      state: 'warning',
      sentence: expect.stringContaining('expires in 13 days'),
    })
  })

  it('finds one that is refused', async () => {
    const client = answering(async () => {
      throw new LadeError('revoked_token', { jti: 'x' })
    })
    expect(await checkToken(accountWith({ scopes }), client, NOW)).toMatchObject({
      state: 'broken',
      sentence: expect.stringContaining('was revoked. Get a new one with "lade login".'),
    })
  })

  it('does not mind that there is none', async () => {
    const { token: _, tokenFrom: __, ...account } = accountWith({})
    expect((await checkToken(account, taken, NOW)).state).toBe('unknown')
  })
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ErrorCode, LadeError } from '@lade/core/errors'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openSqliteRecordStore } from '../records/drivers/sqlite/sqlite-record-store.ts'
import type { RecordStore, TokenRecords } from '../records/record-store.ts'
import { newDatabase } from '../records/testing-new-database.ts'
import { createAuthorizer } from './authorize.ts'
import { mintToken } from './mint-token.ts'
import { SigningKeys } from './signing-keys.ts'
import { claimsOf, NOW, testKey } from './testing-token-jwt.ts'

const key = await testKey()
const claims = claimsOf()
const token = await mintToken(claims, key)

let dir = ''
let records: RecordStore
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'lade-authorize-'))
  records = await openSqliteRecordStore({ file: newDatabase(join(dir, 'lade.db')), onFatal: () => {} })
})
afterEach(async () => {
  await records.close()
  rmSync(dir, { recursive: true, force: true })
})

const clock = { now: NOW.getTime() }
function authorizerWith(changes: Partial<TokenRecords> = {}) {
  const tokens = { ...records.tokens, ...changes }
  return createAuthorizer({ keys: new SigningKeys(key), records: { tokens }, now: () => clock.now })
}
const listed = async () => (await records.tokens.list({ sub: claims.sub })).map(({ jti }) => jti)

describe('createAuthorizer', () => {
  it('records a token that was issued elsewhere once, however many requests come at the same time', async () => {
    const record = vi.fn(records.tokens.record)
    const authorizer = authorizerWith({ record })
    await Promise.all(Array.from({ length: 50 }, () => authorizer.authorize(token)))
    clock.now += 5000
    await authorizer.authorize(token)
    await authorizerWith({ record }).authorize(token)
    expect(record).toHaveBeenCalledTimes(1)
    expect(await listed()).toEqual([claims.jti])
  })

  it.each<ErrorCode>(['read_only', 'insufficient_storage', 'storage_failed'])(
    'accepts such a token while the records answer writes with %s, and records it later',
    async (code) => {
      let isWritable = false
      const authorizer = authorizerWith({
        record: async (request) => {
          if (!isWritable) throw new LadeError(code as 'read_only', { retryAfterSeconds: 1 })
          await records.tokens.record(request)
        },
      })
      expect((await authorizer.authorize(token)).jti).toBe(claims.jti)
      expect(await listed()).toEqual([])
      isWritable = true
      clock.now += 1000
      await authorizer.authorize(token)
      expect(await listed()).toEqual([claims.jti])
    },
  )

  it('error: another failure of the records is one of the request', async () => {
    const failure = new TypeError('unforeseen')
    await expect(authorizerWith({ record: () => Promise.reject(failure) }).authorize(token)).rejects.toBe(failure)
  })

  it('refuses a token at once that this process revoked while it was being checked', async () => {
    const [checked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const authorizer = authorizerWith({
      record: async (request) => {
        checked.resolve()
        await held.promise
        await records.tokens.record(request)
      },
    })
    const first = authorizer.authorize(token)
    await checked.promise
    await records.tokens.revokeAny({ jti: claims.jti, now: clock.now, keepsLinks: false })
    authorizer.forget(claims.jti)
    held.resolve()
    await first
    await expect(authorizer.authorize(token)).rejects.toMatchObject({ code: 'revoked_token' })
  })
})

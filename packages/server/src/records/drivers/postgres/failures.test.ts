import { DatabaseError } from 'pg'
import { describe, expect, test } from 'vitest'
import { OutcomeUnknown } from '../../outcome-unknown.ts'
import { isKeyTaken, translatedFailure, type Verdict, verdictOf } from './failures.ts'

const failed = (code: string, message = 'it failed'): Error => Object.assign(new Error(message), { code })

describe('verdictOf', () => {
  test.each<[Verdict, string, string]>([
    ['again', '40001', 'serialization_failure'],
    ['again', '40P01', 'deadlock_detected'],
    ['again', '55P03', 'lock_not_available'],
    ['again', '23505', 'unique_violation'],
    ['again', '57014', 'query_canceled'],
    ['lost', '08000', 'connection_exception'],
    ['lost', '08003', 'connection_does_not_exist'],
    ['lost', '08006', 'connection_failure'],
    ['lost', '08P01', 'protocol_violation'],
    ['lost', '57P01', 'admin_shutdown'],
    ['lost', '57P02', 'crash_shutdown'],
    ['lost', '57P03', 'cannot_connect_now'],
    ['lost', '57P05', 'idle_session_timeout'],
    ['lost', '58000', 'system_error'],
    ['lost', '58030', 'io_error'],
    ['lost', '53300', 'too_many_connections'],
    ['lost', '53200', 'out_of_memory'],
    ['lost', '25006', 'read_only_sql_transaction'],
    ['lost', '25P03', 'idle_in_transaction_session_timeout'],
    ['lost', '25P04', 'transaction_timeout'],
    ['lost', '0A000', 'feature_not_supported'],
    ['lost', '26000', 'invalid_sql_statement_name'],
    ['full', '53100', 'disk_full'],
    ['fault', '23502', 'not_null_violation'],
    ['fault', '23503', 'foreign_key_violation'],
    ['fault', '23514', 'check_violation'],
    ['fault', '22021', 'character_not_in_repertoire'],
    ['fault', '25P02', 'in_failed_sql_transaction'],
    ['fault', '28P01', 'invalid_password'],
    ['fault', '3D000', 'invalid_catalog_name'],
    ['fault', '42601', 'syntax_error'],
    ['fault', '42P01', 'undefined_table'],
    ['fault', 'XX001', 'data_corrupted'],
  ])('%s: %s, %s', (verdict, code, name) => {
    expect(verdictOf(Object.assign(new DatabaseError(name, 0, 'error'), { code }))).toBe(verdict)
  })

  // What pg 8.23 and pg-pool 3.14 say without a code.
  test.each([
    'Connection terminated',
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'Query read timeout',
    'timeout expired',
    'timeout exceeded when trying to connect',
    'Client was closed and is not queryable',
    'Client has encountered a connection error and is not queryable',
    'There was an error establishing an SSL connection',
    'Received unexpected rowDescription message from backend.',
    'Received unexpected parseComplete message from backend.',
  ])('lost: %s', (message) => {
    expect(verdictOf(new Error(message))).toBe('lost')
  })

  test.each([
    'EADDRNOTAVAIL',
    'EAI_AGAIN',
    'ECONNABORTED',
    'ECONNREFUSED',
    'ECONNRESET',
    'EHOSTUNREACH',
    'EMFILE',
    'ENETUNREACH',
    'ENOENT',
    'ENOTFOUND',
    'EPIPE',
    'ERR_STREAM_DESTROYED',
    'ETIMEDOUT',
  ])('lost: a socket that fails with %s', (code) => {
    expect(verdictOf(failed(code))).toBe('lost')
    expect(verdictOf(Object.assign(new AggregateError([failed(code)]), { code }))).toBe('lost')
  })

  test.each([
    new TypeError('x is undefined'),
    new Error('The server does not support SSL connections'),
    new Error('Cannot use a pool after calling end on the pool'),
    failed('ERR_INVALID_ARG_TYPE'),
    failed('EACCES'),
    'a text',
    undefined,
  ])('fault: %s', (error) => {
    expect(verdictOf(error)).toBe('fault')
  })

  test('lost: a COMMIT of which nobody knows, whatever kept from asking', () => {
    expect(verdictOf(new OutcomeUnknown(failed('28P01')))).toBe('lost')
  })
})

describe('isKeyTaken', () => {
  test('tells the key of a write from other things that are there already', () => {
    const violation = (table: string): Error => Object.assign(failed('23505'), { table })
    expect(isKeyTaken(violation('write_keys'))).toBe(true)
    expect(isKeyTaken(violation('objects'))).toBe(false)
    expect(isKeyTaken(Object.assign(failed('40001'), { table: 'write_keys' }))).toBe(false)
  })
})

describe('translatedFailure', () => {
  test('tells callers that the database takes no writes', () => {
    const cause = failed('25006', 'cannot execute INSERT in a read-only transaction')
    expect(translatedFailure(cause)).toMatchObject({ code: 'read_only', cause })
  })

  test('says that there is no room, and else that storage failed, and keeps the cause', () => {
    const full = failed('53100')
    expect(translatedFailure(full)).toMatchObject({ code: 'insufficient_storage', cause: full })
    for (const cause of [failed('40001'), failed('42601'), failed('ECONNREFUSED'), new OutcomeUnknown(full)]) {
      expect(translatedFailure(cause)).toMatchObject({ code: 'storage_failed', cause })
      expect(translatedFailure(translatedFailure(cause))).toMatchObject({ cause })
    }
  })

  test('tells callers nothing of what the database said', () => {
    const told = translatedFailure(failed('3D000', 'database "secret" does not exist'))
    expect(told.message).not.toContain('secret')
  })
})

import { open } from 'node:fs/promises'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { describeSystemError, isSystemError, systemReason } from './system-error.ts'

const caught = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

test('says what could not be done, to which file, and why', async () => {
  const error = await caught(open('/nowhere/at/all'))
  if (!isSystemError(error)) throw new TypeError('not an error of the system')
  expect(describeSystemError(error)).toBe('Cannot open /nowhere/at/all: there is no such file or folder.')
})

test('names the address that is taken', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  const second = createServer()
  const error = await new Promise((resolve) => second.once('error', resolve).listen(port, '127.0.0.1'))
  taken.close()
  if (!isSystemError(error)) throw new TypeError('not an error of the system')
  expect(describeSystemError(error)).toBe(`Cannot listen on 127.0.0.1:${port}: another program uses this address.`)
})

test('keeps the words of what it does not know', () => {
  const odd = Object.assign(new Error('EODD: odd'), { code: 'EODD', syscall: 'open' })
  expect(describeSystemError(odd)).toBe('EODD: odd.')
  expect(systemReason(odd)).toBe('EODD: odd')
  expect(systemReason(Object.assign(new Error(''), { code: 'ESILENT' }))).toBe('ESILENT')
  expect(isSystemError(new Error('no'))).toBe(false)
})

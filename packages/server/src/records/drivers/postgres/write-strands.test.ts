import { describe, expect, test } from 'vitest'
import type { WriteCall } from './write-call.ts'
import { sideBySide, stagesOf } from './write-strands.ts'

function upload(principal: string, sha256: string, other: object = {}): WriteCall {
  const content = { pieceRoot: `root of ${sha256}`, aliases: [] }
  const file = { principal, sha256, key: `sha256:${sha256}` }
  const input = { admit: { principal }, commit: { file, content, ...other } }
  return { name: 'quotas.commitAtOnce', input: input as never, fence: undefined }
}

describe('stagesOf', () => {
  test('puts uploads of different principals and bytes side by side', () => {
    expect(stagesOf([upload('user:a', '1'), upload('user:b', '2'), upload('user:c', '3')])).toEqual([[[0], [1], [2]]])
  })

  test('has uploads follow each other that share a quota or bytes, also by way of others', () => {
    const calls = [upload('user:a', '1'), upload('user:b', '2'), upload('user:c', '3'), upload('user:a', '2')]
    expect(stagesOf(calls)).toEqual([[[0, 1, 3], [2]]])
  })

  test('has uploads follow each other whose names meet', () => {
    const content = { pieceRoot: 'other root', aliases: [{ key: 'sha256:1', view: 'bytes' }] }
    expect(stagesOf([upload('user:a', '1'), upload('user:b', '2', { content })])).toEqual([[[0, 1]]])
  })

  test('has every other write by itself, where it came', () => {
    const removal: WriteCall = { name: 'files.remove', input: { principal: 'user:c' } as never, fence: undefined }
    const calls = [upload('user:a', '1'), removal, upload('user:b', '2'), upload('user:d', '3', { folder: {} })]
    expect(stagesOf(calls)).toEqual([[[0]], [[1]], [[2]], [[3]]])
  })
})

describe('sideBySide', () => {
  test('error: waits for all, and throws what failed first', async () => {
    const ended: string[] = []
    const late = async (hasFailed: () => boolean): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 10))
      ended.push(hasFailed() ? 'knows' : 'does not know')
      throw new Error('because of it')
    }
    const tasks = [late, () => Promise.reject(new Error('first')), late]
    await expect(sideBySide(tasks)).rejects.toThrow('first')
    expect(ended).toEqual(['knows', 'knows'])
  })
})

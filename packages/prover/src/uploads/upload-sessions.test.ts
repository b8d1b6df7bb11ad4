import { HOUR_MS } from '@lade/core/time'
import { describe, expect, test } from 'vitest'
import type { PendingPiece } from '../pieces/pending-piece.ts'
import { UploadSessions } from './upload-sessions.ts'

describe('UploadSessions', () => {
  test('forgets an upload after an hour without a sign of life, with the bytes that it had', async () => {
    let time = 0
    const discarded: string[] = []
    const discard = async ({ path }: PendingPiece) => void discarded.push(path)
    const sessions = new UploadSessions({ now: () => time, discard })
    const open = async (path: string) => {
      const pending = { path, pieceCid: path, root: new Uint8Array(32), rawSizeBytes: 0, level: undefined }
      return (await sessions.open({ kind: 'streaming', pending })) ?? ''
    }
    const [left, used] = [await open('left'), await open('used')]
    time = HOUR_MS - 1
    expect(sessions.find(used, 'streaming')).toBeDefined()
    time = HOUR_MS
    await sessions.sweep()
    expect(discarded).toEqual(['left'])
    expect(sessions.find(left, 'streaming')).toBeUndefined()
    expect(sessions.find(used, 'streaming')).toBeDefined()
    expect(sessions.find(used, 'named')).toBeUndefined()
  })

  test('has room for ten thousand, and again when some are old', async () => {
    let time = 0
    const sessions = new UploadSessions({ now: () => time, discard: async () => {} })
    const open = () => sessions.open({ kind: 'streaming', pending: undefined })
    for (let count = 0; count < 10_000; count += 1) expect(await open()).toBeDefined()
    expect(await open()).toBeUndefined()
    time = HOUR_MS
    expect(await open()).toBeDefined()
  })
})

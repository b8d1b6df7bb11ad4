import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { diskRoom } from './disk-room.ts'
import { RESERVE_BYTES, roomReserve } from './room-reserve.ts'

describe('on the disk of the records', () => {
  let dir: string
  let file: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lade-room-'))
    file = join(dir, 'lade.db')
    writeFileSync(file, '')
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  it('a reserve is made, given up once, and made again, also what is missing of it', async () => {
    const reserve = roomReserve(file)
    expect(reserve.giveUp()).toBe(false)
    await reserve.restore()
    expect(reserve.sizeBytes()).toBe(RESERVE_BYTES)
    writeFileSync(join(dir, 'lade.db-reserve', '3'), 'cut off by a crash')
    await reserve.restore()
    expect(reserve.sizeBytes()).toBe(RESERVE_BYTES)
    expect(reserve.giveUp()).toBe(true)
    expect([reserve.sizeBytes(), reserve.giveUp()]).toEqual([0, false])
  })

  it('uploads are refused that would leave too little, and removals are not', () => {
    const room = diskRoom({ file, minFreeBytes: Number.MAX_SAFE_INTEGER })
    for (const name of ['quotas.reserve', 'quotas.commitAtOnce', 'compositions.commit'] as const) {
      expect(() => room.requireFor(name, {})).toThrow(expect.objectContaining({ code: 'insufficient_storage' }))
    }
    for (const name of ['files.remove', 'tokens.revoke', 'files.expire'] as const) room.requireFor(name, {})
    diskRoom({ file, minFreeBytes: 0 }).requireFor('quotas.reserve', {})
  })
})

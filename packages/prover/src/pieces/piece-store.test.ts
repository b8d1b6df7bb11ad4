import { open, readdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { pieceOf, type TestPiece, temporaryDir } from '../testing/harness.ts'
import { PieceStore } from './piece-store.ts'

const LIMITS = { maxBytes: 1_000_000, idleMs: 1000 }
const openStore = (dir: string) => PieceStore.open({ dir, now: () => 1 })

async function keep(store: PieceStore, { bytes }: TestPiece) {
  return store.keep(await store.receive(Readable.from([bytes]), LIMITS))
}

describe('PieceStore', () => {
  test('holds at its start the files that are whole pieces, and leaves all others alone', async () => {
    const dir = await temporaryDir()
    const store = await openStore(dir)
    const [whole, short] = [pieceOf(100_000, 1), pieceOf(100_000, 2)]
    for (const piece of [whole, short]) await keep(store, piece)
    await truncate(join(dir, 'pieces', short.pieceCid), 99_999)
    await writeFile(join(dir, 'pieces', 'notes.txt'), 'mine')
    await writeFile(join(dir, 'pieces', whole.pieceCid.toUpperCase()), whole.bytes)

    const again = await openStore(dir)
    expect(again.get(whole.pieceCid)).toMatchObject({ rawSizeBytes: 100_000, storedAt: 0 })
    expect(again.get(short.pieceCid)).toBeUndefined()
    expect(await readdir(join(dir, 'pieces'))).toHaveLength(4)
    expect(await readdir(join(dir, 'levels'))).toEqual([whole.pieceCid])
    await keep(again, short)
    expect(again.get(short.pieceCid)).toBeDefined()
  })

  test('flushes the bytes before they get their name, and then the name', async () => {
    const dir = await temporaryDir()
    const store = await openStore(dir)
    const handle = await open(dir)
    const sync = vi.spyOn(Object.getPrototypeOf(handle), 'sync')
    onTestFinished(() => sync.mockRestore())
    await handle.close()
    const pending = await store.receive(Readable.from([pieceOf(500).bytes]), LIMITS)
    expect(sync).toHaveBeenCalledTimes(1)
    expect(await readdir(join(dir, 'pieces'))).toEqual([])
    await store.keep(pending)
    expect(sync).toHaveBeenCalledTimes(2)
  })

  test('throws a piece away, and takes its bytes in again at that very moment', async () => {
    const dir = await temporaryDir()
    const store = await openStore(dir)
    const piece = pieceOf(100_000)
    const held = await keep(store, piece)
    const reader = await store.read(held)
    const pending = await store.receive(Readable.from([piece.bytes]), LIMITS)
    const [, again] = await Promise.all([store.remove(piece.pieceCid), store.keep(pending)])
    expect(store.get(piece.pieceCid)).toEqual(again)
    expect(await readdir(join(dir, 'pieces'))).toEqual([piece.pieceCid])
    expect(await reader?.read(99_999, 1)).toHaveLength(1)
    await reader?.close()

    const other = await store.receive(Readable.from([piece.bytes]), LIMITS)
    await Promise.all([store.keep(other), store.remove(piece.pieceCid)])
    expect(await readdir(join(dir, 'pieces'))).toEqual([piece.pieceCid])
    await store.remove(piece.pieceCid)
    expect(store.get(piece.pieceCid)).toBeUndefined()
    expect(store.getByRoot(held.root)).toBeUndefined()
    expect([await readdir(join(dir, 'pieces')), await readdir(join(dir, 'levels'))]).toEqual([[], []])
    await store.remove(piece.pieceCid)
  })

  test('no longer holds a piece whose file is gone, and keeps it again', async () => {
    const dir = await temporaryDir()
    const store = await openStore(dir)
    const piece = pieceOf(500)
    const held = await keep(store, piece)
    const other = await openStore(await temporaryDir())
    expect(await other.read(held)).toBeUndefined()
    const reader = await store.read(held)
    expect(await reader?.read(100, 50)).toEqual(Buffer.from(piece.bytes.subarray(100, 150)))
    await expect(reader?.read(490, 11)).rejects.toThrow('ends before')
    await reader?.close()
  })
})

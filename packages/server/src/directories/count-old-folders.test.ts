import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileEntry } from '@lade/core/wire'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { carOf, directoryDag, fileDag } from '../retrieval/testing-dags.ts'
import { bearer, type RunningService, runService } from '../testing/running/running-service.ts'

const CAR = { 'content-type': 'application/vnd.ipld.car' }

describe('countOldFolders', () => {
  let dataDir: string
  let service: RunningService
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'lade-count-'))
  })
  afterEach(async () => {
    await service.remove()
    rmSync(dataDir, { recursive: true, force: true })
  })

  it('shows directories as folders that were uploaded before there were any', async () => {
    service = await runService({ dataDir })
    const { token } = await service.signUp()
    const folder = await directoryDag({ 'a.txt': Buffer.from('a'), 'sub/b.txt': Buffer.from('bc') })
    const hidden = await directoryDag({ 'c.txt': Buffer.from('secret') })
    const file = await fileDag(Buffer.alloc(1_500_000, 'x'))
    await service.upload(await carOf(folder.root, folder.blocks), { cid: `${folder.root}`, token, headers: CAR })
    const secret = { ...CAR, 'x-visibility': 'private' }
    await service.upload(await carOf(hidden.root, hidden.blocks), { cid: `${hidden.root}`, token, headers: secret })
    await service.upload(await carOf(file.root, file.blocks), { cid: `${file.root}`, token, headers: CAR })
    await service.close()
    const db = new Database(join(dataDir, 'lade.db'))
    db.exec(
      "UPDATE files SET folder_files = NULL, folder_bytes = NULL; DELETE FROM marks WHERE name = 'folders-counted'",
    )
    db.close()

    service = await runService({ dataDir })
    const entry = async (cid: unknown) => {
      const response = await service.fetch(`/api/files/${cid}`, { headers: bearer(token) })
      const { kind, files, bytes } = (await response.json()) as FileEntry
      return { kind, files, bytes }
    }
    await expect.poll(() => entry(folder.root)).toEqual({ kind: 'folder', files: 2, bytes: 3 })
    await expect.poll(() => entry(hidden.root)).toEqual({ kind: 'folder', files: 1, bytes: 6 })
    expect(await entry(file.root)).toEqual({})
  })
})

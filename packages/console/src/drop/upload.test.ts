import { expect, test } from 'vitest'
import { folderOf } from './chosen-folder.ts'
import { Upload } from './upload.ts'

const FOLDER = folderOf(
  'site',
  [
    { path: 'small.txt', file: new Blob(['small']) },
    { path: 'docs/large.txt', file: new Blob(['larger than that']) },
  ],
  false,
)

test('a folder counts what the service has as sent, once the service has said what it misses', () => {
  const upload = new Upload({ kind: 'folder', folder: FOLDER })
  expect(upload.largest).toEqual({ sizeBytes: 16, path: 'docs/large.txt' })
  const known = { phase: 'sending', files: 2, sizeBytes: 21, hashedBytes: 21 } as const
  upload.noteFolder({ ...known, toSend: { files: 0, bytes: 0 }, sent: { files: 0, bytes: 0 } })
  expect([upload.doneFiles.value, upload.sentBytes.value]).toEqual([0, 0])
  upload.noteFolder({ ...known, toSend: { files: 1, bytes: 16 }, sent: { files: 0, bytes: 4 } })
  expect([upload.doneFiles.value, upload.sentBytes.value]).toEqual([1, 9])
  // More was missing than it had said first.
  upload.noteFolder({ ...known, toSend: { files: 2, bytes: 21 }, sent: { files: 0, bytes: 4 } })
  expect([upload.doneFiles.value, upload.sentBytes.value]).toEqual([1, 9])
})

test('a folder that is paused sends nothing when a request waits', () => {
  const upload = new Upload({ kind: 'folder', folder: FOLDER })
  upload.state.value = 'sending'
  upload.begunParts.value = 2
  expect(upload.isSending.value).toBe(true)
  upload.heldRequests.value = 1
  expect(upload.isSending.value).toBe(false)
})

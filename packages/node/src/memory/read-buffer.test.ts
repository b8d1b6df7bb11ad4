import { expect, test } from 'vitest'
import { allocateReadBuffer, allocateSharedReadBuffer } from './read-buffer.ts'

const SIZE_BYTES = 1024 * 1024

test.each([
  { what: 'a buffer', allocate: allocateReadBuffer },
  { what: 'a shared buffer', allocate: allocateSharedReadBuffer },
])('$what has the size that was asked for, and does not begin where its memory does', ({ allocate }) => {
  const buffer = allocate(SIZE_BYTES)
  expect(buffer.length).toBe(SIZE_BYTES)
  expect(buffer.byteOffset).toBe(64)
})

import { expect, test } from 'vitest'
import { addressIn, folderPlaceOf } from './folder-place.ts'

test('an address names a file of the list, a folder, or a file in a folder', () => {
  expect(folderPlaceOf('bafy')).toBeUndefined()
  expect(folderPlaceOf('')).toBeUndefined()
  expect(folderPlaceOf('bafy/')).toEqual({ cid: 'bafy', names: [], file: undefined })
  expect(folderPlaceOf('bafy/docs/')).toEqual({ cid: 'bafy', names: ['docs'], file: undefined })
  expect(folderPlaceOf('bafy/docs/a.txt')).toEqual({ cid: 'bafy', names: ['docs'], file: 'a.txt' })
})

test('names are encoded below the address of a folder, and a share link stays one', () => {
  expect(addressIn('https://lade.example/p/bafy/', ['100 %?#', 'ä'])).toBe(
    'https://lade.example/p/bafy/100%20%25%3F%23/%C3%A4',
  )
  expect(addressIn('https://lade.example/p/bafy?share=abc', ['a.txt'])).toBe(
    'https://lade.example/p/bafy/a.txt?share=abc',
  )
})

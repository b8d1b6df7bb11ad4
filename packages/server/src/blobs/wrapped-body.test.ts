import { expect, test } from 'vitest'
import { wrappingOf } from './wrapped-body.ts'

const form = '--------------------------d74496d66958873e\r\nContent-Disposition: form-data; name="file"\r\n\r\nhello'

test('tells the form that curl -F sends, also with another header first, and under another type', () => {
  expect(wrappingOf(Buffer.from(form))).toBe('multipart/form-data')
  expect(wrappingOf(Buffer.from(form.replace('form-data', 'attachment')))).toBe('multipart/form-data')
  expect(wrappingOf(Buffer.from(form.replace('Content-D', 'Content-Type: a/b\r\ncontent-d')))).toBe(
    'multipart/form-data',
  )
})

test.each(['', '-', '--', '-- a comment of SQL\r\nselect 1', 'Content-Disposition: form-data', `x${form}`])(
  'takes %j for a file',
  (text) => expect(wrappingOf(Buffer.from(text))).toBeUndefined(),
)

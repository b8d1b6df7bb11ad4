import { expect, test } from 'vitest'
import { folderOf, folderOfInput } from './chosen-folder.ts'

const fileOf = (words: string) => new Blob([words])

test('what is hidden is left out with all that is in it, and the folder around it stays', () => {
  const all = [
    { path: 'index.html', file: fileOf('index') },
    { path: '.env', file: fileOf('secret') },
    { path: 'src/.git/config', file: fileOf('core') },
    { path: '.cache', kind: 'folder' as const },
  ]
  const folder = folderOf('site', all, false)
  expect(folder.items.map(({ path }) => path)).toEqual(['index.html', 'src'])
  expect(folder.items[1]).toEqual({ path: 'src', kind: 'folder' })
  expect(folder.hidden.map(({ path }) => path)).toEqual(['.env', 'src/.git/config', '.cache'])
  expect(folder).toMatchObject({ files: 1, sizeBytes: 5 })
  expect(folderOf('site', all, true)).toMatchObject({ items: all, hidden: [], files: 3 })
})

test('the files of an input are below the folder that was chosen', () => {
  const chosen = ['site/index.html', 'site/docs/a.txt'].map((path) =>
    Object.assign(new File(['text'], path.slice(path.lastIndexOf('/') + 1)), { webkitRelativePath: path }),
  )
  const folder = folderOfInput(chosen)
  expect(folder?.name).toBe('site')
  expect(folder?.items.map(({ path }) => path)).toEqual(['index.html', 'docs/a.txt'])
  expect(folderOfInput([])).toBeUndefined()
})

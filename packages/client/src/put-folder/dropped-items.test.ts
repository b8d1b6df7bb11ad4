import { expect, it } from 'vitest'
import type { DroppedTransfer } from '../folder-options.ts'
import { droppedItems } from './dropped-items.ts'

type Tree = { readonly [name: string]: Tree | string }

/** An entry as browsers have it, which give a folder in portions. */
function entryOf(name: string, content: Tree | string): unknown {
  if (typeof content === 'string') {
    return { name, isDirectory: false, file: (done: (file: File) => void) => done(new File([content], name)) }
  }
  const children = Object.entries(content).map(([child, of]) => entryOf(child, of))
  const createReader = () => {
    let at = 0
    return {
      readEntries(done: (entries: unknown[]) => void) {
        const some = children.slice(at, at + 2)
        at += some.length
        done(some)
      },
    }
  }
  return { name, isDirectory: true, createReader }
}

const transferOf = (tree: Tree): DroppedTransfer => ({
  items: [
    { kind: 'string', getAsFile: () => null, webkitGetAsEntry: () => null },
    ...Object.entries(tree).map(([name, content]) => ({
      kind: 'file',
      getAsFile: () => (typeof content === 'string' ? new File([content], name) : new File([], name)),
      webkitGetAsEntry: () => entryOf(name, content),
    })),
  ],
})

it('reads files and folders that are dropped, with empty folders and more entries than come at a time', async () => {
  const dropped = await droppedItems(
    transferOf({ 'a.txt': 'a', site: { '.env': 'x', b: { c: 'c', d: 'd', e: 'e', empty: {} }, z: 'z' } }),
  )
  expect(dropped.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['file a.txt', 'folder site'])
  const folder = dropped[1]
  if (folder?.kind !== 'folder') throw new Error('no folder')
  const items = await Promise.all(
    folder.items.map(async (item) => [item.path, 'file' in item ? await item.file.text() : item.kind]),
  )
  expect(items).toEqual([
    ['.env', 'x'],
    ['b/c', 'c'],
    ['b/d', 'd'],
    ['b/e', 'e'],
    ['b/empty', 'folder'],
    ['z', 'z'],
  ])
})

it('takes files of browsers that do not tell entries', async () => {
  const items = [{ kind: 'file', getAsFile: () => new File(['a'], 'a.txt') }]
  expect(await droppedItems({ items })).toMatchObject([{ kind: 'file', name: 'a.txt' }])
})

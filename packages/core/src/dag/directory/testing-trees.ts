import { hashOfName } from '../car/shard-bucket.ts'
import { utf8 } from '../car/testing-cars.ts'
import type { Tree, TreeContent } from './testing-directories.ts'

/** Numbers that look random and are the same for the same seed. */
class SeededNumbers {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 1
  }

  /** From 0 up to, and without, `end`. */
  below(end: number): number {
    this.#state ^= this.#state << 13
    this.#state ^= this.#state >>> 17
    this.#state ^= this.#state << 5
    return (this.#state >>> 0) % end
  }

  of<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new TypeError('There is nothing to choose from')
    return item
  }
}

/** Pieces of names: scripts of one to four bytes a character, marks, emoji, and what looks special and is not. */
const PIECES = [
  ...['a', 'B', 'Z', '0', '.', '..', '-', ' ', '~', '%2F', '"', '\\x', ':', '*', '\n', '\t', '\u007f'],
  ...['ä', 'é', 'e\u0301', 'ß', 'İ', 'ж', 'Ω', 'א', 'ب', 'ك', 'हि', 'ไทย', '日本', '漢', '한', 'ᄒ'],
  ...['\u200d', '\u202e', '\ufeff', '\ufffd', '\ue000', '\uffff', '𝒳', '𠜎', '😀', '👩‍👩‍👧‍👦', '🏳️‍🌈', '\u{10ffff}'],
]
const MAX_NAME_BYTES = 255

function someName(numbers: SeededNumbers): string {
  const pieces = 1 + (numbers.below(20) === 0 ? numbers.below(60) : numbers.below(6))
  let name = Array.from({ length: pieces }, () => numbers.of(PIECES)).join('')
  // Room for what is added below, and a number behind it.
  while (utf8(name).length > MAX_NAME_BYTES - 8) name = [...name].slice(0, -1).join('')
  // Backslashes before a slash are read as no end of a name by the reference importer.
  return name === '.' || name === '..' || name.endsWith('\\') || name.startsWith('\ufeff') ? `_${name}_` : name
}

/** Pairs of names whose hashes begin with the same 32 bits, so that their shards are five levels deep. */
export function namesThatCollide(): string[] {
  const byHash = new Map<bigint, string>()
  const colliding: string[] = []
  for (let index = 0; index < 250_000; index += 1) {
    const name = `c${index}`
    const head = hashOfName(name) >> 32n
    const other = byHash.get(head)
    if (other !== undefined) colliding.push(other, name)
    byHash.set(head, name)
  }
  return colliding
}

export interface TreeSizes {
  readonly entries: number
  readonly depth: number
  /** A folder that gets this many files more; 0 for none. */
  readonly bigFolderEntries: number
  readonly extraNames?: readonly string[]
}

/**
 * A tree of files, symlinks and empty folders.
 *
 * Of folders in a folder there are so few that they do not decide whether it is sharded: the reference importer does not count them.
 */
export function someTree(seed: number, { entries, depth, bigFolderEntries, extraNames = [] }: TreeSizes): Tree {
  const numbers = new SeededNumbers(seed)
  const tree = new Map<string, TreeContent>()
  const folders = ['']
  const taken = new Set<string>()
  const add = (folder: string, name: string, content: TreeContent) => {
    const path = folder === '' ? name : `${folder}/${name}`
    if (taken.has(path)) return
    taken.add(path)
    tree.delete(folder)
    tree.set(path, content)
  }
  const addFolder = (parent: string) => {
    const path = parent === '' ? someName(numbers) : `${parent}/${someName(numbers)}`
    if (taken.has(path)) return
    add('', path, undefined)
    tree.delete(parent)
    folders.push(path)
  }
  // One tree in three has a folder as deep as it may be.
  if (numbers.below(3) === 0) while (folders.length < depth) addFolder(folders.at(-1) ?? '')
  for (let count = 0; count < entries; count += 1) {
    const parent = numbers.of(folders)
    const kind = numbers.below(10)
    if (kind < 2 && parent.split('/').length < depth) {
      addFolder(parent)
    } else if (kind === 2) {
      add(parent, someName(numbers), `../${someName(numbers)}`)
    } else {
      add(parent, someName(numbers), someContent(numbers))
    }
  }
  const bigFolder = numbers.of(folders)
  for (let count = 0; count < bigFolderEntries; count += 1)
    add(bigFolder, `${someName(numbers)}${count}`, someContent(numbers))
  if (bigFolderEntries > 0) for (const name of extraNames) add(bigFolder, name, new Uint8Array())
  return tree
}

function someContent(numbers: SeededNumbers): Uint8Array {
  return Uint8Array.from({ length: numbers.below(4) === 0 ? 0 : numbers.below(200) }, () => numbers.below(256))
}

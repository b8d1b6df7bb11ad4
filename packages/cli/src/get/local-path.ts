import { safeName } from './safe-name.ts'

const MAX_NAME_BYTES = 255

/**
 * The name under which an entry of a folder is written: its own where the system takes it as one name, else one that is safe.
 *
 * @example
 * entryName('..', 'bafk…', 'linux') // 'bafk…'
 */
export function entryName(name: string, cid: string, platform: NodeJS.Platform): string {
  const isOneName = name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name)
  if (isOneName && platform !== 'win32' && Buffer.byteLength(name) <= MAX_NAME_BYTES) return name
  return safeName(name, cid)
}

/** What is at the paths of a folder: the target of a symlink, or true for anything else. */
export type Tree = ReadonlyMap<string, string | true>

const MAX_LINKS_FOLLOWED = 40

/**
 * True when a symlink leads to a place in its folder, whichever other links of the folder are on the way. A target that is not there counts, too.
 *
 * @param path - of the symlink, below the folder.
 *
 * @example
 * staysWithin('a/link', '../b', new Map()) // true
 * staysWithin('a/link', '../../b', new Map()) // false
 */
export function staysWithin(path: string, target: string, tree: Tree): boolean {
  let at = path.split('/').slice(0, -1)
  let rest = target.split('/')
  let followed = 0
  if (target.startsWith('/') || /^[a-z]:|\\/i.test(target) || target.includes('\0')) return false
  while (rest.length > 0) {
    const [name = '', ...others] = rest
    rest = others
    if (name === '' || name === '.') continue
    if (name === '..') {
      if (at.length === 0) return false
      at = at.slice(0, -1)
      continue
    }
    const next = [...at, name]
    const found = tree.get(next.join('/'))
    if (typeof found !== 'string') {
      at = next
      continue
    }
    followed += 1
    if (followed > MAX_LINKS_FOLLOWED || found.startsWith('/')) return false
    rest = [...found.split('/'), ...rest]
  }
  return true
}

import type { CID } from 'multiformats/cid'
import { utf8Bytes } from '../utf8.ts'

/** The root of a DAG, and the bytes of all its blocks: the Tsize of a link to it. */
export interface DagRoot {
  readonly cid: CID
  readonly dagBytes: number
}

/** A link of a directory: a name, and the root of what it leads to. */
export interface DirectoryLink extends DagRoot {
  readonly name: string
  /** The name in UTF-8. */
  readonly nameBytes: Uint8Array
}

export function directoryLink(name: string, { cid, dagBytes }: DagRoot): DirectoryLink {
  return { name, nameBytes: utf8Bytes(name), cid, dagBytes }
}

/** The order of links in a directory: that of the bytes of their names, which differs from that of UTF-16. */
export function compareNames({ nameBytes: a }: DirectoryLink, { nameBytes: b }: DirectoryLink): number {
  const end = Math.min(a.length, b.length)
  for (let at = 0; at < end; at += 1) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

import { RAW } from '../links.ts'
import type { BlockGraph } from './block-graph.ts'
import type { FolderContent } from './car-index.ts'

const NOTHING: FolderContent = { files: 0, bytes: 0 }

/**
 * What is in the directory that `root` leads to, whose blocks are all there; undefined when it is no UnixFS directory.
 *
 * Each directory is counted once, however often it is linked to, and its content as often.
 */
export function folderUnder(graph: BlockGraph, root: number): FolderContent | undefined {
  const top = graph.target(root)
  if (top === undefined || graph.codecOf(root) === RAW || graph.partOf(top).kind !== 'directory') return undefined
  const counted = new Map<number, FolderContent>()
  const open = [root]
  // A directory stays below those that it links to until they are counted.
  for (let link = open.at(-1); link !== undefined; link = open.at(-1)) {
    const node = graph.target(link) ?? 0
    const uncounted = counted.has(node) ? [] : directoriesIn(graph, node).filter((child) => !counted.has(child.node))
    if (uncounted.length > 0) {
      for (const child of uncounted) open.push(child.link)
      continue
    }
    if (!counted.has(node)) counted.set(node, contentOf(graph, node, counted))
    open.pop()
  }
  return counted.get(top)
}

function directoriesIn(graph: BlockGraph, node: number): { readonly link: number; readonly node: number }[] {
  const found: { link: number; node: number }[] = []
  const { start, end } = graph.placesOfLinks(node)
  for (let place = start; place < end; place += 1) {
    const link = graph.linkAt(place)
    const child = graph.target(link)
    if (child === undefined || graph.codecOf(link) === RAW) continue
    if (graph.partOf(child).kind === 'directory') found.push({ link, node: child })
  }
  return found
}

function contentOf(graph: BlockGraph, node: number, counted: ReadonlyMap<number, FolderContent>): FolderContent {
  let { files, bytes } = NOTHING
  const { start, end } = graph.placesOfLinks(node)
  for (let place = start; place < end; place += 1) {
    const link = graph.linkAt(place)
    const child = graph.target(link) ?? 0
    const part = graph.codecOf(link) === RAW ? undefined : graph.partOf(child)
    if (part === undefined) {
      files += 1
      bytes += graph.sizeOf(link)
    } else if (part.kind === 'directory') {
      const inner = counted.get(child) ?? NOTHING
      files += inner.files
      bytes += inner.bytes
    } else if (part.kind !== 'none') {
      files += 1
      bytes += part.sizeBytes
    }
  }
  return { files: Math.min(files, Number.MAX_SAFE_INTEGER), bytes: Math.min(bytes, Number.MAX_SAFE_INTEGER) }
}

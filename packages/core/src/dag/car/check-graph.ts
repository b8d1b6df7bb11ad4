import { RAW } from '../links.ts'
import type { BlockGraph } from './block-graph.ts'
import { type CarFault, malformed } from './car-index.ts'

/** How many CIDs of missing blocks are named. */
const MAX_MISSING_NAMED = 10

/** The blocks that `root` leads to, itself among them, and that are not there: the first ten, depth first, as linked. */
export function missingUnder(graph: BlockGraph, root: number): string[] {
  const missing = new Set<string>()
  const visited = new Uint8Array(graph.nodeCount)
  const open = [root]
  for (let link = open.pop(); link !== undefined && missing.size < MAX_MISSING_NAMED; link = open.pop()) {
    const node = graph.target(link)
    if (node === undefined) missing.add(graph.textOf(link))
    if (node === undefined || visited[node] === 1) continue
    visited[node] = 1
    const { start, end } = graph.placesOfLinks(node)
    for (let place = end - 1; place >= start; place -= 1) open.push(graph.linkAt(place))
  }
  return [...missing]
}

/** What the root is as a UnixFS file; undefined when it says of itself that it is something else. */
export function fileUnder(graph: BlockGraph, root: number): { readonly sizeBytes: number } | CarFault | undefined {
  const sizeBytes = partSizeOf(graph, root)
  if (sizeBytes === undefined) return undefined
  return faultOfParts(graph, root) ?? { sizeBytes }
}

/**
 * Checks every part of a file whose blocks are all there: that it is a part of a file, and as large as its parent says.
 *
 * That a node's own bytes and the announced sizes of its children add up to its own is known from reading it, so that
 * with this, announced sizes are real ones all the way up.
 */
function faultOfParts(graph: BlockGraph, root: number): CarFault | undefined {
  const visited = new Uint8Array(graph.nodeCount)
  const open = [root]
  for (let link = open.pop(); link !== undefined; link = open.pop()) {
    const node = graph.target(link) ?? 0
    if (graph.codecOf(link) === RAW || visited[node] === 1) continue
    visited[node] = 1
    if (graph.partOf(node).kind === 'brokenFile') {
      return malformed(`The file node ${graph.textOf(link)} has inconsistent part sizes or links.`)
    }
    const { start, end } = graph.placesOfLinks(node)
    for (let place = end - 1; place >= start; place -= 1) {
      const child = graph.linkAt(place)
      const announced = graph.announcedSizeAt(place)
      const actual = partSizeOf(graph, child)
      const [node, part] = [() => graph.textOf(link), () => graph.textOf(child)]
      if (actual === undefined)
        return malformed(`The file node ${node()} has the part ${part()}, which is not a UnixFS file.`)
      if (actual !== announced) {
        return malformed(
          `The file node ${node()} declares ${announced} bytes for its part ${part()}, but that part has ${actual}.`,
        )
      }
      open.push(child)
    }
  }
  return undefined
}

/** The size that a part of a file has or announces; undefined for what is none. */
function partSizeOf(graph: BlockGraph, link: number): number | undefined {
  if (graph.codecOf(link) === RAW) return graph.sizeOf(link)
  const part = graph.partOf(graph.target(link) ?? 0)
  return part.kind === 'none' || part.kind === 'directory' ? undefined : part.sizeBytes
}

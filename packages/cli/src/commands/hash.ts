import {
  aliasesOf,
  blake2b256Cid,
  blake3Cid,
  type ContentDigests,
  type DigestsWanted,
  dagCid,
  pieceCidOf,
  pieceCidV1Of,
} from '@lade/core/content'
import { IMPORT_PROFILES, type ImportProfile } from '@lade/core/dag'
import { digestFile } from '@lade/node/hashing/digest-file'
import { startHashThreads } from '@lade/node/hashing/hash-threads'
import type { Command } from 'commander'
import { readableFile } from '../local-file.ts'
import type { Terminal } from '../terminal.ts'

/** Everything that a file can be called by. */
const EVERYTHING: DigestsWanted = {
  blake3: true,
  blake2b256: true,
  profiles: Object.values(IMPORT_PROFILES).map(({ name }) => name),
  carRoot: undefined,
}

/** One id of a file, and which form it has. */
interface NamedId {
  /** Stable, for programs. */
  readonly name: string
  /** For people. */
  readonly title: string
  readonly id: string
}

/** `lade hash FILE…`: every content id of a file. Needs no service. */
export function addHash(program: Command, terminal: Terminal): void {
  const command = program
    .command('hash')
    .summary('Print every content id of a file.')
    .description(
      'Print every content id of a file: digests, CIDs, UnixFS root CIDs with their import profiles, and piece CIDs.',
    )
    .argument('<files...>', 'local files')
    .option('--json', 'Print one JSON object per file, one per line.')
    .action(async (files: string[]) => {
      const threads = startHashThreads()
      try {
        for (const [index, file] of files.entries()) {
          const path = await readableFile(file, terminal.cwd, 'hash')
          const digests = await digestFile(path, { hashers: threads.hashers, wanted: () => EVERYTHING })
          const ids = idsOf(digests)
          if (command.opts().json) {
            const byName = Object.fromEntries(ids.map(({ name, id }) => [name, id]))
            terminal.print(JSON.stringify({ file, sizeBytes: digests.sizeBytes, ...byName }))
            continue
          }
          if (index > 0) terminal.print('')
          for (const line of tableOf(file, digests.sizeBytes, ids)) terminal.print(line)
        }
      } finally {
        await threads.close()
      }
    })
}

function idsOf(digests: ContentDigests): NamedId[] {
  const { sha256, blake3 = '', blake2b256 = '', dags } = digests
  const { hex, legacy, cidV1 } = aliasesOf(sha256)
  return [
    { name: 'sha256', title: 'sha2-256', id: hex },
    { name: 'legacy', title: 'legacy id', id: legacy },
    { name: 'raw', title: 'CIDv1 raw, sha2-256', id: cidV1 },
    { name: 'rawBlake3', title: 'CIDv1 raw, blake3', id: blake3Cid(blake3) },
    { name: 'rawBlake2b256', title: 'CIDv1 raw, blake2b-256', id: blake2b256Cid(blake2b256) },
    ...dags.map((dag) => ({
      name: dag.profile,
      title: `UnixFS, ${titleOf(IMPORT_PROFILES[dag.profile])}`,
      id: dagCid(dag),
    })),
    { name: 'pieceV1', title: 'piece CID v1', id: pieceCidV1Of(digests) },
    { name: 'pieceV2', title: 'piece CID v2', id: pieceCidOf(digests) },
  ]
}

/** @example titleOf(IMPORT_PROFILES['raw-1m-174']) // '1 MiB raw leaves, 174 links' */
function titleOf({ name, chunkBytes, linksPerNode, leaves }: ImportProfile): string {
  if (name.startsWith('unixfs-')) return name
  const chunk = chunkBytes >= 1024 * 1024 ? `${chunkBytes / (1024 * 1024)} MiB` : `${chunkBytes / 1024} KiB`
  return `${chunk} ${leaves} leaves, ${linksPerNode} links`
}

function tableOf(file: string, sizeBytes: number, ids: readonly NamedId[]): string[] {
  const width = Math.max(...ids.map(({ title }) => title.length))
  const size = sizeBytes === 1 ? '1 byte' : `${sizeBytes.toLocaleString('en-US')} bytes`
  return [`${file}, ${size}`, ...ids.map(({ title, id }) => `  ${title.padEnd(width)}  ${id}`)]
}

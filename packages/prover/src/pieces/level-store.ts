import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type PieceLevel, PROOF_LEVEL_HEIGHT } from '@lade/core/piece'
import { hasCode } from '@lade/node/disk/durable-directory'
import { FILE_MODE } from '../disk/durable-files.ts'

/**
 * The kept level of each piece's tree, a file each.
 *
 * A cache: nothing is flushed, and nothing that it gives is believed before a proof made with it has led to the piece's root.
 */
export class LevelStore {
  readonly dir: string

  constructor(dir: string) {
    this.dir = dir
  }

  /** Undefined when none is kept. */
  async read(pieceCid: string): Promise<PieceLevel | undefined> {
    try {
      return { height: PROOF_LEVEL_HEIGHT, nodes: await readFile(join(this.dir, pieceCid)) }
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined
      throw error
    }
  }

  /** Keeps a level, or none where it cannot be written: that costs the next proof time, and nobody a piece. */
  async write(pieceCid: string, level: PieceLevel): Promise<void> {
    const path = join(this.dir, pieceCid)
    await writeFile(path, level.nodes, { mode: FILE_MODE }).catch(() => rm(path, { recursive: true, force: true }))
  }

  /** Fine where there is none. */
  async remove(pieceCid: string): Promise<void> {
    await rm(join(this.dir, pieceCid), { force: true })
  }

  /** Removes the levels of all other pieces. */
  async keepOnly(isHeld: (pieceCid: string) => boolean): Promise<void> {
    for (const pieceCid of await readdir(this.dir)) if (!isHeld(pieceCid)) await this.remove(pieceCid)
  }
}

import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { PutFolderResult } from '@lade/client'
import { fileState } from '@lade/client/node'
import { stateFolder } from '../account/folders.ts'
import type { Terminal } from '../terminal.ts'
import { type DeployedFiles, filesOf } from './changed-paths.ts'

/** The last deploy of a folder. */
export interface EarlierDeploy {
  readonly cid: string
  readonly deployedAt: string
  readonly files: DeployedFiles
}

/** Remembers the last deploy of one folder to one account, in a file in the platform's folder for states. */
export class DeployMemory {
  readonly #folder: string
  readonly #file: string

  constructor(
    terminal: Pick<Terminal, 'platform' | 'env' | 'homeDir'>,
    { folder, account }: { readonly folder: string; readonly account: string },
  ) {
    const key = createHash('sha256')
      .update(JSON.stringify([folder, account]))
      .digest('hex')
    this.#folder = join(stateFolder(terminal), 'deploys')
    this.#file = join(this.#folder, `${key.slice(0, 40)}.json`)
  }

  /** Undefined before the first deploy, and for a file that cannot be read as one. */
  async load(): Promise<EarlierDeploy | undefined> {
    try {
      const text = await fileState(this.#file).load()
      const found = text === undefined ? undefined : (JSON.parse(text) as Partial<EarlierDeploy> | null)
      const isOne = typeof found?.cid === 'string' && typeof found.files === 'object' && found.files !== null
      return isOne && typeof found.deployedAt === 'string' ? (found as EarlierDeploy) : undefined
    } catch (error) {
      if (error instanceof SyntaxError || isSystem(error)) return undefined
      throw error
    }
  }

  /** A deploy does not fail because it cannot be remembered. */
  async save({ cid, entries }: Pick<PutFolderResult, 'cid' | 'entries'>, now: Date): Promise<void> {
    const deploy: EarlierDeploy = { cid, deployedAt: now.toISOString(), files: filesOf(entries) }
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      await fileState(this.#file).save(JSON.stringify(deploy))
    } catch (error) {
      if (!isSystem(error)) throw error
    }
  }
}

function isSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}

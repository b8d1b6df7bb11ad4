import type { PutState } from '../options.ts'
import type { SourceFile } from './source-item.ts'

const VERSION = 1

interface Kept {
  readonly version: typeof VERSION
  /** By path: the fingerprint of a file, and its CID. */
  readonly files: Readonly<Record<string, readonly [fingerprint: string, cid: string]>>
  /** CIDs that were sent for a folder that was not made. */
  readonly sent: readonly string[]
}

/** What earlier puts of a folder have found out. */
export class FolderState {
  readonly #state: PutState | undefined
  readonly #known: ReadonlyMap<string, readonly [string, string]>
  readonly #files = new Map<string, readonly [string, string]>()
  readonly #sent: Set<string>

  private constructor(state: PutState | undefined, kept: Kept | undefined) {
    this.#state = state
    this.#known = new Map(Object.entries(kept?.files ?? {}))
    this.#sent = new Set(kept?.sent)
  }

  static async load(state: PutState | undefined): Promise<FolderState> {
    return new FolderState(state, readKept(await state?.load()))
  }

  /** The CID of a file that is what it was. */
  cidOf({ path, fingerprint }: SourceFile): string | undefined {
    const [known, cid] = this.#known.get(path) ?? []
    return fingerprint !== undefined && known === fingerprint ? cid : undefined
  }

  learn({ path, fingerprint }: SourceFile, cid: string): void {
    if (fingerprint !== undefined) this.#files.set(path, [fingerprint, cid])
  }

  /** Files that this folder alone has brought here. */
  wasSent(cid: string): boolean {
    return this.#sent.has(cid)
  }

  /** Notes what is about to be sent, so that an interruption does not leave it as files by themselves. */
  async noteSending(cids: Iterable<string>): Promise<void> {
    for (const cid of cids) this.#sent.add(cid)
    await this.save()
  }

  /** The folder is made. */
  async noteMade(): Promise<void> {
    this.#sent.clear()
    await this.save()
  }

  /** Forgets all CIDs: a file was not what its fingerprint said. */
  async forget(): Promise<void> {
    this.#files.clear()
    await this.save()
  }

  async save(): Promise<void> {
    if (this.#state === undefined) return
    const kept: Kept = { version: VERSION, files: Object.fromEntries(this.#files), sent: [...this.#sent] }
    await this.#state.save(JSON.stringify(kept))
  }
}

/** Undefined for what is none of this version: nothing is lost but time. */
function readKept(text: string | undefined): Kept | undefined {
  if (text === undefined) return undefined
  try {
    const kept = JSON.parse(text) as Partial<Kept> | null
    const isKept = kept?.version === VERSION && typeof kept.files === 'object' && Array.isArray(kept.sent)
    return isKept ? (kept as Kept) : undefined
  } catch {
    return undefined
  }
}

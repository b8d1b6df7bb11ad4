import { randomUUID } from 'node:crypto'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { createDurableDirectory, hasCode, syncDirectory } from '@lade/node/disk/durable-directory'
import { hexOf } from '@lade/node/hashing/hex'
import type { PieceFault } from '../faults.ts'
import { LevelStore } from './level-store.ts'
import { type IntakeLimits, type PendingPiece, receivePending } from './pending-piece.ts'
import { type PieceName, parsePieceName } from './piece-name.ts'
import { PieceReader } from './piece-reader.ts'

/** A piece that is on the disk for good. */
export interface HeldPiece extends PieceName {
  /** Milliseconds of the clock; 0 for one that was there at the start. */
  readonly storedAt: number
}

export interface PieceStoreOptions {
  /** Absolute. `pieces`, `levels` and `pending` in it are the store's own. */
  readonly dir: string
  readonly now: () => number
  readonly faultOf?: (pieceCid: string) => PieceFault | undefined
}

/**
 * Pieces as files under their piece CID of version 2.
 *
 * A file gets that name once its bytes are hashed and flushed, so whatever has such a name is whole, whenever the process
 * ended. One process has a folder at a time: what it finds under `pending` at its start it throws away.
 */
export class PieceStore {
  /** The kept level of each piece's tree. */
  readonly levels: LevelStore
  readonly #pieceDir: string
  readonly #pendingDir: string
  readonly #now: () => number
  readonly #faultOf: (pieceCid: string) => PieceFault | undefined
  readonly #held = new Map<string, HeldPiece>()
  /** By root in hex: pieces that differ only in the zeros at their end. */
  readonly #byRoot = new Map<string, Set<string>>()
  /** When each held piece was last stored or asked for. */
  readonly #wantedAt = new Map<string, number>()
  /** How many bodies are getting the name of a piece, and whose files are going. */
  readonly #keeping = new Map<string, number>()
  readonly #removing = new Map<string, Promise<void>>()

  private constructor({ dir, now, faultOf = () => undefined }: PieceStoreOptions) {
    this.levels = new LevelStore(join(dir, 'levels'))
    this.#pieceDir = join(dir, 'pieces')
    this.#pendingDir = join(dir, 'pending')
    this.#now = now
    this.#faultOf = faultOf
  }

  /** Opens a folder, creating what is missing. Files that are no whole piece are passed over and left alone. */
  static async open(options: PieceStoreOptions): Promise<PieceStore> {
    const store = new PieceStore(options)
    await rm(store.#pendingDir, { recursive: true, force: true })
    for (const dir of [store.#pieceDir, store.#pendingDir, store.levels.dir]) await createDurableDirectory(dir)
    for (const file of await readdir(store.#pieceDir)) {
      const name = parsePieceName(file)
      if (name?.pieceCid !== file) continue
      const { size, mtimeMs } = await stat(join(store.#pieceDir, file))
      if (size === name.rawSizeBytes) store.#remember({ ...name, storedAt: 0 }, mtimeMs)
    }
    await store.levels.keepOnly((pieceCid) => store.#held.has(pieceCid))
    return store
  }

  get(pieceCid: string): HeldPiece | undefined {
    return this.#faultOf(pieceCid)?.kind === 'lost' ? undefined : this.#held.get(pieceCid)
  }

  /** The largest piece with this root, which has all bytes that any of them has. */
  getByRoot(root: Uint8Array): HeldPiece | undefined {
    const pieceCids = [...(this.#byRoot.get(hexOf(root)) ?? [])]
    const pieces = pieceCids.map((pieceCid) => this.get(pieceCid)).filter((piece) => piece !== undefined)
    return pieces.toSorted((one, other) => other.rawSizeBytes - one.rawSizeBytes)[0]
  }

  /** Takes a body in. Nobody finds it before {@link keep}; whoever does not keep it discards it. @see receivePending */
  receive(body: Readable, limits: IntakeLimits): Promise<PendingPiece> {
    return receivePending(body, join(this.#pendingDir, randomUUID()), limits)
  }

  /** Gives the bytes their name. Once this resolves the piece outlives a loss of power; when it fails they are gone. */
  async keep(pending: PendingPiece): Promise<HeldPiece> {
    const { pieceCid, root, rawSizeBytes, level } = pending
    // Before anything is waited for: a removal that begins now would take these bytes, too.
    this.#keeping.set(pieceCid, (this.#keeping.get(pieceCid) ?? 0) + 1)
    try {
      await this.#removing.get(pieceCid)
      if (level !== undefined) await this.levels.write(pieceCid, level)
      await rename(pending.path, join(this.#pieceDir, pieceCid))
      await syncDirectory(this.#pieceDir)
    } catch (error) {
      await this.discard(pending)
      throw error
    } finally {
      this.#keeping.set(pieceCid, (this.#keeping.get(pieceCid) ?? 1) - 1)
      if (this.#keeping.get(pieceCid) === 0) this.#keeping.delete(pieceCid)
    }
    const storedAt = this.#held.get(pieceCid)?.storedAt ?? this.#now()
    return this.#remember({ pieceCid, root, rawSizeBytes, storedAt }, this.#now())
  }

  /** Says that somebody counts on a piece; nothing happens for one that is not held. */
  want(pieceCid: string): void {
    if (this.#held.has(pieceCid)) this.#wantedAt.set(pieceCid, this.#now())
  }

  /** When a piece was last stored or wanted, in milliseconds of the clock; 0 for one that is not held. */
  wantedAt(pieceCid: string): number {
    return this.#wantedAt.get(pieceCid) ?? 0
  }

  /** Every held piece by its CID. */
  list(): string[] {
    return [...this.#held.keys()]
  }

  /** Throws a piece away, unless its bytes are just coming in again. Who reads it may read on. */
  async remove(pieceCid: string): Promise<void> {
    const piece = this.#held.get(pieceCid)
    if (piece === undefined || this.#keeping.has(pieceCid)) return
    this.#forget(piece)
    const removal = rm(join(this.#pieceDir, pieceCid), { force: true })
    this.#removing.set(pieceCid, removal)
    await removal.finally(() => this.#removing.delete(pieceCid))
    if (!this.#held.has(pieceCid)) await this.levels.remove(pieceCid)
  }

  async discard({ path }: PendingPiece): Promise<void> {
    await rm(path, { force: true })
  }

  /** The bytes of a piece, to be closed; undefined when there is no file any more, and then the piece is no longer held. */
  async read(piece: HeldPiece): Promise<PieceReader | undefined> {
    try {
      const handle = await open(join(this.#pieceDir, piece.pieceCid), 'r')
      return new PieceReader(handle, this.#faultOf(piece.pieceCid))
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
      // Every piece is missing from a disk that is not mounted, and none of them is gone.
      await stat(this.#pieceDir)
      this.#forget(piece)
      return undefined
    }
  }

  #forget({ pieceCid, root }: HeldPiece): void {
    this.#held.delete(pieceCid)
    this.#wantedAt.delete(pieceCid)
    this.#byRoot.get(hexOf(root))?.delete(pieceCid)
    if (this.#byRoot.get(hexOf(root))?.size === 0) this.#byRoot.delete(hexOf(root))
  }

  #remember(piece: HeldPiece, wantedAt: number): HeldPiece {
    this.#held.set(piece.pieceCid, piece)
    this.#wantedAt.set(piece.pieceCid, wantedAt)
    const root = hexOf(piece.root)
    const pieceCids = this.#byRoot.get(root) ?? new Set()
    this.#byRoot.set(root, pieceCids.add(piece.pieceCid))
    return piece
  }
}

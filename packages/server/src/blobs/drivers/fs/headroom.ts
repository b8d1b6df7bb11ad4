import { insufficientStorage } from './fs-failure.ts'

/** How old the count of free space may be that a small upload is admitted by. */
const LOOK_MS = 200

const MIB = 1024 * 1024
/** What a pending blob holds before it has brought anything: one of this size is certain of its room from the start. */
const LEAST_HELD_BYTES = 8 * MIB
/** What it holds beyond that, by what it has brought: from a quarter of its size on it is certain of the rest. */
const HELD_BY_BROUGHT = 3
/** The part of the room that the blobs of one principal hold beyond the least, unless it has only one on its way. */
const SHARE_OF_ROOM = 1 / 4

/** The space that one pending blob will still need. */
export interface SpaceClaim {
  /**
   * To be awaited before so many bytes are written; undefined where they are held already.
   *
   * @throws {LadeError} `insufficient_storage` when others have the room by now.
   */
  hold(bytes: number): Promise<void> | undefined
  /** Says that `bytes` of it are on the medium now, and so in its own count of free space. */
  spend(bytes: number): void
  /** Gives the rest back. Idempotent. */
  release(): void
}

interface Payer {
  claims: number
  heldBytes: number
}

interface Claim {
  readonly payer: Payer | undefined
  /** How far it may hold room ahead of what it writes, by what it has brought. */
  readonly heldByBrought: number
  /** What it has not written; without end where nobody knows its size. */
  leftBytes: number
  /** What of that nobody else may have. */
  heldBytes: number
  broughtBytes: number
}

/**
 * Keeps `minFreeBytes` of the medium free, counting what the pending blobs of this process hold and have not yet written.
 *
 * A blob is admitted when all of it fits beside what others hold. It then holds little, and more as its bytes arrive, so that uploads that
 * are announced and never sent keep nobody out. When the room is gone before a blob has brought a quarter, its next write fails. A blob of
 * unknown size holds little more than its next writes, and is never certain of more.
 *
 * Other writers of the same medium are seen only through its free space, which is looked at again as a blob grows: between two processes
 * that look at the same moment the floor can be undercut by what both hold, and `ENOSPC` remains the last word.
 */
export class Headroom {
  readonly #freeBytes: () => Promise<number>
  readonly #minFreeBytes: number
  readonly #monotonicMs: () => number
  readonly #payers = new Map<string, Payer>()
  #heldBytes = 0
  /** All that was ever held, which only grows. */
  #everHeldBytes = 0
  /** What `require` found last, and when. */
  #lastLook: { freeBytes: number; readonly at: number } | undefined

  constructor(options: {
    freeBytes: () => Promise<number>
    minFreeBytes: number
    /** @default performance.now() */
    monotonicMs?: () => number
  }) {
    this.#freeBytes = options.freeBytes
    this.#minFreeBytes = options.minFreeBytes
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now())
  }

  /**
   * For small things that are written elsewhere at once: looks at the medium at most every {@link LOOK_MS}, so that
   * thousands of them a second cost a few looks.
   *
   * @throws {LadeError} `insufficient_storage`.
   */
  async require(sizeBytes: number): Promise<void> {
    const now = this.#monotonicMs()
    if (this.#lastLook === undefined || now - this.#lastLook.at >= LOOK_MS) {
      this.#lastLook = { freeBytes: await this.#freeBytes(), at: now }
    }
    if (this.#lastLook.freeBytes - this.#heldBytes - sizeBytes < this.#minFreeBytes) throw insufficientStorage()
    this.#lastLook.freeBytes -= sizeBytes
  }

  /**
   * @param principal - whose blob it is, where one is not to hold the room of all.
   * @throws {LadeError} `insufficient_storage`.
   */
  async claim(sizeBytes: number | undefined, principal?: string): Promise<SpaceClaim> {
    const roomBytes = await this.#look()
    if (roomBytes() < (sizeBytes ?? LEAST_HELD_BYTES)) throw insufficientStorage()
    const payer = principal === undefined ? undefined : this.#payerOf(principal)
    if (payer !== undefined) payer.claims += 1
    const heldByBrought = sizeBytes === undefined ? 0 : HELD_BY_BROUGHT
    const claim: Claim = { payer, heldByBrought, leftBytes: sizeBytes ?? Infinity, heldBytes: 0, broughtBytes: 0 }
    this.#hold(claim, Math.min(claim.leftBytes, LEAST_HELD_BYTES))
    let isReleased = false
    return {
      hold: (bytes) => (isReleased ? undefined : this.#holdMore(claim, Math.min(bytes, claim.leftBytes))),
      spend: (bytes) => {
        const spentBytes = Math.min(bytes, claim.leftBytes)
        claim.leftBytes -= spentBytes
        claim.broughtBytes += spentBytes
        this.#hold(claim, -Math.min(spentBytes, claim.heldBytes))
      },
      release: () => {
        if (isReleased) return
        isReleased = true
        this.#hold(claim, -claim.heldBytes)
        if (payer === undefined || principal === undefined) return
        payer.claims -= 1
        if (payer.claims === 0) this.#payers.delete(principal)
      },
    }
  }

  /** Undefined where the claim holds about what it may. */
  #holdMore(claim: Claim, bytes: number): Promise<void> | undefined {
    const aheadBytes = Math.max(LEAST_HELD_BYTES, claim.heldByBrought * (claim.broughtBytes + bytes))
    const wantedBytes = Math.min(claim.leftBytes, bytes + aheadBytes) - claim.heldBytes
    // In steps that grow with what is held, so that a big blob looks at the medium now and then.
    const stepBytes = Math.max(LEAST_HELD_BYTES, claim.heldBytes) / 2
    const isEnough = claim.heldBytes >= bytes && (wantedBytes < stepBytes || claim.heldBytes === claim.leftBytes)
    return isEnough ? undefined : this.#grow(claim, { bytes, wantedBytes })
  }

  async #grow(claim: Claim, { bytes, wantedBytes }: { bytes: number; wantedBytes: number }): Promise<void> {
    const look = await this.#look()
    const roomBytes = Math.max(0, look())
    const missingBytes = Math.max(0, bytes - claim.heldBytes)
    if (roomBytes < missingBytes) throw insufficientStorage()
    const mayHoldBytes = Math.max(this.#shareLeft(claim, roomBytes), LEAST_HELD_BYTES - claim.heldBytes)
    this.#hold(claim, Math.max(missingBytes, Math.min(wantedBytes, roomBytes, mayHoldBytes)))
  }

  /** How much more a claim may hold before its principal has more than its share. */
  #shareLeft({ payer }: Claim, roomBytes: number): number {
    if (payer === undefined || payer.claims === 1) return Number.POSITIVE_INFINITY
    return (roomBytes + this.#heldBytes) * SHARE_OF_ROOM - payer.heldBytes
  }

  /** Looks at the medium. What it answers says what is free above the floor and held by nobody: in the step in which it is asked. */
  async #look(): Promise<() => number> {
    // Both counts are taken before the question, so that bytes written while it is answered are never missed; they
    // may be counted twice, which errs on the side of refusing.
    const heldBefore = this.#heldBytes
    const everHeldBefore = this.#everHeldBytes
    const freeBytes = await this.#freeBytes()
    return () => freeBytes - heldBefore - (this.#everHeldBytes - everHeldBefore) - this.#minFreeBytes
  }

  #hold(claim: Claim, bytes: number): void {
    claim.heldBytes += bytes
    this.#heldBytes += bytes
    if (bytes > 0) this.#everHeldBytes += bytes
    if (claim.payer !== undefined) claim.payer.heldBytes += bytes
  }

  #payerOf(principal: string): Payer {
    const payer = this.#payers.get(principal) ?? { claims: 0, heldBytes: 0 }
    this.#payers.set(principal, payer)
    return payer
  }
}

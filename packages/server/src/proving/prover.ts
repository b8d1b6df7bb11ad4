/** A piece on its way to a prover. */
export interface PieceToPark {
  /** Piece CID v2, in base32. */
  readonly pieceCid: string
  /** Raw bytes, before any padding. */
  readonly sizeBytes: number
  /** The bytes from the start, as often as it is asked for. A chunk is valid until the next one is asked for. */
  readonly chunks: () => AsyncIterable<Uint8Array>
  /** Where a prover that fetches pieces finds this one: an address that ends in `/piece/{pieceCid}`. */
  readonly sourceUrl: string
}

/** What a prover can take. */
export interface ProverLimits {
  /** The fewest raw bytes of a piece; what is smaller has to be aggregated. */
  readonly minimumBytes: number
  /** The most raw bytes of a piece: a multiple of 127 MiB, and what is bigger has to be cut; or `Number.MAX_SAFE_INTEGER`. */
  readonly maximumBytes: number
  /** How many pieces one addition may have. */
  readonly piecesPerAddition: number
}

/** Pieces to be added to a data set. */
export interface Addition {
  /** 64 random hex digits: the same for every repetition of one addition, which then happens once. */
  readonly nonce: string
  /**
   * Null makes a data set for them; others are named as `progress` named them. A name begins with the prover's own number, and may go on
   * with `-` and what the driver needs to find again.
   */
  readonly dataSetId: string | null
  /** Piece CIDs v2, all of them parked. */
  readonly pieceCids: readonly string[]
  /**
   * The roots of the CARs that the pieces are, in their order; empty where the root is not known. They go into a data set of which the prover indexes and announces the blocks;
   * only provers that `announcesBlocks` do that. @default pieces of any bytes, for a data set that is not indexed
   */
  readonly ipfsRootCids?: readonly string[]
}

/** How an addition is getting on. `pieceIds` are in the order of `pieceCids`. */
export type AdditionProgress =
  /** With `transaction` it was asked for anew, and that is what `progress` is asked with from now on. */
  | { readonly state: 'pending'; readonly transaction?: string }
  | { readonly state: 'confirmed'; readonly dataSetId: string; readonly pieceIds: readonly string[] }
  | { readonly state: 'rejected'; readonly reason: string }

/** A piece of a data set. */
export interface StoredPiece {
  readonly dataSetId: string
  readonly pieceId: string
  readonly pieceCid: string
}

/** That the prover has one leaf of a piece. All of it comes from the prover, and nothing in it is checked yet. */
export interface PossessionProof {
  readonly leafIndex: number
  /** 32 bytes. */
  readonly leaf: Uint8Array
  /** 32 bytes each, from the leaf upwards. */
  readonly proof: readonly Uint8Array[]
}

/** What a prover is told beside the question that it answers. */
export interface ProveOptions {
  /** Ends the work; its reason is what the call rejects with, unless the prover has its answer already. */
  readonly signal?: AbortSignal
  /**
   * Told what the answer costs this process, in milliseconds of processor time: in parts, also of an answer that fails. A prover that is
   * elsewhere tells nothing. Must not throw.
   */
  readonly onProcessorMs?: (processorMs: number) => void
}

/**
 * Whoever stores pieces for the network and proves that they are there.
 *
 * All that fails rejects with `stage_failed`: a refusal for good without `retryAfterSeconds`, and with it what may be different later: no
 * answer, an answer that makes no sense, a prover that is busy. No driver calls an address that the configuration does not name, follows
 * redirects, or reads more of an answer than it may have. Every driver passes `describeProver`.
 *
 * @example
 * await prover.park({ pieceCid, sizeBytes, chunks, sourceUrl }, signal)
 * const addition = { nonce, dataSetId: null, pieceCids: [pieceCid] }
 * const transaction = await prover.add(addition)
 * await prover.progress({ ...addition, transaction }) // { state: 'confirmed', dataSetId: '7', pieceIds: ['0'] } after a while
 * await prover.prove({ pieceCid, sizeBytes, seed, count: 5 }) // five proofs, checked by possessionFlaw
 */
export interface Prover {
  /** What the records call it, for good: `local`, or its origin, such as `https://sp.example`. */
  readonly name: string
  /** True when it is this process, which has the bytes already. */
  readonly isLocal: boolean
  readonly limits: ProverLimits
  /**
   * How it is audited. `proof`: it answers `prove`. `retrieval`: it proves to its own chain only, so bytes are read from it and compared
   * with ours; `prove` is never called.
   */
  readonly auditedBy: 'proof' | 'retrieval'
  /** True when it announces the blocks of CARs to IPFS, and serves them by their CIDs. */
  readonly announcesBlocks: boolean
  /** Its account on the chain, `0x` and 40 hex digits; null when the configuration names none. */
  readonly account: string | null
  /**
   * Resolves when the prover has the bytes and has checked them against the piece CID. Parking what is there already is cheap.
   *
   * @throws {LadeError} `stage_failed`; the reason of `signal`; what `chunks` throws.
   */
  park(piece: PieceToPark, signal: AbortSignal): Promise<void>
  /**
   * Asks for an addition, perhaps again.
   *
   * @returns what `progress` is asked with.
   * @throws {LadeError} `stage_failed`.
   */
  add(addition: Addition): Promise<string>
  /** What became of an addition. Can be asked again at any time. @throws {LadeError} `stage_failed` when the prover does not say. */
  progress(addition: Addition & { readonly transaction: string }): Promise<AdditionProgress>
  /**
   * Asks that a piece be taken out of its data set.
   *
   * @returns `gone` when it is not there any more. `asked` while it is: provers do it by transactions, which take their time and may be
   *   rejected, so that whoever wants to be sure asks again later.
   * @throws {LadeError} `stage_failed`.
   */
  remove(piece: StoredPiece & { readonly nonce: string }): Promise<'asked' | 'gone'>
  /**
   * Proofs for the leaves that the seed chooses: `challengeIndex` with data set id 0 and a range of the piece's own leaves, for proof 0 to
   * `count - 1`.
   *
   * @param request.seed - 32 bytes.
   * @throws {LadeError} `stage_failed`; the reason of the signal.
   */
  prove(
    request: { pieceCid: string; sizeBytes: number; seed: Uint8Array; count: number },
    options?: ProveOptions,
  ): Promise<readonly PossessionProof[]>
  /** Bytes of a piece that it holds, as anybody would retrieve them; exactly `length`. @throws {LadeError} `stage_failed`. */
  read(request: { pieceCid: string; offset: number; length: number }): Promise<Uint8Array>
  /** Resolves when the prover can be reached. @throws {LadeError} `stage_failed`. */
  check(): Promise<void>
  /** Ends open calls. Safe to call twice. */
  close(): Promise<void>
}

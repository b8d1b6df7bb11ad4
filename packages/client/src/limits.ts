/** Where a put changes its ways. Tests have smaller ones. */
export interface Limits {
  /** A file up to this size is sent in one piece. */
  readonly singleMaxBytes: number
  /** The size of every part but the last. */
  readonly partBytes: number
}

/** 100 MB is what services take in one request; a part is 127 leaves of 1 MiB and one full subtree of the piece tree. */
export const LIMITS: Limits = { singleMaxBytes: 100 * 1_048_576, partBytes: 127 * 1_048_576 }

/** The lease under which a backup runs: while somebody has it, no bytes are removed from the blob store. */
export const REMOVAL_HOLD = 'backup'

/** The form of the content id that a file is put under. */
export type PutCidForm = 'unixfs' | 'raw' | 'piece' | 'sha256'

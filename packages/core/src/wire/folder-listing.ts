import * as z from 'zod'

/** What `?after=` reads in the address of a folder. */
export const folderListingQuery = z.object({
  after: z.string().optional().describe('next of the page before'),
})

export const folderEntry = z.object({
  name: z.string(),
  cid: z.string(),
  dagSize: z
    .int()
    .min(0)
    .nullable()
    .describe('Bytes of all blocks below the entry, as the folder says; null if it does not'),
})
export type FolderEntry = z.infer<typeof folderEntry>

/** A page of what is in a folder. */
export const folderListing = z.object({
  path: z.string().describe('The content path, such as /ipfs/bafy…/photos'),
  cid: z.string().describe('CID of the folder'),
  entries: z.array(folderEntry),
  next: z.string().nullable().describe('Send it as after to get the next page; null on the last'),
})
export type FolderListing = z.infer<typeof folderListing>

import * as z from 'zod'
import { bytesField, cidField, cidText, fileNameText, timeField } from './fields.ts'

/** The longest body of a request that makes a directory: 100,000 entries of 100 bytes and more. */
export const MAX_DIRECTORY_BODY_BYTES = 32 * 1024 * 1024

/** How many entries an error names; the others are only counted. */
export const MAX_ENTRIES_NAMED = 20_000

/** The largest page of `GET /api/files/{cid}/entries`. */
export const MAX_ENTRIES_PER_PAGE = 1000

const pathText = z
  .string()
  .describe('Names with / between them, UTF-8, each at most 255 bytes: no empty name, no . or .., no / at either end')

const fileEntryOf = z.strictObject({
  path: pathText,
  cid: cidText.describe(
    'CID of a file: one of yours, or a public one stored here. The directory links to it as it is written here, so it is a UnixFS root (dag-pb) or one raw block',
  ),
  keep: z
    .boolean()
    .optional()
    .describe(
      'false: the file was sent for this folder. It stops being a file of its own, its charge stays, and it is not listed by itself any more. Default true',
    ),
})
const folderEntryOf = z.strictObject({
  path: pathText,
  kind: z.literal('folder').describe('A folder; only an empty one needs an entry of its own'),
})
const symlinkEntryOf = z.strictObject({
  path: pathText,
  kind: z.literal('symlink'),
  target: z.string().describe('Stored as it is, and never followed'),
})
/** One path of a directory. */
export const directoryEntry = z.union([fileEntryOf, folderEntryOf, symlinkEntryOf])
export type DirectoryEntryRequest = z.infer<typeof directoryEntry>

export const directoryQuery = z.object({
  cid: cidText.optional().describe('Root that the directory must have; the response names it either way'),
  token: z.string().optional().describe('Deprecated form of the Authorization header'),
})

/** A whole directory, or the changes of one that is stored here: `entries`, or `from` with `put` and `remove`. */
export const directoryRequest = z.strictObject({
  entries: z.array(directoryEntry).optional().describe('All that is in the directory, in any order'),
  from: cidText.optional().describe('Root of a folder of yours, or of a public one stored here'),
  remove: z.array(pathText).optional().describe('With from: paths to remove, with all below them, before put'),
  put: z.array(directoryEntry).optional().describe('With from: entries to add or to put in place of others'),
  filename: fileNameText.nullable().optional().describe('Name of the folder, not percent-encoded: at most 255 bytes'),
})
export type DirectoryRequest = z.infer<typeof directoryRequest>

/** What a file entry of a listing says of a folder. */
export const folderFacts = {
  kind: z.literal('folder').optional().describe('folder for a folder; absent for a file'),
  files: z.int().min(0).optional().describe('Of a folder: how many files are in it'),
  bytes: bytesField.optional().describe('Of a folder: the sizes of these files together'),
}

/** A path of a folder, as `GET /api/files/{cid}/entries` lists it. */
export const listedEntry = z.object({
  name: z.string(),
  kind: z.enum(['file', 'folder', 'symlink']),
  cid: cidField,
  size: bytesField.nullable().describe('Bytes of a file; null for a folder or a symlink'),
  target: z.string().optional().describe('Of a symlink'),
})
export type ListedEntry = z.infer<typeof listedEntry>

export const entriesQuery = z.object({
  path: z.string().optional().describe('Path in the folder; the folder itself by default'),
  cursor: z.string().optional().describe('nextCursor of the previous page'),
  limit: z.string().meta({ type: 'integer', minimum: 1, maximum: MAX_ENTRIES_PER_PAGE, default: 100 }).optional(),
  token: z.string().optional().describe('Deprecated form of the Authorization header'),
})

export const entriesPage = z.object({
  cid: cidField.describe('CID of the folder that is listed'),
  path: z.string().describe('Its path below the root; empty for the root'),
  entries: z.array(listedEntry),
  nextCursor: z.string().nullable(),
})
export type EntriesPage = z.infer<typeof entriesPage>

/** A batch is a CAR whose blocks are whole files, each of one raw block. */
export const MAX_BATCH_BYTES = 16 * 1024 * 1024
/** The largest file in a batch: one raw block of the import profile unixfs-v1-2025. */
export const MAX_BATCH_FILE_BYTES = 1024 * 1024
/** The most files in a batch. */
export const MAX_BATCH_FILES = 1000

export const batchResult = z.object({
  files: z
    .array(
      z.object({
        cid: cidField,
        size: bytesField,
        expiresAt: timeField.optional().describe('Of a file that is stored'),
        error: z
          .string()
          .optional()
          .describe('Why it is not stored: a code as in any error; nothing of it is left or charged'),
        detail: z.string().optional(),
      }),
    )
    .describe('In the order of the CAR'),
})
export type BatchResult = z.infer<typeof batchResult>

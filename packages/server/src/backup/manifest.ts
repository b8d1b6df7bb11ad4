import { z } from 'zod'
import { BackupRefused } from './backup-refused.ts'

/** The version of the folder's layout, raised when an older program could not restore from it. */
const FORMAT = 1

const AmountSchema = z.object({ count: z.int().nonnegative(), bytes: z.int().nonnegative() })

const StoredFileSchema = z.object({
  /** Without a folder. */
  name: z.string().regex(/^[\w.-]+$/),
  sizeBytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})

const CompleteSchema = z.object({
  /** The folder of the records and keys. */
  state: z.string().regex(/^state-[\w.-]+$/),
  /** When the records were as they are here: ISO 8601. */
  at: z.string(),
  finishedAt: z.string(),
  /** The version of Lade that wrote it. */
  lade: z.string(),
  schemaVersion: z.int().positive(),
  /** Where it was taken from, without secrets. */
  database: z.string(),
  storage: z.string(),
  rows: z.int().nonnegative(),
  /** Files that had not ended. */
  files: z.int().nonnegative(),
  blobs: AmountSchema,
  /** Blobs of them that the backup has not, or only with wrong bytes. */
  missing: z.int().nonnegative(),
  stored: z.array(StoredFileSchema).min(1),
})

const ManifestSchema = z.object({
  format: z.int(),
  /** Names this folder. */
  id: z.string().min(1),
  /** Names the installation that is backed up here; null until its first backup has begun. */
  installation: z.string().nullable(),
  complete: CompleteSchema.nullable(),
})

export type StoredFile = z.infer<typeof StoredFileSchema>
/** A whole backup. */
export type CompleteBackup = z.infer<typeof CompleteSchema>
/** What a backup folder says of itself. */
export type Manifest = Omit<z.infer<typeof ManifestSchema>, 'format'>

/** The text of the manifest. */
export function writeManifest(manifest: Manifest): string {
  return `${JSON.stringify({ format: FORMAT, ...manifest }, null, 2)}\n`
}

/**
 * Reads a manifest.
 *
 * @throws {BackupRefused} when it is damaged, or of a newer program.
 */
export function readManifest(text: string, file: string): Manifest {
  const parsed = ManifestSchema.safeParse(jsonOf(text))
  if (!parsed.success) throw new BackupRefused(`${file} is damaged.`)
  const { format, ...manifest } = parsed.data
  if (format !== FORMAT) {
    throw new BackupRefused(`${file} has format ${format}; this Lade reads format ${FORMAT}. Use a newer Lade.`)
  }
  return manifest
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

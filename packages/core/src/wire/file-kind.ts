import { essenceOf } from './media-type.ts'

/** What sort of file a media type is for, as people look for files. */
export const FILE_KINDS = ['image', 'video', 'audio', 'text', 'document', 'archive', 'other'] as const
export type FileKind = (typeof FILE_KINDS)[number]

/** By what a media type is known to be of a kind, in lower case. */
export interface KindTypes {
  readonly kind: Exclude<FileKind, 'other'>
  readonly prefixes?: readonly string[]
  readonly types?: readonly string[]
  readonly suffixes?: readonly string[]
}

/** The first that fits counts; what fits none is `other`. */
export const KIND_TYPES: readonly KindTypes[] = [
  { kind: 'image', prefixes: ['image/'] },
  { kind: 'video', prefixes: ['video/'] },
  { kind: 'audio', prefixes: ['audio/'] },
  {
    kind: 'document',
    prefixes: ['application/vnd.openxmlformats-officedocument.', 'application/vnd.oasis.opendocument.'],
    types: [
      'application/pdf',
      'application/msword',
      'application/vnd.ms-excel',
      'application/vnd.ms-powerpoint',
      'application/rtf',
      'text/rtf',
      'application/epub+zip',
    ],
  },
  {
    kind: 'text',
    prefixes: ['text/'],
    types: [
      'application/json',
      'application/xml',
      'application/yaml',
      'application/toml',
      'application/javascript',
      'application/x-ndjson',
      'application/sql',
    ],
    suffixes: ['+json', '+xml', '+yaml'],
  },
  {
    kind: 'archive',
    types: [
      'application/zip',
      'application/gzip',
      'application/x-gzip',
      'application/x-tar',
      'application/x-7z-compressed',
      'application/vnd.rar',
      'application/x-rar-compressed',
      'application/x-bzip2',
      'application/x-xz',
      'application/zstd',
      'application/java-archive',
      'application/vnd.ipld.car',
    ],
    suffixes: ['+zip', '+gzip'],
  },
]

/**
 * The kind of a media type, whatever its parameters and case.
 *
 * @example
 * fileKindOf('text/html; charset=utf-8') // 'text'
 * fileKindOf('application/octet-stream') // 'other'
 */
export function fileKindOf(mediaType: string): FileKind {
  const essence = essenceOf(mediaType)
  const found = KIND_TYPES.find(
    ({ prefixes = [], types = [], suffixes = [] }) =>
      types.includes(essence) ||
      prefixes.some((prefix) => essence.startsWith(prefix)) ||
      suffixes.some((suffix) => essence.endsWith(suffix)),
  )
  return found?.kind ?? 'other'
}

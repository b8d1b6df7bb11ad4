import { SecretString } from '@lade/node/settings'
import { z } from 'zod'
import { isHostName, pathAfter, type SettingForm } from './setting-forms.ts'

/** Where the records are: a file of SQLite, or a PostgreSQL database whose URL may hold a password. */
export type DatabaseSetting =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: SecretString }

/** A bucket of an S3 store. */
export interface S3Location {
  readonly bucket: string
  /** Empty, or ends with a slash. */
  readonly prefix: string
  /** Absent: Amazon's, of the region. */
  readonly endpoint?: string
  /** Absent: what the environment says, as for every program of Amazon's SDK. */
  readonly region?: string
  /** True when the bucket is a part of the path and not of the host's name. */
  readonly pathStyle: boolean
}

export type StorageSetting =
  | { readonly kind: 'file'; readonly path: string }
  | ({ readonly kind: 's3' } & S3Location)
  | { readonly kind: 'none' }

/** `sqlite:` and the path of a file, or the URL of a PostgreSQL database. A database in memory would lose what was promised. */
export const databaseForm: SettingForm<DatabaseSetting> = {
  accepts: 'sqlite: followed by the path of a file, or postgres://user:password@host:port/database',
  schema: z.union([
    pathAfter('sqlite:')
      .refine((path) => path !== ':memory:')
      .transform((path) => ({ kind: 'sqlite' as const, path })),
    z
      .string()
      .refine(isPostgresUrl)
      .transform((url) => ({ kind: 'postgres' as const, url: new SecretString(url) })),
  ]),
}

function isPostgresUrl(text: string): boolean {
  if (!/^postgres(ql)?:\/\/\S+$/.test(text) || !URL.canParse(text)) return false
  const { hostname, pathname, searchParams, hash } = new URL(text)
  const hasHost = hostname !== '' || (searchParams.get('host') ?? '') !== ''
  return hasHost && /^\/[^/]+$/.test(pathname) && hash === ''
}

const S3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([^\s?#]*))?(?:\?([^\s#]*))?$/
const S3_PARAMETERS = new Set(['endpoint', 'region', 'path-style'])

/** `file:` and the path of a directory, `s3://bucket/prefix`, or `none`. */
export const storageForm: SettingForm<StorageSetting> = {
  accepts:
    'file: followed by the path of a directory, s3://bucket[/prefix][?endpoint=http(s)://host:port][&region=NAME][&path-style=true|false], or none. S3 keys are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  schema: z.union([
    z.literal('none').transform((kind) => ({ kind })),
    pathAfter('file:').transform((path) => ({ kind: 'file' as const, path })),
    z.string().transform((text, context) => {
      const location = s3LocationOf(text)
      if (location !== undefined) return { kind: 's3' as const, ...location }
      context.addIssue({ code: 'custom', message: 'not a bucket' })
      return z.NEVER
    }),
  ]),
}

/**
 * @example
 * s3LocationOf('s3://files/lade?endpoint=http://127.0.0.1:7480')
 * // { bucket: 'files', prefix: 'lade/', endpoint: 'http://127.0.0.1:7480', pathStyle: true }
 */
function s3LocationOf(text: string): S3Location | undefined {
  const [, bucket, path = '', query = ''] = S3.exec(text) ?? []
  if (bucket === undefined || path.split('/').some((step) => step === '.' || step === '..')) return undefined
  const parameters = new URLSearchParams(query)
  if (new Set(parameters.keys()).size !== parameters.size) return undefined
  for (const name of parameters.keys()) if (!S3_PARAMETERS.has(name)) return undefined
  const endpoint = parameters.get('endpoint') ?? undefined
  const region = parameters.get('region') ?? undefined
  const style = parameters.get('path-style') ?? String(endpoint !== undefined)
  if (endpoint !== undefined && !isEndpoint(endpoint)) return undefined
  if (region !== undefined && !/^[a-z0-9-]{1,64}$/i.test(region)) return undefined
  if (style !== 'true' && style !== 'false') return undefined
  return {
    bucket,
    prefix: path === '' ? '' : `${path.replace(/\/+$/, '')}/`,
    ...(endpoint !== undefined && { endpoint: new URL(endpoint).origin }),
    ...(region !== undefined && { region }),
    pathStyle: style === 'true',
  }
}

function isEndpoint(text: string): boolean {
  if (!/^https?:\/\/[^\s/?#@\\]+\/?$/i.test(text) || !URL.canParse(text)) return false
  const { hostname } = new URL(text)
  return hostname.startsWith('[') || isHostName(hostname) || /^[\d.]+$/.test(hostname)
}

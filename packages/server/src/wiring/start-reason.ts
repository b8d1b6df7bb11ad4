import { systemReason } from '@lade/node/disk/system-error'

/** What PostgreSQL and S3 stores answer to settings that are wrong, by their codes. */
const REASONS: Readonly<Record<string, string>> = {
  // PostgreSQL
  '28P01': 'the user name or the password in LADE_DATABASE is wrong',
  '28000': 'the database does not let this user in; check the user name in LADE_DATABASE',
  '3D000': 'there is no database of this name; create it, or correct LADE_DATABASE',
  '42501': 'the user lacks the right to create tables there',
  '53300': 'the database has no free connections',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not trusted here',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not trusted here',
  // S3
  AccessDenied: 'the store denies access; check the credentials and the rights on the bucket',
  CredentialsProviderError: 'there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  InvalidAccessKeyId: 'the store does not know the access key; check AWS_ACCESS_KEY_ID',
  NoSuchBucket: 'there is no bucket of this name; create it, or correct LADE_STORAGE',
  RegionMissing: 'there is no region; add ?region=NAME to LADE_STORAGE, or set AWS_REGION',
  SignatureDoesNotMatch: 'the secret key is wrong; check AWS_SECRET_ACCESS_KEY, and the clock of this machine',
}

/** Why something cannot be used, as the end of a sentence: the last of the causes, in our own words where they are known. */
export function startReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const known = REASONS['code' in error ? String(error.code) : ''] ?? REASONS[error.name]
  if (known !== undefined) return known
  if (error.cause instanceof Error) return startReason(error.cause)
  return systemReason(error)
}

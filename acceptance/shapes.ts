/** The JSON bodies that the service promises, as far as this suite reads them. */

export interface UploadResult {
  cid: string
  dealId: string
  size: number
  retrievalUrl: string
  term: string
  sponsored: boolean
  owner: string | null
  pieceCid: string
  sha256: string | null
  verified: boolean
  status: string
  expiresAt: string
  syntheticDealId: string
  visibility: string
  contentType: string
  filename: string | null
}

export interface SignupResult {
  token: string
  userId: string
  email: string
  scopes: string[]
  quotaMb: number
  expiresAt: string
}

export interface Problem {
  error: string
  detail: string
  type: string
  title: string
  status: number
  requestId: string
  used?: number
  limit?: number
  expected?: string
  actual?: string
  root?: string
  missing?: string[]
}

export interface FileEntry {
  cid: string
  size: number
  filename: string | null
  contentType: string
  uploadedAt: string
  term: string
  sponsored: boolean
  dealId: string
  expiresAt: string
  status: string
  visibility: string
  retrievalUrl: string
}

export interface FileList {
  userId: string
  email: string
  count: number
  files: FileEntry[]
  nextCursor: string | null
}

export interface Usage {
  userId: string
  email: string
  quotaBytes: number
  today: {
    date: string
    bytes: number
    files: number
    reservedBytes: number
    remainingBytes: number
    resetsAt: string
  }
  last7DaysTotalBytes: number
  days: { date: string; bytes: number; files: number }[]
  last7Days: { date: string; bytes: number; files: number }[]
  quotaMb: number
  stored: { bytes: number; files: number; limitBytes?: number | null }
}

export interface TokenList {
  tokens: {
    jti: string
    label: string
    scopes: string[]
    quotaMb: number
    issuedAt: string | number
    createdAt: string | number
    expiresAt: string | number
    lastUsedAt: string | number | null
    revokedAt: string | number | null
    current: boolean
    isCurrent: boolean
  }[]
}

export interface TokenPayload {
  sub: string
  email: string
  scopes: string[]
  quotaMb: number
  iat: number
  exp: number
  jti: string
}

export interface ServiceInfo {
  version: string
  tiers: {
    sponsored: { fileBytes: number; dailyBytes: number; concurrency: number; termDays: number }
    token: { fileBytes: number; quotaMb: number; concurrency: number; termDays: number }
  }
  signup: string
  tokenAlg: string
}

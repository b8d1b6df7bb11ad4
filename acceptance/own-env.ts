/** 64 hex digits: at least 32 bytes however a server reads it. */
export const OWN_TOKEN_KEY = '5f0c7d1e2b3a49586776859403122130a1b2c3d4e5f60718293a4b5c6d7e8f90'

/** The configuration of the server that the suite starts. */
export const OWN_ENV: Record<string, string> = {
  LADE_SPONSORED_FILE_MB: '1',
  LADE_SPONSORED_DAILY_MB: '2',
  LADE_TOKEN_FILE_MB: '4',
  LADE_TOKEN_DAILY_MB: '8',
  LADE_MIN_FREE_MB: '0',
  LADE_BODY_IDLE_SECONDS: '2',
  LADE_TRUSTED_PROXIES: '127.0.0.1',
  LADE_SIGNUPS_PER_HOUR: '1000000',
  LADE_SITES_URL: 'http://*.ipfs.example.com',
  LADE_LOG_LEVEL: 'error',
  LADE_TOKEN_KEY: OWN_TOKEN_KEY,
}

import { expect, test } from 'vitest'
import { siteUrl } from './site-label.ts'

const SITES = 'https://*.ipfs.example.org'

test('a root of CIDv0 is named in base32', () => {
  expect(siteUrl(SITES, 'QmbWqxBEKC3P8tqsKc98xmWNzrzDtRLMiMPL8wBuTGsMnR')).toBe(
    'https://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi.ipfs.example.org/',
  )
})

test('what no host can be named after has no site', () => {
  // A sha2-512, which is too long in base36 as well.
  const long = `f017013${'40'}${'ab'.repeat(64)}`
  expect(siteUrl(SITES, long)).toBeUndefined()
  expect(siteUrl(SITES, 'my-own-id')).toBeUndefined()
})

import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { SecretString } from './secret-string.ts'

describe('SecretString', () => {
  const secret = new SecretString('correct horse')

  it('prints [redacted] in templates, JSON, inspection and joins', () => {
    const printed = [
      `${secret}`,
      JSON.stringify({ secret }),
      inspect({ secret }, { showHidden: true }),
      [secret].join(),
    ]
    for (const text of printed) {
      expect(text).toContain('[redacted]')
      expect(text).not.toContain('horse')
    }
  })

  it('gives its text when asked on purpose', () => {
    expect(secret.reveal()).toBe('correct horse')
  })
})

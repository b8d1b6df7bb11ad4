import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { describe, expect, it } from 'vitest'
import { type AuditChain, addAuditLine, EMPTY_AUDIT_CHAIN, readAuditLine } from './audit-log.ts'

const sha256Hex = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)))

function linesOf(count: number): string[] {
  const lines: string[] = []
  for (let sequence = 1; sequence <= count; sequence += 1) {
    const previous = sequence === 1 ? '0'.repeat(64) : sha256Hex(lines.at(-1) ?? '')
    const at = new Date(Date.UTC(2026, 10, 21) + sequence).toISOString()
    lines.push(
      JSON.stringify({
        sequence,
        at,
        actor: 'operator',
        action: 'a.b',
        subject: 'c',
        detail: { n: sequence },
        previous,
      }),
    )
  }
  return lines
}

function check(lines: readonly string[]): AuditChain | string {
  let chain: AuditChain | string = EMPTY_AUDIT_CHAIN
  for (const line of lines) if (typeof chain !== 'string') chain = addAuditLine(chain, line, sha256Hex)
  return chain
}

describe('the chain of an audit log', () => {
  it('holds for the lines as they were written', () => {
    const lines = linesOf(5)
    expect(check(lines)).toEqual({ entries: 5, head: sha256Hex(lines[4] ?? '') })
    // Computed with sha256sum.
    expect(check(lines.slice(0, 2))).toEqual({
      entries: 2,
      head: '8aef2454d64b82e79ab989e4535a78b775432ead5e2c0c2ab93a8ab0fb724b23',
    })
    expect(check([])).toEqual({ entries: 0, head: '0'.repeat(64) })
  })

  it('breaks with every line that is changed, left out, repeated, moved or added in the middle', () => {
    const lines = linesOf(5)
    for (let at = 0; at < 4; at += 1) {
      const changed = lines.with(at, (lines[at] ?? '').replace('operator', 'somebody'))
      expect(check(changed)).toBe(`Entry ${at + 2} does not follow the entry before it: one of them was changed.`)
      expect(check(lines.toSpliced(at, 1))).toBe(`Line ${at + 1} is entry ${at + 2}: entries are missing or repeated.`)
      expect(typeof check(lines.toSpliced(at, 0, lines[at] ?? ''))).toBe('string')
      expect(typeof check(lines.toSpliced(at, 2, lines[at + 1] ?? '', lines[at] ?? ''))).toBe('string')
      const forged =
        linesOf(at + 1)
          .at(-1)
          ?.replace('"a.b"', '"x.y"') ?? ''
      expect(typeof check(lines.toSpliced(at, 1, forged))).toBe('string')
    }
  })

  it('names a line that is none', () => {
    expect(check([...linesOf(1), '{"sequence":2}'])).toBe('Line 2 is not an entry of an audit log.')
    expect(check(['no JSON'])).toBe('Line 1 is not an entry of an audit log.')
    expect(() => readAuditLine('null')).toThrow()
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { safeName } from './safe-name.ts'

describe('safeName', () => {
  it.each([
    ['photo.jpg', 'photo.jpg'],
    ['naïve plan 猫.pdf', 'naïve plan 猫.pdf'],
    ['../.ssh/authorized_keys', '___.ssh_authorized_keys'],
    ['/etc/passwd', '_etc_passwd'],
    ['C:\\Windows\\win.ini', 'C__Windows_win.ini'],
    ['.bashrc', '_bashrc'],
    ['-rf', '_rf'],
    ['..', 'bafk'],
    ['', 'bafk'],
    ['   ', 'bafk'],
    ['con.txt', '_con.txt'],
    ['LPT1', '_LPT1'],
    ['name. . ', 'name'],
    ['a\x00b\x1b[2J', 'a_b_[2J'],
    ['invoice\u202egpj.exe', 'invoice_gpj.exe'],
    ['a:b*c?d"e<f>g|h', 'a_b_c_d_e_f_g_h'],
  ])('writes %j as %j', (name, expected) => {
    expect(safeName(name, 'bafk')).toBe(expected)
  })

  it('takes the fallback where no name was given', () => {
    expect(safeName(undefined, 'bafk')).toBe('bafk')
  })

  it('shortens long names before their ending', () => {
    const name = safeName(`${'猫'.repeat(85)}.jpg`, 'bafk')
    expect(name).toMatch(/^猫+\.jpg$/)
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200)
  })

  it('is one name of one folder, whatever was suggested', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (suggested) => {
        const name = safeName(suggested, 'bafk')
        expect(name).not.toMatch(/[/\\\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
        expect(name).not.toMatch(/^[.-]|[. ]$|^$/)
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200)
      }),
      { numRuns: 1000 },
    )
  })
})

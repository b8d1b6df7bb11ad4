import { describe, expect, it } from 'vitest'
import { canBeNamed, consolePolicy } from './console-policy.ts'

describe('the policy of the console', () => {
  const policy = consolePolicy({ hosts: ['lade.example', '127.0.0.1:8080'], contentOrigin: undefined })
  const directives = new Map(policy.split('; ').map((text) => [text.split(' ')[0], text.split(' ').slice(1)]))

  it('lets scripts, workers and styles come from its own folder alone', () => {
    const folder = ['lade.example/console/', '127.0.0.1:8080/console/']
    for (const name of ['worker-src', 'style-src']) expect(directives.get(name)).toEqual(folder)
    expect(directives.get('script-src')).toEqual([...folder, "'wasm-unsafe-eval'"])
    expect(directives.get('default-src')).toEqual(["'none'"])
  })

  it('is shown in no frame, posts no form and turns no text into code', () => {
    for (const name of ['frame-ancestors', 'base-uri', 'form-action']) expect(directives.get(name)).toEqual(["'none'"])
    expect(directives.get('require-trusted-types-for')).toEqual(["'script'"])
    expect(policy).not.toMatch(/'unsafe-(?:inline|eval|hashes)'/)
  })

  it('shows files of the origin that they have', () => {
    const other = consolePolicy({ hosts: ['lade.example'], contentOrigin: 'https://files.example' })
    expect(other).toContain("frame-src 'self' lade.example https://files.example;")
    expect(other).toContain("img-src 'self' lade.example https://files.example data:;")
    expect(other).toContain("connect-src 'self';")
  })
})

describe('a host that a policy can name', () => {
  it.each(['localhost', 'localhost:8080', '127.0.0.1:8080', 'lade.example', 'a-b.example:443'])('may be %s', (host) => {
    expect(canBeNamed(host)).toBe(true)
  })

  it.each(['', '[::1]:8080', 'x; script-src *', "lade.example 'unsafe-inline'", 'a/b', 'a,b', '*', 'a:b'])(
    'is not %s',
    (host) => {
      expect(canBeNamed(host)).toBe(false)
    },
  )
})

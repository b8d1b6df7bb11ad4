import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { type RunningService, runService } from '../testing/running/running-service.ts'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const PAGE = readFileSync(new URL('../../../../docs/protocol/tokens.md', import.meta.url), 'utf8')
const KEY = '0123456789abcdef'.repeat(4)

const running: RunningService[] = []
afterEach(async () => {
  for (const service of running.splice(0).reverse()) await service.remove()
})

async function run(env: Record<string, string>): Promise<RunningService> {
  const service = await runService({ env })
  running.push(service)
  return service
}

/** The code of the page that verifies `token`, as somebody would copy it. */
function recipe(title: string, serviceUrl: string): string {
  const [, code] = PAGE.split(`<!-- recipe: ${title} -->\n\`\`\`js\n`)[1]?.match(/^([\s\S]*?)\n```/) ?? []
  if (code === undefined) throw new TypeError(`The page has no recipe "${title}".`)
  return code.replace('https://lade.example', serviceUrl)
}

/** What it answers in a program of its own, as it was printed; rejects when it throws. */
async function payloadBy(code: string, token: string): Promise<Record<string, unknown>> {
  const program = `const token = process.env.TOKEN\n${code}\nconsole.log(JSON.stringify(payload))`
  const env = { LADE_TOKEN_KEY: KEY, TOKEN: token }
  const args = ['--input-type=module', '-e', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env })
  return JSON.parse(stdout) as Record<string, unknown>
}

/** The same token with another payload. */
function altered(token: string): string {
  const [header, , signature] = token.split('.')
  return `${header}.${Buffer.from(JSON.stringify({ sub: 'root', exp: 9_999_999_999 })).toString('base64url')}.${signature}`
}

describe('the recipes of docs/protocol/tokens.md', () => {
  it.each([
    ['HS256 with jose', { LADE_TOKEN_KEY: KEY }],
    ['HS256 with jsonwebtoken', { LADE_TOKEN_KEY: KEY }],
    ['RS256 with jose', { LADE_TOKEN_ALG: 'RS256' }],
  ])('verify a token: %s', { timeout: 30_000 }, async (title, env) => {
    const service = await run(env)
    const { token, userId, email } = await service.signUp()
    const code = recipe(title, service.url)
    expect(await payloadBy(code, token)).toMatchObject({ sub: userId, email })
    await expect(payloadBy(code, altered(token))).rejects.toThrow(/signature/i)
    const other = await run({ LADE_TOKEN_ALG: service.config.tokenAlg })
    await expect(payloadBy(code, (await other.signUp()).token)).rejects.toThrow(/signature|no applicable key/i)
  })
})

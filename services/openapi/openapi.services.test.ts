import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lade, startLade } from '../lade.ts'
import { openTempHome, type TempHome } from '../temp-home.ts'
import { installTools, type OpenApiTools } from './tools.ts'

const FIXTURE = join(import.meta.dirname, 'fixture')
/** How many cases schemathesis makes for each operation and phase: over 2,000 in all, always the same, or 4,700 that differ each time. */
const CASES =
  process.env.LADE_TEST_PLAN === 'full' ? ['--max-examples', '60'] : ['--max-examples', '25', '--seed', '17']

const SAMPLE_SHA256 = '37980c33951de6b0e450c3701b219bfeee930544705f637cd1158b63827bb390'
const SAMPLE_CID = 'bafkreibxtagdhfi542yoiugdoansdg7652jqkrdql5rxzuivrnrye65tsa'

// What is tested is the document, so that no quota, and no limit on work, stands in the way.
const WITHOUT_LIMITS = {
  LADE_PORT: '0',
  LADE_MIN_FREE_MB: '0',
  LADE_SIGNUPS_PER_HOUR: '1000000',
  LADE_SPONSORED_DAILY_MB: '100000',
  LADE_SPONSORED_DAILY_FILES: '1000000',
  LADE_TOKEN_DAILY_MB: '100000',
  LADE_METRICS_TOKEN: 'a-token-for-metrics',
}

describe('programs that read the OpenAPI document', () => {
  let tools: OpenApiTools
  let home: TempHome
  let lade: Lade
  beforeAll(async () => {
    home = openTempHome('openapi')
    const dataDir = join(home.path, 'data')
    const installed = await Promise.all([installTools(), startLade({ ...WITHOUT_LIMITS, LADE_DATA_DIR: dataDir })])
    tools = installed[0]
    lade = installed[1]
    await cp(FIXTURE, tools.folder, { recursive: true })
    const document = await fetch(new URL('/openapi.json', lade.url))
    await writeFile(join(tools.folder, 'openapi.json'), await document.text())
  }, 600_000)
  afterAll(async () => {
    await lade?.stop()
    home?.discard()
    await tools?.remove()
  })

  const passes = async (ended: Promise<{ readonly code: number; readonly output: string }>): Promise<string> => {
    const { code, output } = await ended
    expect(code, output).toBe(0)
    return output
  }

  test('redocly finds nothing', async () => {
    const output = await passes(tools.node('redocly', ['lint', 'openapi.json', '--max-problems', '100']))
    expect(output).toMatch(/Your API description is valid/)
  })

  test('spectral finds nothing', async () => {
    const rules = ['--ruleset', 'spectral.yaml', '--fail-severity', 'hint']
    await passes(tools.node('spectral', ['lint', 'openapi.json', ...rules]))
  })

  test('a client of openapi-typescript and openapi-fetch signs up, uploads, lists and downloads', async () => {
    await passes(tools.run(process.execPath, ['make-types.mjs', 'openapi.json', 'api.d.ts']))
    await passes(tools.node('tsc', ['--project', '.']))
    const output = await passes(tools.run(process.execPath, ['first-steps.ts', lade.url.origin]))
    expect(JSON.parse(output)).toEqual({
      canPut: true,
      term: '20 days',
      names: ['hello ts.txt'],
      text: 'Hello from TypeScript\n',
      code: 'not_found',
    })
  })

  test('a client of openapi-python-client signs up, uploads, lists and downloads', async () => {
    const generate = ['generate', '--path', 'openapi.json', '--meta', 'none', '--output-path', 'lade_api']
    await passes(tools.python('openapi-python-client', generate))
    const output = await passes(tools.python('python', ['first_steps.py', lade.url.origin]))
    expect(JSON.parse(output)).toEqual({
      canPut: true,
      term: '20 days',
      names: ['hello py.txt'],
      text: 'Hello from Python\n',
      code: 'not_found',
    })
  })

  describe.each(['with a token', 'without a token'])('schemathesis %s', (how) => {
    test('finds no request and no response that differ from the document', async () => {
      const headers = how === 'with a token' ? ['--header', `Authorization: Bearer ${await tokenOf(lade)}`] : []
      const output = await passes(
        tools.python('st', ['run', new URL('/openapi.json', lade.url).href, ...CASES, ...headers], {
          SCHEMATHESIS_HOOKS: 'schemathesis_hooks',
          LADE_HAS_TOKEN: String(how === 'with a token'),
          LADE_PIECE_CID: await pieceCidOf(lade),
          LADE_FOLDER_CID: await folderCidOf(lade),
          PYTHONPATH: tools.folder,
        }),
      )
      const [, cases = '0'] = /(\d+) generated/.exec(output.replaceAll(',', '')) ?? []
      expect(Number(cases), output).toBeGreaterThan(2000)
    })
  })
})

async function tokenOf({ url }: Lade): Promise<string> {
  const response = await fetch(new URL('/api/auth/signup', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'schemathesis@example.org', label: 'schemathesis' }),
  })
  const { token } = (await response.json()) as { token: string }
  return token
}

/** Uploads the file of the samples, so that valid requests find something. */
async function pieceCidOf({ url }: Lade): Promise<string> {
  const response = await fetch(new URL(`/api/upload?cid=${SAMPLE_SHA256}`, url), {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'Hello, world\n',
  })
  const { pieceCid } = (await response.json()) as { pieceCid: string }
  return pieceCid
}

/** Makes a folder with the file of the samples in it. */
async function folderCidOf({ url }: Lade): Promise<string> {
  const response = await fetch(new URL('/api/directories', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ entries: [{ path: 'hello.txt', cid: SAMPLE_CID }] }),
  })
  const { cid } = (await response.json()) as { cid: string }
  return cid
}

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { SessionResult, SignupResult, UploadResult } from '@lade/core/wire'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningService, runService } from '../../testing/running/running-service.ts'
import { samplesOf } from './samples.ts'

const run = promisify(execFile)

interface Sample {
  readonly lang: string
  readonly source: string
}

/** Reports refusals by its exit code, as a person would see them, and says nothing else. */
const CURL = `curl() {
  case " $* " in
    *' --fail '*) command curl --silent --show-error "$@" ;;
    *) command curl --silent --show-error --fail-with-body "$@" ;;
  esac
}`

/** In the order in which they can be run: what makes something first, what ends it last. */
const FIRST = ['signUp', 'openSession', 'uploadFile']
const LAST = ['composeFile', 'removeFile', 'endSession', 'closeSession', 'revokeToken']
/** A prover has the file some seconds after the upload. */
const AFTER_PLACEMENT = ['challengeContent', 'setRedundancy', 'getPiece']

describe('samples of the documentation', () => {
  let service: RunningService
  let folder: string
  let samples: Map<string, readonly Sample[]>
  beforeAll(async () => {
    service = await runService()
    folder = mkdtempSync(join(tmpdir(), 'lade-samples-'))
    const { paths } = (await (await service.fetch('/openapi.json')).json()) as {
      paths: Record<string, Record<string, { operationId: string; 'x-codeSamples': readonly Sample[] }>>
    }
    const operations = Object.values(paths).flatMap((item) => Object.values(item))
    samples = new Map(operations.map((operation) => [operation.operationId, operation['x-codeSamples']]))
  })
  afterAll(async () => {
    await service.remove()
    rmSync(folder, { recursive: true })
  })

  const sourceOf = (operationId: string, lang: string): string | undefined =>
    samples.get(operationId)?.find((sample) => sample.lang === lang)?.source
  const shell = (source: string, env: Record<string, string>) => {
    const options = { cwd: folder, env: { ...process.env, ...env } }
    return run('bash', ['-euo', 'pipefail', '-c', `${CURL}\n${source}`], options)
  }

  const failureOf = async (source: string, env: Record<string, string>, withinMs: number) => {
    const end = performance.now() + withinMs
    for (;;) {
      const failure = await shell(source, env).then(
        () => undefined,
        ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
      )
      if (failure === undefined || performance.now() >= end) return failure
      await sleep(200)
    }
  }

  it('are commands for every operation, and each of them works', async () => {
    const signup: SignupResult = JSON.parse((await shell(sourceOf('signUp', 'Shell') ?? '', {})).stdout)
    const upload = await shell(sourceOf('uploadFile', 'Shell') ?? '', { TOKEN: signup.token })
    const opened = await shell(sourceOf('openSession', 'Shell') ?? '', { TOKEN: signup.token })
    const { session }: SessionResult = JSON.parse(opened.stdout)
    const file: UploadResult = JSON.parse(upload.stdout)
    const [, claims = ''] = signup.token.split('.')
    const { jti } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { jti: string }
    const env = {
      TOKEN: signup.token,
      CID: file.cid,
      DEAL_ID: file.dealId,
      PIECE_CID: file.pieceCid ?? '',
      JTI: jti,
      SESSION_ID: session.id,
    }

    const rest = [...samples.keys()].filter((id) => !FIRST.includes(id) && !LAST.includes(id))
    const failed: string[] = []
    for (const id of [...rest, ...LAST]) {
      const source = sourceOf(id, 'Shell') ?? ''
      const failure = await failureOf(source, env, AFTER_PLACEMENT.includes(id) ? 10_000 : 0)
      if (failure !== undefined) failed.push(`${id}: ${failure}`)
    }
    expect(failed).toEqual([])
  })

  it('are programs for the operations that everybody starts with, and each of them works', async () => {
    const { token } = await service.signUp('grace@example.org')
    const programs = { JavaScript: [process.execPath, 'sample.mjs'], Python: ['python3', 'sample.py'] } as const
    for (const [lang, [program, file]] of Object.entries(programs)) {
      for (const id of ['signUp', 'uploadFile', 'listFiles', 'getContent']) {
        writeFileSync(join(folder, file), sourceOf(id, lang) ?? 'error')
        const { stdout } = await run(program, [file], { cwd: folder, env: { ...process.env, TOKEN: token } })
        expect(stdout, `${lang} ${id}`).toMatch(/pk_live_|hello\.txt|bafk|Hello/)
      }
    }
  })

  it('are made of the path, and of what the query has to have, for an operation without one of its own', () => {
    const [sample] = samplesOf('http://127.0.0.1:8080', 'get', '/things/{thingId}', {
      operationId: 'getThing',
      tags: [],
      summary: 'Get a thing',
      security: [{ bearer: [] }],
      parameters: [
        { name: 'thingId', in: 'path', required: true, schema: {} },
        { name: 'pieceCid', in: 'query', required: true, schema: {} },
        { name: 'limit', in: 'query', schema: {} },
      ],
      responses: {},
    })
    expect(sample?.source).toBe(
      'curl "http://127.0.0.1:8080/things/$THING_ID?pieceCid=$PIECE_CID" \\\n  --header "Authorization: Bearer $TOKEN"',
    )
  })

  it('start with an upload that works without a token', async () => {
    const { info } = (await (await service.fetch('/openapi.json')).json()) as { info: { description: string } }
    const [, commands = ''] = /```sh\n([\s\S]*?)```/.exec(info.description) ?? []
    const { stdout } = await shell(commands, {})
    expect(stdout).toMatch(/"sponsored":true.*Hello, world\n$/s)
  })
})

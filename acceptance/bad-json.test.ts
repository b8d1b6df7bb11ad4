import { describe, expect, test } from 'vitest'
import type { Answer } from './caller.ts'
import { expectProblem } from './problem.ts'
import { RawConnection } from './raw-http.ts'
import type { SignupResult } from './shapes.ts'
import { sampleBytes, useTarget } from './target.ts'
import { readToken } from './token-forge.ts'

const target = useTarget()
const freshEmail = () => `acceptance-${sampleBytes(8).toString('hex')}@example.com`

function signup(body: string | Uint8Array, contentType: string | undefined = 'application/json'): Promise<Answer> {
  return target.anonymous().request('POST', '/api/auth/signup', { headers: { 'Content-Type': contentType }, body })
}

const good = () => JSON.stringify({ email: freshEmail(), label: 'x' })

describe('the JSON of a signup', () => {
  const refused: readonly [string, () => string | Uint8Array][] = [
    ['no JSON', () => 'hello'],
    ['broken JSON', () => '{"email":'],
    ['JSON with something after it', () => `${good()}x`],
    ['JSON with a comment', () => `/* */${good()}`],
    ['a byte order mark', () => `\uFEFF${good()}`],
    ['arrays 10,000 deep', () => '['.repeat(10_000) + ']'.repeat(10_000)],
    ['objects 10,000 deep', () => `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['UTF-16', () => Buffer.from(good(), 'utf16le')],
    [
      'bytes that are not UTF-8',
      () =>
        Buffer.concat([Buffer.from('{"email":"a@example.com","label":"'), Buffer.of(0xff, 0xfe), Buffer.from('"}')]),
    ],
    [
      'an overlong encoding',
      () =>
        Buffer.concat([Buffer.from('{"email":"a@example.com","label":"'), Buffer.of(0xc0, 0xaf), Buffer.from('"}')]),
    ],
  ]
  test.for(refused)('refuses %s', async ([, body]) => {
    expectProblem(await signup(body()), 400, 'invalid_json')
  })

  test.for(['array', 'null', '1', '"text"'])('refuses the JSON %s, which is no object, and says so', async (json) => {
    const problem = expectProblem(await signup(json === 'array' ? `[${good()}]` : json), 400, 'bad_request')
    expect(problem.detail).toMatch(/must be a JSON object/)
  })

  test('names the field that is missing or wrong, and what it may be, in no words of a library', async () => {
    const send = (fields: object) => signup(JSON.stringify({ email: freshEmail(), label: 'x', ...fields }))
    const told: readonly [object, string, RegExp][] = [
      [{ label: undefined }, 'invalid_label', /^label is missing\.$/],
      [{ email: 7 }, 'invalid_email', /^email is 7, but it must be text\.$/],
      [
        { scopes: ['put', 'write'] },
        'invalid_scopes',
        /^scopes\[1\] is "write", but it must be one of put, get, list, pin\.$/,
      ],
      [{ ttlDays: 'year' }, 'bad_request', /^ttlDays is "year", but it must be a (whole )?number\.$/],
      [{ quotaMb: 1.5 }, 'bad_request', /^quotaMb is 1\.5, but it must be a whole number\.$/],
    ]
    for (const [fields, code, sentence] of told) {
      expect(expectProblem(await send(fields), 400, code).detail).toMatch(sentence)
    }
  })

  test('refuses 1 MiB of JSON, quickly', async () => {
    const started = Date.now()
    const answer = await signup(JSON.stringify({ email: freshEmail(), label: 'x', padding: 'a'.repeat(1_048_576) }))
    expectProblem(answer, [400, 413], ['invalid_json', 'too_large'])
    expect(Date.now() - started).toBeLessThan(2_000)
  })

  test('refuses no body and an empty body', async () => {
    expectProblem(await signup(''), 400, ['invalid_json', 'no_body', 'empty_body'])
    expectProblem(await target.anonymous().request('POST', '/api/auth/signup'), 400, [
      'invalid_json',
      'no_body',
      'empty_body',
    ])
  })

  test.for([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'nonsense',
  ])('refuses JSON sent as %s, which a form of another site could send', async (contentType) => {
    expectProblem(await signup(good(), contentType), [400, 415], ['invalid_json', 'invalid_content_type'])
  })

  test.for(['__proto__', 'constructor'])(
    'a member named %s raises nothing and pollutes nothing',
    async (name, context) => {
      target.needsOwnServer(context, 'needs as many signups as it likes')
      const value = '{"quotaMb":999999,"polluted":true,"prototype":{"polluted":true}}'
      const answer = await signup(`{"email":"${freshEmail()}","label":"x","${name}":${value}}`)
      if (answer.status === 200) {
        expect(readToken(answer.json<SignupResult>().token).payload.quotaMb).toBe(target.info.tiers.token.quotaMb)
      } else {
        expectProblem(answer, 400, ['invalid_json', 'bad_request'])
      }
      const after = (await target.anonymous().get('/api/info')).body.toString()
      expect(after).not.toContain('polluted')
    },
  )

  test('application/json with a charset is read', async (context) => {
    target.needsOwnServer(context, 'needs as many signups as it likes')
    expect((await signup(good(), 'application/json; charset=utf-8')).status).toBe(200)
  })
})

describe('the JSON of a revocation and of a share', () => {
  test.for(['/api/tokens/revoke', `/api/files/${'a'.repeat(64)}/share`])(
    'POST %s refuses what is not JSON',
    async (path, context) => {
      const user = await target.anyUser(context)
      for (const body of ['hello', '[]', 'null', '{"jti":']) {
        const answer = await user.request('POST', path, { headers: { 'Content-Type': 'application/json' }, body })
        expectProblem(answer, [400, 404], ['invalid_json', 'bad_request', 'not_found'])
      }
    },
  )
})

describe('repeated query parameters', () => {
  test('refuses two cids, and stages neither', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes()
    const cid = `x${sampleBytes(10).toString('hex')}`
    for (const query of [`&cid=${cid}`, '&cid=', `&cid=${cid}x`]) {
      expectProblem(await user.upload(bytes, { cid, query }), 400, ['invalid_cid', 'bad_request'])
    }
    expect((await user.usage()).today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
  })

  test('cid[]= is not cid=', async () => {
    const answer = await target.anonymous().request('POST', `/api/upload?cid[]=${'a'.repeat(64)}`, {
      headers: { 'Content-Type': 'text/plain' },
      body: 'x',
    })
    expectProblem(answer, 400, 'invalid_cid')
  })

  test.for(['limit=1&limit=2', 'cursor=a&cursor=b', 'q=a&q=b'])(
    'refuses ?%s on the file list',
    async (query, context) => {
      expectProblem(await (await target.anyUser(context)).get(`/api/files?${query}`), 400, 'bad_request')
    },
  )
})

describe('a JSON body that does not arrive', () => {
  test('ends its connection, however steadily it drips', async (context) => {
    target.needsOwnServer(context, 'the time that a body may take is chosen at its start')
    const connection = await RawConnection.open(target.directUrl)
    const drip = setInterval(() => connection.write(Uint8Array.of(0x20)), 300)
    try {
      connection.write(
        `POST /api/auth/signup HTTP/1.1\r\nHost: ${target.directUrl.host}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`,
      )
      expect(await connection.until(() => connection.isClosed, 10_000)).toBe(true)
    } finally {
      clearInterval(drip)
      connection.destroy()
    }
  })
})

/**
 * `/ipfs/{cid}[/{path}]?format=tar`: what gateway-conformance v0.13 asks of `path-tar-gateway`, said in other words.
 *
 * @see https://specs.ipfs.tech/ipips/ipip-0288/
 */
import { describe, expect, test } from 'vitest'
import { type Answer, headerOf } from '../caller.ts'
import { expectProblem } from '../problem.ts'
import { sampleBytes, useTarget } from '../target.ts'
import { nestedNames, rawCid, stageDag, stageFolder } from './folders.ts'

const target = useTarget()
const RECORD = 512
const TEXT = 'I am a txt file on path with utf8\n'

/** The entries of a TAR archive: names with the bytes of files. Of the extended headers, paths are read. */
function readTar({ body }: Answer): Map<string, string> {
  const entries = new Map<string, string>()
  const field = (at: number, from: number, length: number) =>
    body
      .subarray(at + from, at + from + length)
      .toString('latin1')
      .replace(/[\0 ].*$/s, '')
  let longPath: string | undefined
  for (let at = 0; at < body.length && body[at] !== 0; ) {
    const size = Number.parseInt(field(at, 124, 12), 8)
    const kind = field(at, 156, 1)
    const content = body.subarray(at + RECORD, at + RECORD + size).toString()
    const path = longPath ?? [field(at, 345, 155), field(at, 0, 100)].filter((part) => part !== '').join('/')
    longPath = kind === 'x' ? /^\d+ path=(.*)$/m.exec(content)?.[1] : undefined
    if (kind !== 'x') entries.set(path, content)
    at += RECORD + Math.ceil(size / RECORD) * RECORD
  }
  return entries
}

describe('a TAR', () => {
  test('of a file has it under its CID', async () => {
    const caller = target.anonymous()
    const bytes = sampleBytes(1000).toString('hex')
    await stageFolder(caller, { 'a.txt': bytes })
    const cid = rawCid(bytes)
    for (const [query, accept] of [
      ['?format=tar', '*/*'],
      ['', 'application/x-tar'],
    ] as const) {
      const answer = await caller.get(`/ipfs/${cid}${query}`, { Accept: accept })
      expect(answer.status).toBe(200)
      expect(answer.headers).toMatchObject({
        'content-type': 'application/x-tar',
        'content-disposition': `attachment; filename="${cid}.tar"`,
        etag: `W/"${cid}.x-tar"`,
      })
      expect([...readTar(answer)]).toEqual([[cid, bytes]])
    }
  })

  test('of a folder has all of it under one name', async () => {
    const caller = target.anonymous()
    const root = await stageFolder(caller, { 'ą/ę/file-źł.txt': TEXT, 'api/file.txt': 'in api' })
    const whole = readTar(await caller.get(`/ipfs/${root}?format=tar`))
    expect(whole.get(`${root}/ą/ę/file-źł.txt`)).toBe(TEXT)
    expect(whole.get(`${root}/api/file.txt`)).toBe('in api')
    const part = readTar(await caller.get(`/ipfs/${root}/%C4%85?format=tar`))
    expect([...part.keys()]).toEqual(['ą/', 'ą/ę/', 'ą/ę/file-źł.txt'])
  })

  test('is saved under the name that is asked for', async () => {
    const caller = target.anonymous()
    const root = await stageFolder(caller, { a: 'a' })
    const filename = encodeURIComponent('testтест.tar')
    const answer = await caller.get(`/ipfs/${root}?format=tar&filename=${filename}`)
    expect(headerOf(answer, 'content-disposition')).toBe(
      `attachment; filename="test____.tar"; filename*=UTF-8''test%D1%82%D0%B5%D1%81%D1%82.tar`,
    )
  })

  test.for([[['../foo']], [['a', '../../foo']], [['..']], [['a', '..', 'foo']]])(
    'of a folder with the names %j is refused',
    async ([names]) => {
      const caller = target.anonymous()
      const root = await stageDag(caller, nestedNames(...(names ?? [])))
      expectProblem(await caller.get(`/ipfs/${root}?format=tar`), 406, 'not_acceptable')
    },
  )

  test('resolves names that stay inside', async () => {
    const caller = target.anonymous()
    const root = await stageDag(caller, nestedNames('foobar', 'directory', '../file'))
    expect([...readTar(await caller.get(`/ipfs/${root}?format=tar`)).keys()]).toContain(`${root}/foobar/file`)
  })
})

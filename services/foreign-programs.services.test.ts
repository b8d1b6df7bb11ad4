import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeScenario, pathOf, program } from '../faults/harness.ts'
import { type Lade, startLade } from './lade.ts'
import { makeSamples, type Sample } from './sample-media.ts'
import { openTempHome, type TempHome } from './temp-home.ts'

const MIB = 1_048_576
const BIG = randomBytes(12 * MIB)
/** Above the limit of a file, and far above what any socket holds. */
const TOO_BIG = Buffer.alloc(60 * MIB)

let home: TempHome
let service: Lade
beforeAll(async () => {
  home = openTempHome('foreign')
  service = await startLade({
    LADE_PORT: '0',
    LADE_DATA_DIR: join(home.path, 'data'),
    LADE_MIN_FREE_MB: '0',
    LADE_SPONSORED_FILE_MB: '40',
    LADE_SPONSORED_DAILY_MB: '400',
  })
  writeFileSync(join(home.path, 'big.bin'), BIG)
  writeFileSync(join(home.path, 'too-big.bin'), TOO_BIG)
})
afterAll(async () => {
  await service.stop()
  home.discard()
})

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const pathIn = (name: string): string => join(home.path, name)
const uploadUrl = (bytes: Uint8Array): string => new URL(`/api/upload?cid=${digestOf(bytes)}`, service.url).href
const linkTo = (bytes: Uint8Array): string => new URL(`/p/${digestOf(bytes)}`, service.url).href

/** Writes bytes that nobody has uploaded yet to a file. */
function freshFile(name: string, sizeBytes: number): Buffer {
  const bytes = randomBytes(sizeBytes)
  writeFileSync(pathIn(name), bytes)
  return bytes
}

async function upload(bytes: Uint8Array, name: string, contentType = 'application/octet-stream'): Promise<void> {
  const headers = { 'content-type': contentType, 'x-filename': encodeURIComponent(name) }
  const response = await fetch(uploadUrl(bytes), { method: 'POST', body: Uint8Array.from(bytes), headers })
  expect(response.status).toBe(200)
}

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly errors: string
}

/** Runs a program to its end, in the folder of the test. */
function run(command: string, args: readonly string[], input?: string): Promise<Ran> {
  const child = spawn(pathOf(command) ?? command, args, {
    cwd: home.path,
    env: { ...process.env, HOME: home.path, RCLONE_CONFIG: '/dev/null' },
  })
  let out = ''
  let errors = ''
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('latin1')
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString('latin1')
  })
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, out, errors }))
  })
}

describeScenario({ id: 'curl', name: 'curl', needs: [program('curl', 'curl')] }, () => {
  test('-T uploads, by PUT', async () => {
    const bytes = freshFile('curl.bin', 3 * MIB)
    const { code, out } = await run('curl', ['-sS', '-T', 'curl.bin', '-H', 'Content-Type: a/b', uploadUrl(bytes)])
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ cid: digestOf(bytes), size: bytes.length })])
  })

  test('--data-binary uploads, by POST', async () => {
    const bytes = freshFile('data.bin', 2000)
    const { out } = await run('curl', [
      '-sS',
      '--data-binary',
      '@data.bin',
      '-H',
      'Content-Type: a/b',
      uploadUrl(bytes),
    ])
    expect(JSON.parse(out)).toMatchObject({ cid: digestOf(bytes) })
  })

  test('--json uploads JSON', async () => {
    const bytes = Buffer.from(JSON.stringify({ number: Math.random() }))
    const { out } = await run('curl', ['-sS', '--json', bytes.toString(), uploadUrl(bytes)])
    expect(JSON.parse(out)).toMatchObject({ cid: digestOf(bytes) })
    const got = await fetch(linkTo(bytes))
    expect([got.headers.get('content-type'), await got.json()]).toEqual(['application/json', JSON.parse(String(bytes))])
  })

  test('-F is told to send the raw bytes, with the option that does', async () => {
    const bytes = freshFile('form.bin', 6 * MIB)
    const { code, out } = await run('curl', ['-sS', '-F', 'file=@form.bin', uploadUrl(bytes)])
    expect([code, JSON.parse(out)]).toMatchObject([0, { error: 'unsupported_media_type', status: 415 }])
    expect(JSON.parse(out).detail).toContain('-T FILE')
  })

  test('a refused file of any size is answered, and no broken pipe', async () => {
    for (const expect100 of ['Expect:', 'Expect: 100-continue']) {
      const args = ['-sS', '-T', 'too-big.bin', '-H', 'Content-Type: a/b', '-H', expect100, uploadUrl(TOO_BIG)]
      const { code, out } = await run('curl', args)
      expect([expect100, code, JSON.parse(out)]).toMatchObject([expect100, 0, { error: 'too_large' }])
    }
  })

  test('downloads under the name of the file, goes on, and asks whether there is something new', async () => {
    await upload(BIG, 'naïve plan.bin')
    const url = linkTo(BIG)
    expect((await run('curl', ['-sS', '-OJ', '--output-dir', home.path, url])).code).toBe(0)
    writeFileSync(pathIn('part.bin'), BIG.subarray(0, 5 * MIB))
    expect((await run('curl', ['-sS', '-C', '-', '-o', 'part.bin', url])).code).toBe(0)
    expect(readFileSync(pathIn('part.bin')).equals(BIG)).toBe(true)
    const again = await run('curl', ['-sS', '-R', '-z', 'part.bin', '-o', 'again.bin', '-w', '%{http_code}', url])
    expect(again.out).toBe('304')
    const head = await run('curl', ['-sS', '-I', url])
    expect(head.out).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(head.out).toMatch(/\r\nlast-modified: \w{3}, /i)
  })
})

describeScenario({ id: 'wget', name: 'wget', needs: [program('wget', 'wget')] }, () => {
  test('downloads, goes on, and downloads nothing twice (-N)', async () => {
    await upload(BIG, 'big.bin')
    const url = linkTo(BIG)
    const name = digestOf(BIG)
    writeFileSync(pathIn(name), BIG.subarray(0, 3 * MIB))
    expect((await run('wget', ['-q', '-c', url])).code).toBe(0)
    expect(readFileSync(pathIn(name)).equals(BIG)).toBe(true)
    expect((await run('wget', ['-nv', '-N', url])).code).toBe(0)
    const before = statSync(pathIn(name)).mtimeMs
    const again = await run('wget', ['-N', '-S', url])
    expect([again.code, statSync(pathIn(name)).mtimeMs]).toEqual([0, before])
    expect(again.errors).toMatch(/304 Not Modified|not modified on server/i)
  })

  test('uploads, by POST and by PUT', async () => {
    for (const method of ['POST', 'PUT']) {
      const bytes = freshFile('wget.bin', 700_000)
      const args = ['-q', '-O', '-', `--method=${method}`, '--body-file=wget.bin', '--header=Content-Type: a/b']
      const { code, out } = await run('wget', [...args, uploadUrl(bytes)])
      expect([code, JSON.parse(out)]).toMatchObject([0, { cid: digestOf(bytes) }])
    }
  })
})

describeScenario({ id: 'aria2c', name: 'aria2c', needs: [program('aria2c', 'aria2')] }, () => {
  test('downloads over four connections, and checks the digest', async () => {
    await upload(BIG, 'big.bin')
    const options = ['-q', '-x4', '-s4', '-k1M', '--allow-overwrite', `--checksum=sha-256=${digestOf(BIG)}`]
    expect(await run('aria2c', [...options, '-o', 'aria.bin', linkTo(BIG)])).toMatchObject({ code: 0 })
    expect(readFileSync(pathIn('aria.bin')).equals(BIG)).toBe(true)
  })
})

describeScenario({ id: 'httpie', name: 'httpie', needs: [program('http', 'httpie')] }, () => {
  const http = (args: readonly string[]) => run('http', ['--ignore-stdin', '--check-status', '--body', ...args])

  test('uploads a file', async () => {
    const bytes = freshFile('httpie.bin', 800_000)
    const { code, out } = await http(['PUT', uploadUrl(bytes), 'Content-Type:a/b', `@httpie.bin`])
    expect([code, JSON.parse(out)]).toMatchObject([0, { cid: digestOf(bytes) }])
  })

  test('a refused file of 60 MB shows the answer, and no broken pipe', async () => {
    const { code, out, errors } = await http(['POST', uploadUrl(TOO_BIG), 'Content-Type:a/b', '@too-big.bin'])
    expect(errors).not.toMatch(/broken pipe|connection/i)
    expect([code, JSON.parse(out)]).toMatchObject([4, { error: 'too_large' }])
  })

  test('--multipart is told to send the raw bytes', async () => {
    const bytes = freshFile('form.bin', 5 * MIB)
    const { code, out } = await http(['--multipart', 'POST', uploadUrl(bytes), 'file@form.bin'])
    expect([code, JSON.parse(out)]).toMatchObject([4, { error: 'unsupported_media_type' }])
  })

  test('downloads', async () => {
    await upload(BIG, 'big.bin')
    const { code } = await run('http', ['--ignore-stdin', '--download', '-o', 'httpie-got.bin', linkTo(BIG)])
    expect([code, readFileSync(pathIn('httpie-got.bin')).equals(BIG)]).toEqual([0, true])
  })
})

describeScenario({ id: 'urllib', name: 'urllib', needs: [program('python3', 'python3')] }, () => {
  const SCRIPT = `
import json, sys, urllib.error, urllib.request
method, url, path = sys.argv[1:4]
data = open(path, 'rb').read()
request = urllib.request.Request(url, data=data, method=method, headers={'Content-Type': 'a/b'})
try:
    with urllib.request.urlopen(request) as answer:
        print(json.dumps({'status': answer.status, 'body': json.load(answer)}))
except urllib.error.HTTPError as error:
    print(json.dumps({'status': error.code, 'body': json.load(error)}))
`

  test('uploads a file', async () => {
    const bytes = freshFile('urllib.bin', 900_000)
    const { code, out } = await run('python3', ['-c', SCRIPT, 'PUT', uploadUrl(bytes), 'urllib.bin'])
    expect([code, JSON.parse(out)]).toMatchObject([0, { status: 200, body: { cid: digestOf(bytes) } }])
  })

  test('a refused file of 60 MB is an HTTPError with its answer, and no broken pipe', async () => {
    const { code, out, errors } = await run('python3', ['-c', SCRIPT, 'POST', uploadUrl(TOO_BIG), 'too-big.bin'])
    expect(errors).toBe('')
    expect([code, JSON.parse(out)]).toMatchObject([0, { status: 413, body: { error: 'too_large' } }])
  })
})

describeScenario({ id: 'rclone', name: 'rclone', needs: [program('rclone', 'rclone')] }, () => {
  test('copyurl downloads under the name of the file', async () => {
    const bytes = freshFile('source.bin', 2 * MIB)
    await upload(bytes, 'a plan.bin')
    const { code, errors } = await run('rclone', [
      'copyurl',
      linkTo(bytes),
      '.',
      '--auto-filename',
      '--header-filename',
    ])
    expect([code, errors]).toEqual([0, ''])
    expect(readFileSync(pathIn('a plan.bin')).equals(bytes)).toBe(true)
  })

  test('http reads a file, its size and its time', async () => {
    await upload(BIG, 'big.bin')
    const remote = `:http,url='${new URL('/p/', service.url).href}':${digestOf(BIG)}`
    expect(await run('rclone', ['copyto', remote, 'rclone.bin'])).toMatchObject({ code: 0 })
    expect(readFileSync(pathIn('rclone.bin')).equals(BIG)).toBe(true)
    // It has the time of the file, so that the next one copies nothing.
    const age = Date.now() - statSync(pathIn('rclone.bin')).mtimeMs
    expect(age).toBeLessThan(3_600_000)
    const again = await run('rclone', ['copyto', '-v', remote, 'rclone.bin'])
    expect([again.code, /Copied \(/.test(again.errors)]).toEqual([0, false])
  })
})

describeScenario({ id: 'ffmpeg', name: 'ffmpeg', needs: [program('ffmpeg', 'ffmpeg')] }, () => {
  let samples: readonly Sample[]
  beforeAll(async () => {
    samples = makeSamples().filter(({ contentType }) => /^(video|audio)\//.test(contentType))
    for (const { bytes, name, contentType } of samples) await upload(bytes, name, contentType)
  })

  test('reads every film and tone from its link, also one whose index is at its end', async () => {
    for (const { bytes, name } of samples) {
      const args = ['-hide_banner', '-loglevel', 'error', '-i', linkTo(bytes), '-f', 'null', '-']
      expect([name, await run('ffmpeg', args)]).toEqual([name, { code: 0, out: '', errors: '' }])
    }
  })

  test('begins in the middle', async () => {
    const film = samples.find(({ name }) => name === 'film.mp4')
    if (film === undefined) throw new Error('there is no film')
    const args = ['-hide_banner', '-loglevel', 'error', '-y', '-ss', '1', '-i', linkTo(film.bytes), '-frames:v', '1']
    expect(await run('ffmpeg', [...args, 'still.png'])).toMatchObject({ code: 0, errors: '' })
    expect(existsSync(pathIn('still.png'))).toBe(true)
  })
})

describe('the service after all of them', () => {
  test('has logged no failure', () => {
    expect(service.log()).not.toMatch(/"level":(50|60)/)
  })
})

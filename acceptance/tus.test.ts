/** tus 1.0.0: https://tus.io/protocols/resumable-upload. Each status of the specification, with the extensions that `OPTIONS` names. */
import { once } from 'node:events'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Answer, type Caller, exchange, headerOf } from './caller.ts'
import { hexOf, rawCidOf } from './content-ids.ts'
import { importFile, PROFILES } from './network-ids.ts'
import { expectProblem } from './problem.ts'
import { MIB, sampleBytes, type User, useTarget } from './target.ts'
import { checksumOf, metadataOf, OFFSET_STREAM, pathOf, TusClient } from './tus-client.ts'
import { direct, expectStored } from './upload-callers.ts'

const target = useTarget()

const today = async (user: User) => (await user.usage()).today

async function expectNothingLeft(user: User): Promise<void> {
  const usage = await user.usage()
  expect(usage.today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
  expect(usage.stored).toMatchObject({ bytes: 0, files: 0 })
}

/** What a status says of a tus upload. */
function expectTus(answer: Answer, status: number): void {
  expect(answer.status, answer.body.toString()).toBe(status)
  expect(headerOf(answer, 'tus-resumable')).toBe('1.0.0')
}

describe('OPTIONS', () => {
  test('names the version, the extensions, the checksums and the largest size, to any page', async () => {
    const answer = await exchange(target.baseUrl, 'OPTIONS', '/api/tus', {
      headers: { Origin: 'https://example.org', 'Access-Control-Request-Headers': 'tus-resumable, x-own' },
    })
    expect(answer.status).toBe(204)
    expect(headerOf(answer, 'tus-version')).toBe('1.0.0')
    const extensions =
      'creation,creation-with-upload,creation-defer-length,expiration,checksum,termination,concatenation'
    expect(headerOf(answer, 'tus-extension')).toBe(extensions)
    expect(headerOf(answer, 'tus-checksum-algorithm').split(',')).toContain('sha1')
    expect(Number(headerOf(answer, 'tus-max-size'))).toBeGreaterThan(0)
    expect(headerOf(answer, 'access-control-allow-origin')).toBe('*')
    expect(headerOf(answer, 'access-control-allow-methods')).toContain('PATCH')
    for (const name of ['Upload-Offset', 'Upload-Metadata', 'x-own']) {
      expect(headerOf(answer, 'access-control-allow-headers')).toContain(name)
    }
    for (const name of ['Location', 'Upload-Offset', 'Tus-Resumable', 'X-Cid']) {
      expect(headerOf(answer, 'access-control-expose-headers')).toContain(name)
    }
  })
})

describe('an upload', () => {
  test.for([
    ['small', 1000],
    ['of several MiB', 3 * MIB + 77],
  ] as const)('%s, in three requests, is stored, charged once, and named', async ([, sizeBytes], context) => {
    target.needsOwnServer(context, 'stages more than 1 MiB')
    const user = await target.freshUser(context)
    const tus = new TusClient(user)
    const bytes = sampleBytes(sizeBytes)
    const metadata = metadataOf({ filename: 'naïve plan.txt', filetype: 'text/plain', own: 'x' })
    const created = await tus.create({ 'Upload-Length': String(sizeBytes), 'Upload-Metadata': metadata })
    expectTus(created, 201)
    expect(new URL(headerOf(created, 'location')).pathname).toMatch(/^\/api\/tus\/[\w-]+$/)
    expect(Date.parse(headerOf(created, 'upload-expires'))).toBeGreaterThan(Date.now() + 23 * 3_600_000)
    const path = pathOf(created)
    expect(await today(user)).toMatchObject({ bytes: 0, reservedBytes: sizeBytes })

    const third = Math.floor(sizeBytes / 3)
    for (const [from, to] of [
      [0, third],
      [third, 2 * third],
    ] as const) {
      const patched = await tus.patch(path, from, bytes.subarray(from, to))
      expectTus(patched, 204)
      expect(headerOf(patched, 'upload-offset')).toBe(String(to))
      expect(headerOf(patched, 'upload-expires')).not.toBe('')
      const head = await tus.head(path)
      expectTus(head, 200)
      expect(head.headers).toMatchObject({
        'upload-offset': String(to),
        'upload-length': String(sizeBytes),
        'upload-metadata': metadata,
        'cache-control': 'no-store',
      })
    }
    const last = await tus.patch(path, 2 * third, bytes.subarray(2 * third))
    expectTus(last, 204)
    expect(headerOf(last, 'upload-offset')).toBe(String(sizeBytes))
    const cid = headerOf(last, 'x-cid')
    const { root } = await importFile(bytes, PROFILES['unixfs-v1-2025'])
    expect(cid).toBe(root.toString())
    await expectStored(user, cid, bytes)
    const { files } = await user.files()
    expect(files[0]).toMatchObject({ cid, filename: 'naïve plan.txt', contentType: 'text/plain' })
    expect(await today(user)).toMatchObject({ bytes: sizeBytes, files: 1, reservedBytes: 0 })
    // The answer may be lost.
    const head = await tus.head(path)
    expect(head.headers).toMatchObject({ 'upload-offset': String(sizeBytes), 'x-cid': cid })
    expectTus(await tus.patch(path, sizeBytes, new Uint8Array()), 204)
  })

  test.for([500, 2 * MIB])('of %i bytes is verified against its cid, and its sha256', async (sizeBytes, context) => {
    target.needsOwnServer(context, 'stages more than 1 MiB')
    const user = await target.freshUser(context)
    const tus = new TusClient(user)
    const bytes = sampleBytes(sizeBytes)
    const cid = rawCidOf(bytes).base32
    const metadata = metadataOf({ cid, sha256: hexOf(bytes), termDays: '1' })
    const path = await tus.open({ 'Upload-Length': String(sizeBytes), 'Upload-Metadata': metadata })
    await tus.patch(path, 0, bytes.subarray(0, 100))
    const last = await tus.patch(path, 100, bytes.subarray(100))
    expectTus(last, 204)
    expect(headerOf(last, 'x-cid')).toBe(cid)
    await expectStored(user, cid, bytes)
  })

  test.for([500, 2 * MIB])('error: of %i bytes that do not have its cid leaves nothing', async (sizeBytes, context) => {
    target.needsOwnServer(context, 'stages more than 1 MiB')
    const user = await target.freshUser(context)
    const tus = new TusClient(user)
    const bytes = sampleBytes(sizeBytes)
    const cid = rawCidOf(sampleBytes(sizeBytes)).base32
    const path = await tus.open({ 'Upload-Length': String(sizeBytes), 'Upload-Metadata': metadataOf({ cid }) })
    await tus.patch(path, 0, bytes.subarray(0, 100))
    expectProblem(await tus.patch(path, 100, bytes.subarray(100)), 422, 'cid_mismatch')
    expect((await tus.head(path)).status).toBe(404)
    await expectNothingLeft(user)
    expect((await user.retrieve(rawCidOf(bytes).base32)).status).toBe(404)
  })

  test('of no bytes is complete at once', async (context) => {
    const user = await target.anyUser(context)
    const created = await new TusClient(user).create({ 'Upload-Length': '0' })
    expectTus(created, 201)
    expect(headerOf(created, 'upload-offset')).toBe('0')
    expect(headerOf(created, 'x-cid')).toBe('bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku')
  })

  test('without a token counts against the address, and is public', async () => {
    const anonymous = target.anonymous()
    const tus = new TusClient(anonymous)
    const bytes = sampleBytes(300)
    const path = await tus.open({ 'Upload-Length': '300' })
    const patched = await tus.patch(path, 0, bytes)
    expectTus(patched, 204)
    await expectStored(anonymous, headerOf(patched, 'x-cid'), bytes)
  })

  test('with the bytes of a file of the caller charges nothing', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes(400)
    await user.stage(bytes)
    const tus = new TusClient(user)
    const metadata = metadataOf({ cid: rawCidOf(bytes).base32, filetype: 'text/plain' })
    const path = await tus.open({ 'Upload-Length': '400', 'Upload-Metadata': metadata })
    expect(await today(user)).toMatchObject({ bytes: 400, reservedBytes: 0 })
    expectTus(await tus.patch(path, 0, bytes), 204)
    expect(await today(user)).toMatchObject({ bytes: 400, files: 1, reservedBytes: 0 })
  })
})

describe('creation', () => {
  const REFUSED: readonly (readonly [what: string, headers: Record<string, string>, status: number, code: string])[] = [
    ['without a length', {}, 400, 'bad_request'],
    ['with two lengths', { 'Upload-Length': '5', 'Upload-Defer-Length': '1' }, 400, 'bad_request'],
    ['with a length that is none', { 'Upload-Length': '-5' }, 400, 'bad_request'],
    ['with a deferred length of 2', { 'Upload-Defer-Length': '2' }, 400, 'bad_request'],
    ['that is too large', { 'Upload-Length': String(2 ** 50) }, 413, 'too_large'],
    ['with metadata that is not base64', { 'Upload-Length': '5', 'Upload-Metadata': 'filename *' }, 400, 'bad_request'],
    ['with a key twice', { 'Upload-Length': '5', 'Upload-Metadata': 'a YQ==,a YQ==' }, 400, 'bad_request'],
    ['with a path as its name', { 'Upload-Metadata': metadataOf({ filename: '../x' }) }, 400, 'invalid_filename'],
    ['with a cid that is none', { 'Upload-Metadata': metadataOf({ cid: 'no-cid' }) }, 400, 'invalid_cid'],
    ['with another visibility', { 'Upload-Metadata': metadataOf({ visibility: 'mine' }) }, 400, 'invalid_visibility'],
    ['for ever', { 'Upload-Metadata': metadataOf({ termDays: '99999' }) }, 400, 'invalid_term'],
    ['of another version', { 'Upload-Length': '5', 'Tus-Resumable': '0.2.2' }, 412, 'unsupported_tus_version'],
  ]
  test.for(REFUSED)('error: %s', async ([, headers, status, code], context) => {
    const user = await target.anyUser(context)
    const own = headers['Upload-Metadata'] === undefined ? headers : { 'Upload-Length': '5', ...headers }
    const answer = await new TusClient(user).create(own)
    expectProblem(answer, status, code)
    expect(headerOf(answer, 'tus-resumable')).toBe('1.0.0')
    if (status === 412) expect(headerOf(answer, 'tus-version')).toBe('1.0.0')
  })

  test('error: without a version', async (context) => {
    const user = await target.anyUser(context)
    expectProblem(await user.request('POST', '/api/tus', { headers: { 'Upload-Length': '5' } }), 412, [
      'unsupported_tus_version',
    ])
  })

  test('error: of more than the quota has room for, which reserves nothing', async (context) => {
    target.needsOwnServer(context, 'uses up a quota')
    const user = await target.freshUser(context, { quotaMb: 1 })
    const tus = new TusClient(user)
    await tus.open({ 'Upload-Length': String(MIB - 10) })
    expectProblem(await tus.create({ 'Upload-Length': '11' }), 429, 'quota_exceeded')
    await tus.open({ 'Upload-Length': '10' })
    expect(await today(user)).toMatchObject({ bytes: 0, reservedBytes: MIB })
  })

  test('with all of the bytes, some of them, and none', async (context) => {
    const user = await target.freshUser(context)
    const tus = new TusClient(user)
    const bytes = sampleBytes(900)
    const whole = await tus.create({ 'Upload-Length': '900' }, bytes)
    expectTus(whole, 201)
    expect(headerOf(whole, 'upload-offset')).toBe('900')
    await expectStored(user, headerOf(whole, 'x-cid'), bytes)

    const other = sampleBytes(900)
    const begun = await tus.create({ 'Upload-Length': '900' }, other.subarray(0, 333))
    expectTus(begun, 201)
    expect(headerOf(begun, 'upload-offset')).toBe('333')
    const patched = await tus.patch(pathOf(begun), 333, other.subarray(333))
    await expectStored(user, headerOf(patched, 'x-cid'), other)
    expect(await today(user)).toMatchObject({ bytes: 1800, files: 2, reservedBytes: 0 })
  })

  test('error: with bytes of another media type, or a checksum that differs, opens nothing', async (context) => {
    const user = await target.freshUser(context)
    const tus = new TusClient(user)
    const typed = await tus.create({ 'Upload-Length': '9', 'Content-Type': 'text/plain' }, sampleBytes(9))
    expectProblem(typed, 415, 'unsupported_media_type')
    const wrong = { 'Upload-Length': '9', 'Upload-Checksum': checksumOf(sampleBytes(9)) }
    expectProblem(await tus.create(wrong, sampleBytes(9)), 460, 'checksum_mismatch')
    await expectNothingLeft(user)
  })

  test('with a length that comes later is reserved as it grows', async (context) => {
    const user = await target.freshUser(context)
    const tus = new TusClient(user)
    const bytes = sampleBytes(900)
    const path = await tus.open({ 'Upload-Defer-Length': '1' })
    expect((await tus.head(path)).headers).toMatchObject({ 'upload-defer-length': '1', 'upload-offset': '0' })
    await tus.patch(path, 0, bytes.subarray(0, 300))
    expect(await today(user)).toMatchObject({ bytes: 0, reservedBytes: 300 })
    await tus.patch(path, 300, bytes.subarray(300, 500), { 'Upload-Length': '900' })
    expect(await today(user)).toMatchObject({ reservedBytes: 900 })
    const head = await tus.head(path)
    expect(head.headers).toMatchObject({ 'upload-length': '900' })
    expect(head.headers).not.toHaveProperty('upload-defer-length')
    expectProblem(await tus.patch(path, 500, new Uint8Array(), { 'Upload-Length': '901' }), 400, 'bad_request')
    const last = await tus.patch(path, 500, bytes.subarray(500))
    await expectStored(user, headerOf(last, 'x-cid'), bytes)
    expect(await today(user)).toMatchObject({ bytes: 900, files: 1, reservedBytes: 0 })
  })
})

describe('PATCH', () => {
  test('error: at another offset, whose answer names the right one', async (context) => {
    const user = await target.anyUser(context)
    const tus = new TusClient(user)
    const path = await tus.open({ 'Upload-Length': '900' })
    await tus.patch(path, 0, sampleBytes(10))
    for (const offset of [0, 9, 11]) {
      const problem = expectProblem(await tus.patch(path, offset, sampleBytes(10)), 409, 'offset_mismatch')
      expect(problem).toMatchObject({ expectedOffset: 10, providedOffset: offset })
    }
    expect(await tus.offset(path)).toBe(10)
  })

  test('error: without an offset, with another media type, or with more than its length', async (context) => {
    const user = await target.anyUser(context)
    const tus = new TusClient(user)
    const path = await tus.open({ 'Upload-Length': '900' })
    expectProblem(await tus.patch(path, 0, sampleBytes(9), { 'Upload-Offset': undefined }), 400, 'bad_request')
    expectProblem(await tus.patch(path, 0, sampleBytes(9), { 'Upload-Offset': 'x' }), 400, 'bad_request')
    const typed = await tus.patch(path, 0, sampleBytes(9), { 'Content-Type': 'application/octet-stream' })
    expectProblem(typed, 415, 'unsupported_media_type')
    expectProblem(await tus.patch(path, 0, sampleBytes(901)), 413, 'too_large')
    expectProblem(await tus.patch(path, 0, sampleBytes(9), { 'Upload-Length': '899' }), 400, 'bad_request')
    const old = await tus.patch(path, 0, sampleBytes(9), { 'Tus-Resumable': '0.2.2' })
    expectProblem(old, 412, 'unsupported_tus_version')
    expect(await tus.offset(path)).toBe(0)
  })

  test('error: of an upload that is not there', async (context) => {
    const tus = new TusClient(await target.anyUser(context))
    const path = '/api/tus/0b1f3a52-0000-4000-8000-000000000000'
    expectProblem(await tus.patch(path, 0, sampleBytes(9)), 404, 'not_found')
    expect((await tus.head(path)).status).toBe(404)
    expectProblem(await tus.terminate(path), 404, 'not_found')
  })

  test('error: of an upload that is complete', async (context) => {
    const tus = new TusClient(await target.anyUser(context))
    const created = await tus.create({ 'Upload-Length': '9' }, sampleBytes(9))
    expectProblem(await tus.patch(pathOf(created), 9, sampleBytes(1)), 403, 'not_appendable')
  })

  test('by POST, for clients whose network lets no PATCH through', async (context) => {
    const user = await target.anyUser(context)
    const tus = new TusClient(user)
    const bytes = sampleBytes(50)
    const path = await tus.open({ 'Upload-Length': '50' })
    const headers = { 'Tus-Resumable': '1.0.0', 'Upload-Offset': '0', 'Content-Type': OFFSET_STREAM }
    const patched = await user.request('POST', path, {
      headers: { ...headers, 'X-HTTP-Method-Override': 'PATCH' },
      body: bytes,
    })
    expectTus(patched, 204)
    await expectStored(user, headerOf(patched, 'x-cid'), bytes)
    expectProblem(await user.request('POST', path, { headers, body: bytes }), 405, 'method_not_allowed')
  })

  test('by chunks, without a length of its own', async (context) => {
    const user = await target.freshUser(context)
    const tus = new TusClient(user)
    const bytes = sampleBytes(70_000)
    for (const headers of [{ 'Upload-Length': '70000' }, { 'Upload-Defer-Length': '1' }]) {
      const path = await tus.open(headers)
      const request = startPatch(user, path, { 'Transfer-Encoding': 'chunked' })
      request.write(bytes.subarray(0, 20_000))
      request.end(bytes.subarray(20_000))
      const [response] = (await once(request, 'response')) as [http.IncomingMessage]
      response.resume()
      expect(response.statusCode).toBe(204)
      expect(response.headers['upload-offset']).toBe('70000')
      if (headers['Upload-Defer-Length'] === '1')
        expectTus(await tus.patch(path, 70_000, new Uint8Array(), { 'Upload-Length': '70000' }), 204)
      await expectStored(user, headerOf(await tus.head(path), 'x-cid'), bytes)
    }
  })

  test('that breaks off keeps what came', async (context) => {
    const user = await target.freshUser(context)
    const tus = new TusClient(user)
    const bytes = sampleBytes(900_000)
    const path = await tus.open({ 'Upload-Length': '900000' })
    const request = startPatch(user, path, { 'Content-Length': '900000' })
    await new Promise((resolve) => request.write(bytes.subarray(0, 333_333), resolve))
    await sleep(100)
    request.destroy()
    const offset = await settledOffset(tus, path)
    expect(offset).toBe(333_333)
    const last = await tus.patch(path, offset, bytes.subarray(offset))
    await expectStored(user, headerOf(last, 'x-cid'), bytes)
    expect(await today(user)).toMatchObject({ bytes: 900_000, reservedBytes: 0 })
  })

  test('of a newer request ends the one before, and what that brought counts', async (context) => {
    const user = direct(target, await target.anyUser(context))
    const tus = new TusClient(user)
    const bytes = sampleBytes(90_000)
    const path = await tus.open({ 'Upload-Length': '90000' })
    const request = startPatch(user, path, { 'Content-Length': '90000' })
    const answered = once(request, 'response') as Promise<[http.IncomingMessage]>
    await new Promise((resolve) => request.write(bytes.subarray(0, 30_000), resolve))
    await sleep(100)
    // Its sender has not heard of what came.
    expectProblem(await tus.patch(path, 0, bytes), 409, 'offset_mismatch')
    const [response] = await answered
    response.resume()
    expect(response.statusCode).toBe(423)
    const last = await tus.patch(path, 30_000, bytes.subarray(30_000))
    await expectStored(user, headerOf(last, 'x-cid'), bytes)
  })

  test('two at once: no byte of both is mixed', async (context) => {
    const user = await target.anyUser(context)
    const tus = new TusClient(user)
    const bytes = sampleBytes(500_000)
    const path = await tus.open({ 'Upload-Length': '500000' })
    const answers = await Promise.all([0, 1, 2, 3].map(() => tus.patch(path, 0, bytes)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 204).length).toBeLessThanOrEqual(1)
    expect(
      statuses.every((status) => [204, 403, 409, 423].includes(status)),
      statuses.join(),
    ).toBe(true)
    const offset = await tus.offset(path)
    if (offset < bytes.length) expectTus(await tus.patch(path, offset, bytes.subarray(offset)), 204)
    await expectStored(user, headerOf(await tus.head(path), 'x-cid'), bytes)
  })
})

describe('checksum', () => {
  test.for(['sha1', 'sha256', 'sha512', 'md5'])('%s is compared', async (algorithm, context) => {
    const user = await target.anyUser(context)
    const tus = new TusClient(user)
    const bytes = sampleBytes(3000)
    const path = await tus.open({ 'Upload-Length': '3000' })
    const first = bytes.subarray(0, 1000)
    expectTus(await tus.patch(path, 0, first, { 'Upload-Checksum': checksumOf(first, algorithm) }), 204)
    const wrong = { 'Upload-Checksum': checksumOf(first, algorithm) }
    expectProblem(await tus.patch(path, 1000, bytes.subarray(1000, 2000), wrong), 460, 'checksum_mismatch')
    expect(await tus.offset(path)).toBe(1000)
    const rest = bytes.subarray(1000)
    expectProblem(await tus.patch(path, 1000, rest, wrong), 460, 'checksum_mismatch')
    const last = await tus.patch(path, 1000, rest, { 'Upload-Checksum': checksumOf(rest, algorithm) })
    await expectStored(user, headerOf(last, 'x-cid'), bytes)
  })

  test.for(['crc99 YQ==', 'sha1', 'sha1 *', 'sha1  YQ=='])('error: %s', async (checksum, context) => {
    const tus = new TusClient(await target.anyUser(context))
    const path = await tus.open({ 'Upload-Length': '9' })
    expectProblem(await tus.patch(path, 0, sampleBytes(9), { 'Upload-Checksum': checksum }), 400, 'bad_request')
    expect(await tus.offset(path)).toBe(0)
  })

  test('of bytes that break off counts none of them', async (context) => {
    const user = await target.anyUser(context)
    const tus = new TusClient(user)
    const path = await tus.open({ 'Upload-Length': '90000' })
    const bytes = sampleBytes(90_000)
    const checksum = { 'Upload-Checksum': checksumOf(bytes), 'Content-Length': '90000' }
    const request = startPatch(user, path, checksum)
    await new Promise((resolve) => request.write(bytes.subarray(0, 30_000), resolve))
    await sleep(100)
    request.destroy()
    await sleep(100)
    expect(await tus.offset(path)).toBe(0)
  })
})

describe('termination', () => {
  test('returns what was reserved, and nothing of the upload is found', async (context) => {
    const user = await target.freshUser(context)
    const tus = new TusClient(user)
    const path = await tus.open({ 'Upload-Length': '900' })
    await tus.patch(path, 0, sampleBytes(500))
    expectTus(await tus.terminate(path), 204)
    expect((await tus.head(path)).status).toBe(404)
    expectProblem(await tus.patch(path, 500, sampleBytes(400)), 404, 'not_found')
    expectProblem(await tus.terminate(path), 404, 'not_found')
    await expectNothingLeft(user)
  })
})

describe('credentials', () => {
  test('error: others find nothing of an upload', async (context) => {
    const owner = await target.freshUser(context)
    const tus = new TusClient(owner)
    const path = await tus.open({ 'Upload-Length': '900' })
    for (const other of [await target.freshUser(context), target.anonymous()]) {
      const theirs = new TusClient(other)
      expect((await theirs.head(path)).status).toBe(404)
      expectProblem(await theirs.patch(path, 0, sampleBytes(9)), 404, 'not_found')
      expectProblem(await theirs.terminate(path), 404, 'not_found')
      expectProblem(await theirs.create({ 'Upload-Concat': `final;${path}` }), 404, 'not_found')
    }
    expect(await tus.offset(path)).toBe(0)
    expect(await today(owner)).toMatchObject({ reservedBytes: 900 })
  })

  test('error: others do not end the request of the owner', async (context) => {
    const owner = direct(target, await target.freshUser(context))
    const path = await new TusClient(owner).open({ 'Upload-Length': '90000' })
    const bytes = sampleBytes(90_000)
    const request = startPatch(owner, path, { 'Content-Length': '90000' })
    const answered = once(request, 'response') as Promise<[http.IncomingMessage]>
    await new Promise((resolve) => request.write(bytes.subarray(0, 30_000), resolve))
    await sleep(100)
    const theirs = new TusClient(direct(target, target.anonymous()))
    await theirs.head(path)
    await theirs.patch(path, 0, sampleBytes(9))
    await theirs.terminate(path)
    await theirs.create({ 'Upload-Concat': `final;${path}` })
    request.end(bytes.subarray(30_000))
    const [response] = await answered
    response.resume()
    expect(response.statusCode).toBe(204)
  })

  test('error: a token without the scope put', async (context) => {
    const user = await target.freshUser(context, { scopes: ['get', 'list'] })
    expectProblem(await new TusClient(user).create({ 'Upload-Length': '5' }), 403, 'insufficient_scope')
  })
})

describe('concatenation', () => {
  async function partial(tus: TusClient, bytes: Uint8Array): Promise<string> {
    const headers = { 'Upload-Length': String(bytes.length), 'Upload-Concat': 'partial' }
    const path = await tus.open(headers)
    expectTus(await tus.patch(path, 0, bytes), 204)
    return path
  }

  test.for([1000, MIB + 5])('makes one file of parts of %i bytes', async (sizeBytes, context) => {
    target.needsOwnServer(context, 'stages more than 1 MiB')
    const user = await target.freshUser(context, { quotaMb: 3 })
    const tus = new TusClient(user)
    const bytes = sampleBytes(2 * sizeBytes)
    const parts = [await partial(tus, bytes.subarray(0, sizeBytes)), await partial(tus, bytes.subarray(sizeBytes))]
    const [first = ''] = parts
    expect((await tus.head(first)).headers).toMatchObject({
      'upload-concat': 'partial',
      'upload-offset': String(sizeBytes),
    })
    const cid = rawCidOf(bytes).base32
    const concat = `final;${parts.map((path) => new URL(path, target.baseUrl).href).join(' ')}`
    const headers = { 'Upload-Concat': concat, 'Upload-Metadata': metadataOf({ cid, filename: 'both.bin' }) }
    const done = await tus.create(headers)
    expectTus(done, 201)
    expect(headerOf(done, 'x-cid')).toBe(cid)
    await expectStored(user, cid, bytes)
    const head = await tus.head(pathOf(done))
    expect(head.headers).toMatchObject({
      'upload-concat': concat,
      'upload-length': String(bytes.length),
      'upload-offset': String(bytes.length),
    })
    expectProblem(await tus.patch(pathOf(done), bytes.length, sampleBytes(1)), 403, 'not_appendable')
    expect(await today(user)).toMatchObject({ bytes: bytes.length, files: 1, reservedBytes: 0 })
    expect((await tus.head(first)).status).toBe(404)
  })

  test('error: of parts that are not complete, are no parts, or come twice', async (context) => {
    const user = await target.freshUser(context)
    const tus = new TusClient(user)
    const open = await tus.open({ 'Upload-Length': '9', 'Upload-Concat': 'partial' })
    const plain = await tus.open({ 'Upload-Length': '9' })
    const done = await partial(tus, sampleBytes(9))
    for (const paths of [[open], [plain], [done, done], [], ['/api/tus/']]) {
      const answer = await tus.create({ 'Upload-Concat': `final;${paths.join(' ')}` })
      expect([400, 404], `${paths} ${answer.body}`).toContain(answer.status)
    }
    expectProblem(await tus.create({ 'Upload-Concat': 'both', 'Upload-Length': '5' }), 400, 'bad_request')
    expectProblem(await tus.create({ 'Upload-Concat': `final;${done}`, 'Upload-Length': '9' }), 400, 'bad_request')
    expect(await today(user)).toMatchObject({ bytes: 0, reservedBytes: 27 })
  })

  test('error: that does not have its cid leaves nothing', async (context) => {
    const user = await target.freshUser(context)
    const tus = new TusClient(user)
    const part = await partial(tus, sampleBytes(900))
    const metadata = metadataOf({ cid: rawCidOf(sampleBytes(900)).base32 })
    const answer = await tus.create({ 'Upload-Concat': `final;${part}`, 'Upload-Metadata': metadata })
    expectProblem(answer, 422, 'cid_mismatch')
    await expectNothingLeft(user)
  })
})

/** A PATCH whose body the test writes. */
function startPatch({ baseUrl, headers }: Caller, path: string, more: Record<string, string>): http.ClientRequest {
  const own = { 'Tus-Resumable': '1.0.0', 'Upload-Offset': '0', 'Content-Type': OFFSET_STREAM }
  const request = http.request(new URL(path, baseUrl), {
    method: 'PATCH',
    headers: { ...headers, ...own, ...more },
    agent: false,
  })
  request.on('error', () => {})
  return request
}

/** The offset once the service has noticed the end of a connection. */
async function settledOffset(tus: TusClient, path: string): Promise<number> {
  const deadline = Date.now() + 5000
  for (;;) {
    const offset = await tus.offset(path)
    if (offset > 0 || Date.now() > deadline) return offset
    await sleep(50)
  }
}

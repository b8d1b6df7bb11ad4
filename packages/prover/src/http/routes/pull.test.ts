import { readdir } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { pieceOf, startTestProver, type TestPiece } from '../../testing/harness.ts'
import { type PullRequest, synapseClient } from '../../testing/synapse-client.ts'

const RECORD_KEEPER = '0x8408502033C418E1bbC97cE9ac48E5528F371A9f'
const PRIVATE = { privateHosts: ['127.0.0.1:*'] }
const QUICK = { attempts: 3, retryDelayMs: 1 }

/** Something that holds pieces, and counts who comes, also such as never say what they want. */
async function startSource(answer: RequestListener) {
  const requests: IncomingMessage[] = []
  let connections = 0
  const server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  server.on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, connections: () => connections }
}

const giving =
  (...pieces: readonly TestPiece[]): RequestListener =>
  (request, response) => {
    const piece = pieces.find(({ pieceCid }) => request.url === `/piece/${pieceCid}`)
    if (piece === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-length': piece.bytes.length }).end(piece.bytes)
  }

function pullOf(sourceUrl: string, pieces: readonly TestPiece[], extraData = '0x01'): PullRequest {
  const sources = pieces.map(({ pieceCid }) => ({ pieceCid, sourceUrl: `${sourceUrl}/piece/${pieceCid}` }))
  return { extraData, recordKeeper: RECORD_KEEPER, pieces: sources }
}

describe('POST /pdp/piece/pull', () => {
  test('fetches pieces, which are then held like any other', async () => {
    const pieces = [pieceOf(1000, 1), pieceOf(300_000, 2)]
    const source = await startSource(giving(...pieces))
    const { url, dir } = await startTestProver({ ...PRIVATE, pull: QUICK })
    const client = synapseClient(url)
    const done = await client.waitForPullPieces(pullOf(source.url, pieces))
    expect(done).toEqual({
      status: 'complete',
      pieces: pieces.map(({ pieceCid }) => ({ pieceCid, status: 'complete' })),
    })
    for (const { pieceCid, bytes } of pieces) expect(await client.download(pieceCid)).toEqual(bytes)
    expect(await client.createDataSetAndAddPieces(RECORD_KEEPER, '0x01', [pieces[0]?.pieceCid ?? ''])).toMatchObject({
      dataSetId: 1,
    })
    expect(source.requests.map(({ headers }) => headers['accept-encoding'])).toEqual(['identity', 'identity'])
    expect(await readdir(join(dir, 'pending'))).toEqual([])
  })

  test('answers the same request with how it is going, and does its work once', async () => {
    const piece = pieceOf(500)
    let release = () => {}
    const source = await startSource((request, response) => {
      release = () => giving(piece)(request, response)
    })
    const { url } = await startTestProver(PRIVATE)
    const client = synapseClient(url)
    const request = pullOf(source.url, [piece])
    expect((await client.pullPieces(request)).status).toBe('inProgress')
    await expect.poll(() => source.requests.length).toBe(1)
    expect((await client.pullPieces({ ...request, extraData: '0X01'.toLowerCase() })).status).toBe('inProgress')
    release()
    expect((await client.waitForPullPieces(request)).status).toBe('complete')
    expect((await client.pullPieces({ ...request, extraData: '0x02' })).status).not.toBe('failed')
    expect(source.requests).toHaveLength(1)
  })

  test('keeps nothing but the piece: not other bytes, not more, not fewer, not encoded ones', async () => {
    const piece = pieceOf(100_000)
    const answers: Record<string, RequestListener> = {
      other: (_request, response) => response.end(piece.bytes.map((byte) => byte ^ 1)),
      longer: (_request, response) => {
        response.write(piece.bytes)
        response.end('more')
      },
      endless: (_request, response) => {
        const write = (): void => {
          while (!response.destroyed && response.write(piece.bytes));
        }
        response.on('drain', write)
        write()
      },
      shorter: (_request, response) => response.end(piece.bytes.subarray(1)),
      announced: (_request, response) =>
        response.writeHead(200, { 'content-length': 100_001 }).end(Buffer.alloc(100_001)),
      encoded: (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(piece.bytes),
      partial: (_request, response) => response.writeHead(206).end(piece.bytes),
      missing: (_request, response) => response.writeHead(404).end(),
      redirect: (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
    }
    const source = await startSource((request, response) => {
      const name = new URL(request.url ?? '', 'http://source').searchParams.get('as') ?? ''
      answers[name]?.(request, response)
    })
    const { url, dir } = await startTestProver({ ...PRIVATE, pull: QUICK })
    const client = synapseClient(url)
    for (const [index, name] of Object.keys(answers).entries()) {
      const sourceUrl = `${source.url}/piece/${piece.pieceCid}?as=${name}`
      const request = { ...pullOf(source.url, [], `0x0${index}`), pieces: [{ pieceCid: piece.pieceCid, sourceUrl }] }
      expect([name, (await client.waitForPullPieces(request)).status]).toEqual([name, 'failed'])
    }
    expect(source.requests.map(({ url }) => url?.split('=')[1])).toEqual(Object.keys(answers))
    expect(await readdir(join(dir, 'pieces'))).toEqual([])
    expect(await readdir(join(dir, 'pending'))).toEqual([])
  })

  test('asks again after 429, 5xx, silence and a cut connection, but not for ever', async () => {
    const piece = pieceOf(100_000)
    const troubles: ((response: ServerResponse) => void)[] = [
      (response) => response.writeHead(429, { 'retry-after': '1' }).end(),
      (response) => response.writeHead(503).end(),
      () => {},
      (response) => response.destroy(),
      (response) => {
        response.writeHead(200, { 'content-length': piece.bytes.length })
        response.write(piece.bytes.subarray(0, 50_000), () => response.destroy())
      },
      (response) => {
        response.writeHead(200, { 'content-length': piece.bytes.length })
        response.write(piece.bytes.subarray(0, 50_000))
      },
    ]
    const source = await startSource((request, response) => {
      const trouble = troubles[source.requests.length - 1]
      if (trouble === undefined) giving(piece)(request, response)
      else trouble(response)
    })
    const pull = { attempts: troubles.length + 1, retryDelayMs: 1, idleMs: 200 }
    const { url } = await startTestProver({ ...PRIVATE, pull })
    const client = synapseClient(url)
    expect((await client.waitForPullPieces(pullOf(source.url, [piece]))).status).toBe('complete')
    expect(source.requests).toHaveLength(troubles.length + 1)

    const down = await startSource((_request, response) => response.writeHead(500).end())
    expect((await client.waitForPullPieces(pullOf(down.url, [pieceOf(200)], '0x02'))).status).toBe('failed')
    expect(down.requests).toHaveLength(troubles.length + 1)
  })

  test('is complete when some pieces came and the others cannot', async () => {
    const [here, gone] = [pieceOf(200, 1), pieceOf(200, 2)]
    const source = await startSource(giving(here))
    const { url } = await startTestProver({ ...PRIVATE, pull: QUICK })
    const done = await synapseClient(url).waitForPullPieces(pullOf(source.url, [gone, here]))
    expect(done).toMatchObject({ status: 'complete', pieces: [{ status: 'failed' }, { status: 'complete' }] })
  })

  test('refuses sources that it may not read, and connects to none of them', async () => {
    const canary = await startSource((_request, response) => response.end())
    const port = new URL(canary.url).port
    const piece = pieceOf(200)
    const { url } = await startTestProver({ publicHosts: ['*', 'localhost', 'rebound.example'] })
    const refused = [
      canary.url,
      `https://127.0.0.1:${port}`,
      'https://user:password@stage.example',
      'http://stage.example',
      'file:///etc/passwd',
      'gopher://127.0.0.1',
      'no URL',
    ]
    for (const sourceUrl of refused) {
      const body = { ...pullOf('', []), pieces: [{ pieceCid: piece.pieceCid, sourceUrl }] }
      await expect(synapseClient(url).pullPieces(body)).rejects.toMatchObject({ status: 400 })
    }
    expect(canary.connections()).toBe(0)
  })

  test('never connects to a private address that a public name resolves to', async () => {
    const canary = await startSource((_request, response) => response.end())
    const port = Number(new URL(canary.url).port)
    const piece = pieceOf(200)
    const asked: string[] = []
    const answers = [['127.0.0.1'], ['1.1.1.1', '127.0.0.1'], ['::ffff:127.0.0.1'], ['169.254.169.254'], []]
    const resolve = async (host: string) => {
      asked.push(host)
      const addresses = answers[asked.length - 1] ?? []
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    }
    const publicHosts = [`*.example:${port}`]
    const { url } = await startTestProver({ publicHosts, pull: { attempts: 1, resolve } })
    for (const index of answers.keys()) {
      const request = pullOf(`https://host${index}.example:${port}`, [piece], `0x0${index}`)
      expect((await synapseClient(url).waitForPullPieces(request)).status).toBe('failed')
    }
    // Literal addresses are not asked of a name server, and are judged all the same.
    for (const host of ['127.0.0.1', '[::1]', '0x7f000001', '[::ffff:127.0.0.1]']) {
      const request = pullOf(`https://${host}:${port}`, [piece], '0x10')
      await expect(synapseClient(url).pullPieces(request)).rejects.toMatchObject({ status: 400 })
    }
    expect(asked).toHaveLength(answers.length)
    expect(canary.connections()).toBe(0)
  })

  test('connects to the address that was judged, whatever the name means a moment later', async () => {
    const piece = pieceOf(200)
    const source = await startSource(giving(piece))
    const port = new URL(source.url).port
    let asked = 0
    const resolve = async () => {
      asked += 1
      return [{ address: asked === 1 ? '127.0.0.1' : '192.0.2.1', family: 4 }]
    }
    const { url } = await startTestProver({ privateHosts: [`lade.internal:${port}`], pull: { ...QUICK, resolve } })
    const done = await synapseClient(url).waitForPullPieces(pullOf(`http://lade.internal:${port}`, [piece]))
    expect([done.status, asked]).toEqual(['complete', 1])
    expect(source.requests[0]?.headers.host).toBe(`lade.internal:${port}`)
  })

  test('takes up to 120 pieces that are not there yet, and then 429', async () => {
    const source = await startSource(() => {})
    const { url } = await startTestProver(PRIVATE)
    const client = synapseClient(url)
    for (let batch = 0; batch < 3; batch += 1) {
      const pieces = Array.from({ length: 40 }, (_, index) => pieceOf(127, 1000 * batch + 2 * index + 1))
      expect((await client.pullPieces(pullOf(source.url, pieces, `0x0${batch}`))).status).not.toBe('failed')
    }
    const body = JSON.stringify(pullOf(source.url, [pieceOf(127, 9999)], '0x0a'))
    const answer = await fetch(`${url}/pdp/piece/pull`, { method: 'POST', body })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '60'])
    expect(await answer.text()).toBe('pull queue backpressure\n')
  })

  test('refuses requests that say too little or the same twice', async () => {
    const source = await startSource(() => {})
    const { url } = await startTestProver(PRIVATE)
    const piece = pieceOf(200)
    const request = pullOf(source.url, [piece])
    const { recordKeeper: _, ...withoutKeeper } = request
    const refused = [
      [withoutKeeper, 400],
      [{ ...request, extraData: '' }, 400],
      [{ ...request, pieces: [] }, 400],
      [{ ...request, pieces: [...request.pieces, ...request.pieces] }, 400],
      [{ ...request, pieces: [{ pieceCid: piece.pieceCidV1, sourceUrl: source.url }] }, 400],
      [pullOf(source.url, [pieceOf(126)]), 400],
      [{ ...request, dataSetId: 7 }, 404],
    ] as const
    for (const [body, status] of refused) {
      const answer = await fetch(`${url}/pdp/piece/pull`, { method: 'POST', body: JSON.stringify(body) })
      expect(answer.status).toBe(status)
    }
    expect(source.requests).toHaveLength(0)
  })
})

describe('notify', () => {
  test('is called once with what Curio sends, where the host may be called', async () => {
    const bodies: string[] = []
    const caller = await startSource(async (request, response) => {
      bodies.push(Buffer.concat(await request.toArray()).toString())
      response.end()
    })
    const { url } = await startTestProver(PRIVATE)
    const piece = pieceOf(200)
    const send = async (notify: string, { pieceCid, bytes }: TestPiece) => {
      const created = await fetch(`${url}/pdp/piece`, { method: 'POST', body: JSON.stringify({ pieceCid, notify }) })
      const location = created.headers.get('location') ?? ''
      expect((await fetch(new URL(location, url), { method: 'PUT', body: bytes })).status).toBe(204)
      return location.split('/').pop()
    }
    const id = await send(`${caller.url}/done`, piece)
    await send('http://localhost:1/', pieceOf(300))
    await send('no URL', pieceOf(400))
    await expect.poll(() => bodies.length).toBe(1)
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({ id, piece_cid: piece.pieceCidV1, piece_raw_size: 200 })
  })
})

import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { toPark } from '../../testing-pieces.ts'
import { openHttpProver } from './http-prover.ts'
import { ADDITION, CALLS, failEverywhere, failureOf, MiB, NEVER, NONCE, openProver, PIECE } from './testing-calls.ts'
import { answerOf, flood, startPeer, type Talk } from './testing-peer.ts'

describe('answers without end', () => {
  test.each([
    ['of a size that is said', `HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n`, false],
    ['until the connection ends', 'HTTP/1.1 200 OK\r\n\r\n', false],
    ['in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', true],
    ['with an error', 'HTTP/1.1 500 Oh\r\ncontent-length: 10000000000\r\n\r\n', false],
    ['of a range', 'HTTP/1.1 206 OK\r\ncontent-range: bytes 0-99/1000\r\n\r\n', false],
    ['of a range that was not asked for', 'HTTP/1.1 200 OK\r\n\r\n', false],
  ])('are not read on: %s', async (_, head, isChunked) => {
    const written: Promise<number>[] = []
    const block = Buffer.alloc(64 * 1024, 'x')
    const chunk = isChunked ? Buffer.concat([Buffer.from('10000\r\n'), block, Buffer.from('\r\n')]) : block
    await failEverywhere((socket) => {
      socket.write(head)
      written.push(flood(socket, chunk, 10e9))
    })
    // What the sockets of both sides hold, and the 1 MiB that an answer may have.
    expect(Math.max(...(await Promise.all(written)))).toBeLessThan(16 * MiB)
  })

  test('of a million headers are no answers', async () => {
    const lines = Buffer.from(Array.from({ length: 1000 }, (_, index) => `x-${index}: y\r\n`).join(''))
    const written: Promise<number>[] = []
    await failEverywhere((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      written.push(flood(socket, lines, 1_000_000 * 9))
    })
    expect(Math.max(...(await Promise.all(written)))).toBeLessThan(8 * MiB)
  })

  test('of informational answers are given up in time', async () => {
    await failEverywhere((socket) => void flood(socket, Buffer.from('HTTP/1.1 103 Early\r\nlink: a\r\n\r\n'), 10e9))
  })
})

describe('answers that take their time', () => {
  const drip = async (socket: Parameters<Talk>[0], text: string): Promise<void> => {
    for (const letter of text) {
      if (socket.destroyed) return
      socket.write(letter)
      await sleep(20)
    }
  }

  test('in their head are given up', () => failEverywhere((socket) => drip(socket, answerOf(200, 'x'.repeat(1000)))))

  test('in their body are given up', () =>
    failEverywhere(async (socket, head) => {
      const status = head.startsWith('POST') ? 201 : head.startsWith('GET /piece/') ? 206 : 200
      const line = status === 206 ? 'content-range: bytes 0-99/1000\r\n' : ''
      socket.write(`HTTP/1.1 ${status} OK\r\n${line}content-length: 100\r\n\r\n`)
      await drip(socket, 'x'.repeat(100))
    }))

  test('forever are given up', () => failEverywhere(() => {}))

  test('are given up where not even TLS begins', async () => {
    const { port } = await startPeer(() => {})
    const { reason } = await failureOf(openProver(`https://127.0.0.1:${port}`).check())
    expect(reason).toBe('The prover did not accept connections within 0.3 seconds.')
  })
})

describe('answers that make no sense', () => {
  test.each<[string, string]>([
    ['nothing', ''],
    ['no JSON', 'proofs'],
    ['JSON that stops', '{"pieceCid":"b'],
    ['null', 'null'],
    ['a number', '7'],
    ['a list', '[]'],
    ['an empty object', '{}'],
    [
      'other types',
      '{"pieceCid":1,"dataSetCreated":"yes","txStatus":{},"piecesAdded":1,"pieces":{},"proofs":{},"status":[]}',
    ],
    ['ids that are no ids', '{"dataSetCreated":true,"txStatus":"confirmed","dataSetId":-1}'],
    ['ids that are not exact', '{"dataSetCreated":true,"txStatus":"confirmed","dataSetId":9007199254740993}'],
    ['proofs of other sizes', '{"proofs":[{"leafIndex":0,"leaf":"0x00","proof":[]}]}'],
    [
      'proofs without end',
      `{"proofs":[{"leafIndex":0,"leaf":"0x${NONCE}","proof":[${`"0x${NONCE}",`.repeat(99)}"0x${NONCE}"]}]}`,
    ],
    ['deep nesting', '['.repeat(100_000)],
    ['a prototype', '{"__proto__":{"pieceCid":"x"},"constructor":{}}'],
  ])('are failures: %s', async (_, body) => {
    const { origin } = await startPeer(
      (socket) => void socket.end(answerOf(200, body, ['content-type: application/json'])),
    )
    for (const [name, call] of CALLS) {
      // Removal has nothing in its answer that counts.
      if (name === 'remove') continue
      const { retryAfterSeconds } = await failureOf(call(openProver(origin)))
      expect(retryAfterSeconds).toBeGreaterThan(0)
    }
  })

  test.each([
    ['end before they end', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}'],
    ['break off between chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n'],
    ['have two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}'],
    [
      'have a length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    ],
    ['are no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['change the protocol', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'],
    ['are nothing', ''],
  ])('are failures: they %s', (_, text) => failEverywhere((socket) => void socket.end(text)))

  test('are failures: they are compressed', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * MiB))
    const heads: string[] = []
    await failEverywhere((socket, head) => {
      heads.push(head)
      const status = head.startsWith('GET /piece/') ? 206 : head.startsWith('POST /pdp/data-sets') ? 201 : 200
      socket.write(`HTTP/1.1 ${status} OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`)
      socket.end(bomb)
    })
    for (const head of heads) expect(head).toMatch(/\r\naccept-encoding: identity(\r\n|$)/i)
  })

  test('are failures: bytes of another range, too few and too many', async () => {
    const range = (line: string, body: string) =>
      `HTTP/1.1 206 OK\r\n${line}content-length: ${body.length}\r\n\r\n${body}`
    const hundred = 'x'.repeat(100)
    const answers = [
      range('', hundred),
      range('content-range: bytes 1-100/1000\r\n', hundred),
      range('content-range: bytes 0-98/1000\r\n', hundred.slice(1)),
      range('content-range: bytes 0-99/1000\r\n', hundred.slice(1)),
      range('content-range: bytes 0-99/1000\r\n', `${hundred}x`),
      answerOf(200, hundred, ['content-range: bytes 0-99/1000']),
    ]
    const good = range('content-range: bytes 0-99/1000\r\n', hundred)
    const { origin } = await startPeer((socket) => void socket.end(answers.shift() ?? good))
    const read = () => openProver(origin).read({ pieceCid: PIECE.pieceCid, offset: 0, length: 100 })
    while (answers.length > 0) expect((await failureOf(read())).retryAfterSeconds).toBeGreaterThan(0)
    expect(await read()).toHaveLength(100)
  })

  test('do not spoil the next answer when they come twice', async () => {
    const said = [answerOf(200, 'curio-pdp'), answerOf(200, JSON.stringify({ pieceCid: PIECE.pieceCid }))]
    const { origin } = await startPeer((socket, head) => {
      const answer = said[head.startsWith('GET /pdp/ping') ? 0 : 1] ?? ''
      socket.write(answer + answer)
    })
    const prover = openProver(origin)
    for (let turn = 0; turn < 3; turn += 1) {
      await prover.check()
      await prover.park(toPark(PIECE), NEVER)
    }
  })

  test('come from somebody who is no prover', async () => {
    const { origin } = await startPeer((socket) => void socket.end(answerOf(200, '<html>Welcome')))
    expect((await failureOf(openProver(origin).check())).reason).toBe('The server at this address is not a prover.')
  })
})

describe('errors', () => {
  const refusalTo = async (answer: string) => {
    const { origin } = await startPeer((socket) => void socket.end(answer))
    return failureOf(openProver(origin).add(ADDITION))
  }

  test('are shown short and without anything that could pass for something else', async () => {
    const text = `too \u001b[31msmall\r\n{"level":60}\u202e\u0000${'!'.repeat(60_000)}`
    const { reason, retryAfterSeconds } = await refusalTo(answerOf(400, text))
    expect(retryAfterSeconds).toBeUndefined()
    expect(reason).toMatch(/^The prover answered 400: too \[31msmall \{"level":60\} !+…$/)
    expect(reason.length).toBeLessThan(240)
  })

  test.each<[number, readonly string[], number | undefined]>([
    [400, [], undefined],
    [403, [], undefined],
    [404, [], undefined],
    [413, [], undefined],
    [408, [], 30],
    [500, [], 30],
    [502, ['retry-after: 7'], 30],
    [302, [], 30],
    [429, [], 60],
    [429, ['retry-after: 7'], 7],
    [503, ['retry-after: 120'], 120],
    [503, ['retry-after: 0'], 1],
    [503, ['retry-after: 99999999999'], 60],
    [429, ['retry-after: 9999999'], 86_400],
    [429, ['retry-after: soon'], 60],
    [429, ['retry-after: Thu, 01 Jan 1970 00:00:00 GMT'], 1],
  ])('%i with %j: later is %s', async (status, headers, expected) => {
    expect((await refusalTo(answerOf(status, 'no', headers))).retryAfterSeconds).toBe(expected)
  })

  test('are for good where a data set was made and its name was lost', async () => {
    const reverted = 'Failed to send transaction: execution reverted: ClientDataSetAlreadyRegistered(7)'
    const { reason, retryAfterSeconds } = await refusalTo(answerOf(500, reverted))
    expect([reason, retryAfterSeconds]).toEqual([
      'The prover created the data set, but the response with its id was lost.',
      undefined,
    ])
  })
})

describe('the driver', () => {
  test('leaves a prover alone after ten failures', async () => {
    const peer = await startPeer((socket) => void socket.end(answerOf(500)))
    const prover = openProver(peer.origin, { breaker: { openMs: 60_000 } })
    for (let turn = 0; turn < 20; turn += 1) await failureOf(prover.check())
    expect(peer.connections).toBe(10)
    expect((await failureOf(prover.read({ pieceCid: PIECE.pieceCid, offset: 0, length: 1 }))).retryAfterSeconds).toBe(
      60,
    )
  })

  test('ends what is under way when it is closed', async () => {
    const { origin } = await startPeer(() => {})
    const prover = openProver(origin, { times: { headMs: 60_000 } })
    const asked = failureOf(prover.check())
    await sleep(50)
    await prover.close()
    expect((await asked).reason).toBe('The service ends.')
    expect((await failureOf(prover.check())).reason).toBe('The service ends.')
  })

  test('sends its bearer, and shows it to nobody', async () => {
    const peer = await startPeer((socket) => void socket.end(answerOf(401)))
    const { reason } = await failureOf(openProver(peer.origin, { bearer: { reveal: () => 'sesame' } }).check())
    expect(peer.heads[0]).toMatch(/\r\nauthorization: Bearer sesame(\r\n|$)/i)
    expect(reason).not.toContain('sesame')
  })

  test.each(['http://127.0.0.1:1/', 'http://127.0.0.1:1/pdp', 'ftp://127.0.0.1', 'http://u@127.0.0.1', 'x', ''])(
    'is not opened for %s, which is no origin',
    (origin) => {
      expect(() => openHttpProver({ origin, kind: 'reference' })).toThrow(TypeError)
    },
  )

  test('needs a signer and an account for Curio', () => {
    expect(() => openHttpProver({ origin: 'https://sp.example', kind: 'curio' })).toThrow(TypeError)
  })
})

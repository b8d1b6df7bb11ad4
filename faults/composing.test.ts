import { PART_BYTES } from '@lade/core/wire'
import { test } from 'vitest'
import { expectUnharmed, measureAttack } from './attack.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { PLAN } from './plan.ts'
import { startServer } from './server-process.ts'

/** Connections that ask, again and again, for a file of 4,096 parts that nobody has. Each request has other parts. */
const THOUSANDS_OF_PARTS = `
  const { createHash, randomBytes } = require('node:crypto')
  const { connect } = require('node:net')
  const [port, connections] = process.argv.slice(1)
  const digestOf = (what) => createHash('sha256').update(what).digest('hex')
  const request = () => {
    const seed = randomBytes(8).toString('hex')
    const parts = Array.from({ length: 4096 }, (_, index) => 'f01551220' + digestOf(seed + index))
    const body = JSON.stringify({ parts })
    const head = 'POST /api/compose?cid=' + digestOf(seed) + ' HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nContent-Type: application/json\\r\\n'
    return head + 'Content-Length: ' + body.length + '\\r\\n\\r\\n' + body
  }
  const requests = Array.from({ length: 8 }, request)
  const attack = (index) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: '127.0.1.' + (1 + (index % 250)) })
    const send = () => socket.write(requests[Math.floor(Math.random() * requests.length)])
    socket.on('connect', send)
    socket.on('data', send)
    socket.on('error', () => {})
    socket.on('close', () => setTimeout(attack, 50, index))
  }
  for (let index = 0; index < connections; index += 1) attack(index)`

/** Connections that stage one part for each address, and then have a wrong file made of it, which takes reading all of it, again and again. */
const WRONG_WHOLES = `
  const { createHash, randomBytes } = require('node:crypto')
  const { Agent, request } = require('node:http')
  const [port, connections, addresses, partBytes, times] = process.argv.slice(1).map(Number)
  const agent = new Agent({ keepAlive: true })
  const part = Buffer.alloc(partBytes, 7)
  const cid = createHash('sha256').update(part).digest('hex')
  const send = (index, path, type, body) => new Promise((resolve) => {
    const headers = { 'content-type': type, 'content-length': body.length }
    const localAddress = '127.0.1.' + (1 + (index % addresses))
    const sent = request({ port, host: '127.0.0.1', localAddress, agent, method: 'POST', path, headers }, (answer) => {
      answer.resume()
      answer.on('close', resolve)
    })
    sent.on('error', () => setTimeout(resolve, 50))
    sent.end(body)
  })
  const parts = JSON.stringify({ parts: Array(times).fill(cid) })
  const staged = Array.from({ length: addresses }, (_, index) =>
    send(index, '/api/upload?cid=' + cid, 'application/octet-stream', part))
  const attack = async (index) => {
    await staged[index % addresses]
    while (true) {
      const wrong = 'f01551e20' + randomBytes(32).toString('hex')
      await send(index, '/api/compose?cid=' + wrong, 'application/json', parts)
    }
  }
  for (let index = 0; index < connections; index += 1) attack(index)`

const READING = PLAN.isFull ? [300, 10, PART_BYTES, 40] : [10, 2, 8 * 1024 * 1024, 1]
const BIG_FILES = { ...BOUNDLESS_QUOTAS, LADE_SPONSORED_FILE_MB: '5120' }

test.each([
  ['ask for files of thousands of parts', THOUSANDS_OF_PARTS, [PLAN.attackConnections], BOUNDLESS_QUOTAS],
  ['have parts read for a wrong file', WRONG_WHOLES, READING, BIG_FILES],
])('clients that %s hold up nobody', async (name, script, args, env) => {
  const server = await startServer({ env })
  const seen = await measureAttack({ server, script, args: args.map(String), forMs: PLAN.attackMs })
  await expectUnharmed(server, name, seen)
})

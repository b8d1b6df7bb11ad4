import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type FakeProver, openFakeProver } from '../../../proving/fake-prover.ts'
import { type RunningService, runService } from '../../../testing/running/running-service.ts'

describe('/readyz', () => {
  let prover: FakeProver
  let service: RunningService
  beforeEach(async () => {
    prover = openFakeProver()
    service = await runService({ substitutes: { provers: [prover] } })
  })
  afterEach(() => service.remove())

  const checks = () => prover.calls.filter(({ method }) => method === 'check').length
  const statusOf = async () => (await service.fetch('/readyz')).status

  it('asks each dependency once for 300 clients that ask at once', async () => {
    prover.script.delayMs = 50
    const before = checks()
    const answers = await Promise.all(Array.from({ length: 300 }, statusOf))
    expect(new Set(answers)).toEqual(new Set([200]))
    // They come in over some time on a slow machine: one question a second at most.
    expect(checks() - before).toBeLessThanOrEqual(5)
    expect(checks()).toBeGreaterThan(before)
  })

  it('believes an answer for a second and then asks again', async () => {
    expect(await statusOf()).toBe(200)
    prover.script.isUnreachable = true
    await vi.waitFor(async () => expect(await statusOf()).toBe(503), { timeout: 5000, interval: 50 })
    prover.script.isUnreachable = false
    await vi.waitFor(async () => expect(await statusOf()).toBe(200), { timeout: 5000, interval: 50 })
  })

  it('says at once that the process drains, whatever was believed', async () => {
    expect(await statusOf()).toBe(200)
    const { url } = service
    const [host, port] = new URL(url).host.split(':')
    const socket = connect(Number(port), host)
    await once(socket, 'connect')
    // A request that is under way keeps its connection open while the process drains.
    socket.write('GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n')
    await sleep(50)
    const closed = service.close()
    await sleep(50)
    socket.write('\r\n')
    const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))))
    expect(answer).toContain('503')
    expect(answer).toContain('"process":"draining"')
    socket.destroy()
    await closed
  })
})

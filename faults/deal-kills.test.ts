import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type DealMaking, type DealMakingOptions, openDealMaking } from '@lade/server/testing/deal-making'
import { describe, expect, onTestFinished, test } from 'vitest'
import { PLAN } from './plan.ts'
import { runSeed, type SeededRandom, seededRandom } from './seeded-random.ts'
import { tempDirectory } from './temp-directory.ts'
import { brokenDeals, type DealChain, startDealChain, unfinished } from './testing-deal-chain.ts'

const PROGRAM = fileURLToPath(new URL('./testing-deal-proposer.ts', import.meta.url))
const KILLS_PER_CHAIN = 20
const FINALITY_BLOCKS = 6
/** How long a process may live before it is killed although the moment that was chosen did not come. */
const MAX_LIFE_MS = 4_000
const HEALING_ROUNDS = 400

/** The moment of a death: at one of the questions to the node, before the node has it, before its answer is back, or right after. */
interface Moment {
  readonly method: string
  readonly when: number
  readonly at: 'before' | 'answered' | 'after'
}

/** Stands between a process and its node, and says when a moment has come. */
class Watch {
  readonly #server: Server
  readonly #target: string
  #awaited: { readonly moment: Moment; count: number; readonly come: () => void } | undefined

  constructor(target: string) {
    this.#target = target
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        this.#forward(Buffer.concat(chunks).toString(), response).catch(() => response.destroy())
      })
    })
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Resolves when the moment has come; a question is not passed on, or its answer not given, before that is dealt with. */
  moment(moment: Moment): Promise<void> {
    return new Promise((come) => {
      this.#awaited = { moment, count: 0, come }
    })
  }

  /** From now on everything passes. */
  letPass(): void {
    this.#awaited = undefined
  }

  async #forward(question: string, response: import('node:http').ServerResponse): Promise<void> {
    const { method }: { method?: unknown } = JSON.parse(question)
    const awaited = this.#awaited?.moment.method === method ? this.#awaited : undefined
    if (awaited !== undefined) awaited.count += 1
    const isIt = awaited !== undefined && awaited.count === awaited.moment.when
    if (isIt && awaited.moment.at === 'before') {
      awaited.come()
      response.destroy()
      return
    }
    const answer = await fetch(this.#target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: question,
    })
    const text = await answer.text()
    if (isIt && awaited.moment.at === 'answered') {
      awaited.come()
      response.destroy()
      return
    }
    response.setHeader('content-type', 'application/json')
    response.end(text)
    if (isIt) awaited.come()
  }
}

/** Most deaths are around sending; the others are anywhere. */
function chooseMoment(random: SeededRandom): Moment {
  const at = random.pick(['before', 'answered', 'after'] as const)
  if (random.next() < 0.7) return { method: 'eth_sendRawTransaction', when: random.between(1, 2), at }
  const method = random.pick(['eth_getTransactionReceipt', 'eth_getTransactionCount', 'eth_getBlockByNumber'] as const)
  return { method, when: random.between(1, 12), at }
}

function startProcess(options: DealMakingOptions): {
  readonly child: ChildProcess
  readonly exited: Promise<void>
  log(): string
} {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], {
    env: { PATH, HOME },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString()
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const killWithThisProcess = (): void => void child.kill('SIGKILL')
  process.once('exit', killWithThisProcess)
  exited.then(() => process.off('exit', killWithThisProcess))
  return { child, exited, log: () => log }
}

/** Makes blocks at odd times until it is told to stop. */
function startMiner(chain: DealChain, random: SeededRandom): { stop(): Promise<void> } {
  let isOver = false
  const done = (async () => {
    while (!isOver) {
      await chain.mine(random.between(1, 2))
      await sleep(random.between(5, 120))
    }
  })()
  return {
    async stop() {
      isOver = true
      await done
    },
  }
}

async function heal(chain: DealChain, making: DealMaking, staged: Parameters<DealMaking['dealsOf']>[0]): Promise<void> {
  for (let round = 0; round < HEALING_ROUNDS; round += 1) {
    await chain.mine()
    await making.proposer.round()
    if ((await unfinished(making, staged)).length === 0) return
  }
}

describe('SIGKILL of a process that makes deals', () => {
  const chains = Math.ceil(PLAN.dealKills / KILLS_PER_CHAIN)

  test.each(Array.from({ length: chains }, (_, index) => index))(
    'leaves one deal on the chain for every copy, and loses none (chain %i)',
    async (index) => {
      const random = seededRandom(runSeed + index)
      const chain = await startDealChain()
      const watch = new Watch(chain.anvil.rpcUrl)
      const rpcUrl = await watch.listen()
      onTestFinished(() => watch.close())
      const file = join(tempDirectory(), 'lade.db')
      const shared = { ...chain.options, file, finalityBlocks: FINALITY_BLOCKS, maxBatch: 2, raiseAfterMs: 300 }
      const own = await openDealMaking({ ...shared, rpcUrl: chain.anvil.rpcUrl })
      onTestFinished(() => own.close())
      const staged: Awaited<ReturnType<DealMaking['stage']>>[] = []
      let inTime = 0
      const miner = startMiner(chain, seededRandom(runSeed + index + 1))
      for (let kill = 0; kill < KILLS_PER_CHAIN; kill += 1) {
        const count = random.between(2, 5)
        for (let one = 0; one < count; one += 1) staged.push(await own.stage(`file ${index} ${kill} ${one}`))
        const moment = chooseMoment(random)
        const come = watch.moment(moment).then(() => true)
        const { child, exited, log } = startProcess({ ...shared, rpcUrl, maxBatch: random.between(1, 2) })
        const hasCome = await Promise.race([come, exited.then(() => undefined), sleep(MAX_LIFE_MS, false)])
        child.kill('SIGKILL')
        await exited
        watch.letPass()
        const story = `seed ${random.seed}, kill ${kill} ${JSON.stringify(moment)}, log:\n${log()}`
        expect(hasCome, story).toBeDefined()
        if (hasCome) inTime += 1
        expect(await brokenDeals(chain, own, staged), story).toEqual([])
      }
      await miner.stop()
      await heal(chain, own, staged)
      const story = `seed ${random.seed}, ${staged.length} copies, ${inTime} deaths at the moment that was chosen`
      expect(await unfinished(own, staged), story).toEqual([])
      expect(await brokenDeals(chain, own, staged), story).toEqual([])
      expect((await chain.dealIds()).size, story).toBe(staged.length)
      expect(inTime, story).toBeGreaterThan(KILLS_PER_CHAIN / 2)
      process.stderr.write(`${story}\n`)
    },
  )
})

import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Answer, errorCode, send, sponsoredCaller } from './caller.ts'
import { type Attempt, generateAttempts } from './generated-ids.ts'
import { cidIn, isReadable, judge } from './id-oracle.ts'
import { PLAN } from './plan.ts'
import { runSeed } from './seeded-random.ts'
import { startServer } from './server-process.ts'

const SENDERS = 8
const REFUSALS: Readonly<Record<string, number>> = {
  invalid_cid: 400,
  cid_mismatch: 422,
  cid_conflict: 409,
  invalid_car: 400,
}

const sha256Hex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** What an id names apart from its spelling: the CID where it is one. */
const nameIn = (id: string): string => (/^[0-9a-f]{64}$/i.test(id) ? id.toLowerCase() : (cidIn(id)?.toString() ?? id))

test('fake, damaged and oddly spelled ids end as a right answer or a clear refusal', async () => {
  const server = await startServer()
  const attempts = await generateAttempts(runSeed, PLAN.generatedIds)
  const contents = new Map<string, string>()
  const faults: string[] = []
  const outcomes = new Map<string, number>()
  let serial = 0

  async function tryOne({ body, id, contentType }: Attempt): Promise<void> {
    const story = (what: string): void => void faults.push(`${what}: ${id} for ${body.toString('hex')}`)
    serial += 1
    const address = `198.18.${(serial >> 8) & 0xff}.${serial & 0xff}`
    const headers = { ...sponsoredCaller(address).headers, 'Content-Type': contentType }
    const path = `/api/upload?cid=${encodeURIComponent(id)}`
    const answer = await send(server.url, 'POST', path, { headers, body })
    const judgement = await judge(id, body)
    const outcome = answer.status === 200 ? `200 ${isVerified(answer) ? 'verified' : 'opaque'}` : errorCode(answer)
    outcomes.set(`${judgement}: ${outcome}`, (outcomes.get(`${judgement}: ${outcome}`) ?? 0) + 1)

    if (answer.status === 200) {
      if (isVerified(answer) && judgement !== 'right') story('taken as verified')
      if (!isVerified(answer) && judgement !== 'none') story('taken as opaque')
    } else {
      if (REFUSALS[errorCode(answer)] !== answer.status) story(`answered ${answer.status} ${errorCode(answer)}`)
      const isBoundElsewhere = answer.status === 409 && cidIn(id)?.code === 0xf101
      if (judgement === 'right' && isReadable(id) && !isBoundElsewhere) story(`refused by ${errorCode(answer)}`)
    }
    const served = await look(id, story)
    if (answer.status === 200 && served !== sha256Hex(body)) story(`taken, and /p/ gives ${served}`)
  }

  /** Reads an id and remembers what it gave: whatever that is, it must be right, and stay the same. */
  async function look(id: string, story: (what: string) => void): Promise<string | undefined> {
    const answer = await send(server.url, 'GET', `/p/${encodeURIComponent(id)}`)
    if (answer.status !== 200) {
      if (answer.status !== 400 && answer.status !== 404) story(`/p/ answered ${answer.status}`)
      if (contents.has(nameIn(id)) && isReadable(id)) story('/p/ lost it')
      return undefined
    }
    const judgement = await judge(id, answer.body)
    if (judgement !== 'right' && judgement !== 'none') story(`/p/ gives ${judgement} bytes`)
    const sha256 = sha256Hex(answer.body)
    const before = contents.get(nameIn(id)) ?? sha256
    if (before !== sha256) story(`/p/ gave ${before} and gives ${sha256}`)
    contents.set(nameIn(id), before)
    return sha256
  }

  const waiting = [...attempts]
  const sendOneAfterTheOther = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await tryOne(next)
  }
  await Promise.all(Array.from({ length: SENDERS }, sendOneAfterTheOther))
  for (const { id } of attempts) await look(id, (what) => faults.push(`later, ${what}: ${id}`))

  const told = [...outcomes].map(([outcome, times]) => `${times} ${outcome}`).join(', ')
  expect(faults, `seed ${runSeed}; ${told}; log:\n${server.log()}`).toEqual([])
  // The generator is worth something only while each of these happens.
  const kinds = [
    'right: 200 verified',
    'wrong: cid_mismatch',
    'foreign: invalid_cid',
    'none: invalid_cid',
    'none: 200 opaque',
  ]
  for (const kind of kinds) expect(outcomes.get(kind) ?? 0, `${kind}; ${told}`).toBeGreaterThan(PLAN.generatedIds / 100)
  expect(await server.stop()).toEqual({ code: 0, signal: null })
  expect(server.log()).toBe('')
})

const isVerified = (answer: Answer): boolean => JSON.parse(answer.body.toString()).verified === true

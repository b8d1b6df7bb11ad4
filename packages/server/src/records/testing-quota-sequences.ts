import { createHash, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { AtOnceOutcome, FileCommit, RecordStore } from './record-store.ts'
import {
  CAPS,
  COMPOSITIONS,
  CONTENTS,
  type Command,
  command,
  FILE_CAPS,
  FOLDERS,
  STORED_CAPS,
  type Step,
  TOKENS,
} from './testing-quota-commands.ts'
import { type QuotaAnswer, type QuotaCall, QuotaModel, type VerifiedBytes } from './testing-quota-model.ts'

const SIDE_BY_SIDE = 50
const MAX_STEPS = 40

const START = Date.UTC(2026, 10, 21)
const HOUR = 3_600_000
const SHORT_TERM = 5 * HOUR
const LONG_TERM = 1_000 * HOUR
const FIRST_DAY = '2026-01-01'
const MAX_IN_FLIGHT = 4
/** The sizes of the bytes that are staged. */
const SIZES = [1, 333, 500, 2 ** 40, 400, 600, 700, 833, 1166, 250, 350, 40, 50, 60]
/** Which of them have one piece root. */
const OF_ONE_PIECE_ROOT = [9, 10]

/** One sequence: two users or two /64s of one /48, two instances and their contents, which no other sequence shares, and what the model says. */
class Sequence {
  readonly #name: string
  readonly #reserved: { readonly id: string; readonly user: number; readonly content: number; readonly on: number }[] =
    []
  /** By instance, the reservations whose lease was cut short. */
  readonly #cut = new Map<number, readonly string[]>()
  /** How many of them were asked for by earlier commands. */
  #reservedBefore = 0
  #model = new QuotaModel()
  #daysPassed = 0

  constructor(name: string) {
    this.#name = name
  }

  async run(stores: readonly [RecordStore, RecordStore], command: Command, now: number): Promise<void> {
    if (command.do === 'next day') {
      this.#daysPassed += 1
      return
    }
    const steps = command.do === 'both' ? command.steps : [command]
    // A lease is cut short before the step, so that only its return races with the other call.
    for (const step of steps) if (step.do === 'lapse') await this.#cutLeases(stores[0], step.on, now)
    this.#reservedBefore = this.#reserved.length
    const calls = steps.map((step) => this.#callOf(step, now)).filter((call) => call !== undefined)
    const answers = await Promise.all(calls.map((call, index) => ask(stores[index === 0 ? 0 : 1], call)))
    const usages = await this.#usagesIn(stores[0], now)
    const orders =
      calls.length === 2
        ? [
            [0, 1],
            [1, 0],
          ]
        : [[...calls.keys()]]
    const predictions = orders.map((order) => predict(this.#model, calls, order))
    const right = predictions.find(
      (predicted) => isSame(predicted.answers, answers) && isSame(this.#usagesOf(predicted.model, now), usages),
    )
    if (right === undefined) {
      const [first] = predictions
      expect({ calls, answers, usages }).toEqual({
        calls,
        answers: first?.answers,
        usages: first && this.#usagesOf(first.model, now),
      })
    }
    this.#model = right?.model ?? this.#model
  }

  async #cutLeases(store: RecordStore, on: number, now: number): Promise<void> {
    const ids = this.#reserved.filter((reserved) => reserved.on === on).map(({ id }) => id)
    this.#cut.set(on, ids)
    const endingBefore = Number.MAX_SAFE_INTEGER
    await store.quotas.extendLeases({ instanceId: this.#instance(on), endingBefore, leaseUntil: now - 1 })
  }

  #callOf(step: Step, now: number): QuotaCall | undefined {
    switch (step.do) {
      case 'reserve': {
        const id = randomUUID()
        this.#reserved.push({ id, user: step.user, content: step.content, on: step.on })
        return {
          name: 'reserve',
          id,
          principal: this.#principal(step.user),
          instance: this.#instance(step.on),
          day: this.#today(),
          key: this.#content(step.content).key,
          sizeBytes: step.grows ? 1 : this.#content(step.content).sizeBytes,
          capBytes: CAPS[step.cap] ?? 0,
          capFiles: FILE_CAPS[step.fileCap] ?? 0,
          capStoredBytes: STORED_CAPS[step.storedCap],
          token: TOKENS[step.token],
          maxInFlight: MAX_IN_FLIGHT,
          grows: step.grows,
          now,
        }
      }
      case 'grow': {
        const picked = this.#picked(step.pick)
        if (picked === undefined) return undefined
        const { key, sizeBytes } = this.#content(picked.content)
        const leastBytes = Math.ceil((sizeBytes * step.quarters) / 4)
        const wantedBytes = leastBytes + (step.isAhead ? sizeBytes : 0)
        return {
          name: 'grow',
          id: picked.id,
          principal: this.#principal(picked.user),
          key,
          leastBytes,
          wantedBytes,
          now,
        }
      }
      case 'commit': {
        const picked = this.#picked(step.pick)
        if (picked === undefined) return undefined
        const expiresAt = now + (step.isShort ? SHORT_TERM : LONG_TERM)
        const principal = this.#principal(picked.user)
        return { name: 'commit', id: picked.id, principal, bytes: this.#content(picked.content), expiresAt, now }
      }
      case 'commit at once':
        return {
          name: 'commit at once',
          principal: this.#principal(step.user),
          day: this.#today(),
          bytes: this.#content(step.content),
          capBytes: CAPS[step.cap] ?? 0,
          capFiles: FILE_CAPS[step.fileCap] ?? 0,
          capStoredBytes: STORED_CAPS[step.storedCap],
          token: TOKENS[step.token],
          maxInFlight: MAX_IN_FLIGHT,
          expiresAt: now + (step.isShort ? SHORT_TERM : LONG_TERM),
          now,
        }
      case 'compose': {
        const { whole, parts } = COMPOSITIONS[step.composition] ?? { whole: 0, parts: [] }
        return {
          name: 'compose',
          principal: this.#principal(step.user),
          day: this.#today(),
          capFiles: FILE_CAPS[step.fileCap] ?? 0,
          capStoredBytes: STORED_CAPS[step.storedCap],
          token: TOKENS[step.token],
          whole: this.#content(whole),
          isRead: step.isRead,
          parts: parts.map((part) => this.#content(part)),
          capBytes: CAPS[step.cap] ?? 0,
          expiresAt: now + (step.isShort ? SHORT_TERM : LONG_TERM),
          now,
        }
      }
      case 'make folder': {
        const { folder, members } = FOLDERS[step.folder] ?? { folder: 0, members: [] }
        return {
          name: 'make folder',
          principal: this.#principal(step.user),
          day: this.#today(),
          bytes: this.#content(folder),
          members: members.map((member) => this.#content(member)),
          takes: step.takes,
          capBytes: CAPS[step.cap] ?? 0,
          capFiles: FILE_CAPS[step.fileCap] ?? 0,
          capStoredBytes: STORED_CAPS[step.storedCap],
          token: TOKENS[step.token],
          maxInFlight: MAX_IN_FLIGHT,
          expiresAt: now + (step.isShort ? SHORT_TERM : LONG_TERM),
          now,
        }
      }
      case 'claim':
        return {
          name: 'claim',
          capStoredBytes: STORED_CAPS[step.storedCap],
          token: TOKENS[step.token],
          from: this.#principal(step.user),
          principal: this.#principal(1 - step.user),
          key: this.#content(step.content).key,
          day: this.#today(),
          capBytes: CAPS[step.cap] ?? 0,
          capFiles: FILE_CAPS[step.fileCap] ?? 0,
          expiresAt: now + (step.isShort ? SHORT_TERM : LONG_TERM),
          now,
        }
      case 'release': {
        // A release says nothing of what it found, so beside the reserve of the same id nobody could tell which came first.
        const picked = this.#picked(step.pick, this.#reserved.slice(0, this.#reservedBefore))
        return picked === undefined ? undefined : { name: 'release', id: picked.id }
      }
      case 'lapse':
        return { name: 'lapse', ids: this.#cut.get(step.on) ?? [], now }
      case 'deregister':
        return { name: 'deregister', instance: this.#instance(step.on), now }
      case 'remove':
        return { name: 'remove', principal: this.#principal(step.user), key: this.#content(step.content).key, now }
      case 'sweep':
        return { name: 'sweep', now }
    }
  }

  /** Any reservation ever asked for, the latest first: most are open, and some were refused or consumed long ago. */
  #picked(pick: number, among = this.#reserved) {
    return among.at(-1 - (pick % Math.max(1, Math.min(6, among.length))))
  }

  #usagesOf(model: QuotaModel, now: number) {
    return [0, 1].map((n) => model.usage({ principal: this.#principal(n), today: this.#today(), now }))
  }

  #usagesIn(store: RecordStore, now: number) {
    const today = this.#today()
    const usage = (n: number) => store.quotas.usage({ principal: this.#principal(n), fromDay: FIRST_DAY, today, now })
    return Promise.all([usage(0), usage(1)])
  }

  #principal = (n: number): string =>
    Number(this.#name) % 2 === 0 ? `user:${this.#name}-${n}` : `ip:2001:db8:${this.#name}:${n}::/64`
  #instance = (n: number): string => `instance-${this.#name}-${n}`
  #today = (): string => new Date(START + this.#daysPassed * 24 * HOUR).toISOString().slice(0, 10)

  #content(index: number): VerifiedBytes {
    const { bytes, named, view } = CONTENTS[index] ?? { bytes: 0, named: 'sha256' }
    const digestOf = (what: unknown): string => createHash('sha256').update(`${this.#name} ${what}`).digest('hex')
    const sizeBytes = SIZES[bytes] ?? 0
    const sha256 = digestOf(bytes)
    const pieceRoot = digestOf(OF_ONE_PIECE_ROOT.includes(bytes) ? 'piece' : `piece of ${bytes}`)
    const key = {
      sha256: `sha256:${sha256}`,
      opaque: `opaque:${this.#name}`,
      piece: `piece:${pieceRoot}:${sizeBytes}`,
      'piece-v1': `piece-v1:${pieceRoot}`,
      'dag-pb': `dag-pb:${digestOf('root')}`,
      block: `dag-pb:${sha256}`,
    }[named]
    return { key, sha256, sizeBytes, pieceRoot, aliases: view === undefined ? [] : [{ key, view }] }
  }
}

function predict(before: QuotaModel, calls: readonly QuotaCall[], order: readonly number[]) {
  const model = before.clone()
  const answers: QuotaAnswer[] = []
  for (const index of order) {
    const call = calls[index]
    if (call !== undefined) answers[index] = model.apply(call)
  }
  return { model, answers }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

async function ask(store: RecordStore, call: QuotaCall): Promise<QuotaAnswer> {
  switch (call.name) {
    case 'reserve': {
      const { id: reservationId, instance: instanceId, ...rest } = call
      const request = { ...rest, reservationId, instanceId, leaseUntil: call.now + LONG_TERM }
      return withoutDay(await store.quotas.reserve(request))
    }
    case 'grow':
      return withoutDay(await store.quotas.grow({ reservationId: call.id, ...call }))
    case 'commit':
      return answerOf(await store.quotas.commit({ reservationId: call.id, ...fileCommitOf(call) }))
    case 'commit at once': {
      const { key, sizeBytes } = call.bytes
      return answerOf(
        await store.quotas.commitAtOnce({ admit: { ...call, key, sizeBytes }, commit: fileCommitOf(call) }),
      )
    }
    case 'make folder': {
      const { key, sizeBytes } = call.bytes
      const made = await store.quotas.commitAtOnce({ admit: { ...call, key, sizeBytes }, commit: folderCommitOf(call) })
      if (made.outcome === 'unusable_members') return { outcome: made.outcome, gone: made.gone.join(' ') }
      return answerOf(made)
    }
    case 'compose': {
      const composed = await composeIn(store, call)
      const { outcome } = composed
      return outcome === 'over_quota' ? withoutDay(composed) : { outcome }
    }
    case 'claim':
      return claimIn(store, call)
    case 'release':
      await store.quotas.release({ reservationId: call.id, now: START })
      return {}
    case 'lapse':
      await store.quotas.releaseExpired({ now: call.now })
      return {}
    case 'deregister':
      return { ...(await store.instances.deregister({ instanceId: call.instance, now: call.now })) }
    case 'remove':
      return { removed: (await store.files.remove(call)) !== undefined }
    case 'sweep':
      await store.files.expire({ now: call.now, limit: 10 })
      await store.files.releaseEnded({ now: call.now, limit: 10 })
      return {}
  }
}

/** Every principal has one secret, whose digest all its uploads announce. */
const claimDigestOf = (principal: string): string => createHash('sha256').update(`claims of ${principal}`).digest('hex')

async function claimIn(store: RecordStore, call: Extract<QuotaCall, { name: 'claim' }>): Promise<QuotaAnswer> {
  const { from, principal, key, expiresAt, now } = call
  const digest = claimDigestOf(from)
  for (;;) {
    const found = await store.claims.find({ key, digest, principal, now })
    if (found.outcome !== 'open') return { outcome: found.outcome }
    const { sequence, sha256, sizeBytes, pieceRoot } = found.file
    const bytes = { key, sha256: sha256 ?? '', sizeBytes, pieceRoot: pieceRoot ?? '', aliases: [] }
    const { claimDigest: _, ...file } = fileCommitOf({ principal, bytes, expiresAt, now }).file
    const taken = await store.claims.take({ ...call, sponsored: sequence, digest, file })
    if (taken.outcome === 'gone') continue
    if (taken.outcome === 'over_quota') return withoutDay(taken)
    return { outcome: taken.outcome, usedBytes: taken.usedBytes }
  }
}

async function composeIn(store: RecordStore, call: Extract<QuotaCall, { name: 'compose' }>) {
  const { principal, whole, parts, isRead, expiresAt, now, day, capBytes, capFiles, capStoredBytes, token } = call
  const found = await store.compositions.find({ principal, keys: parts.map(({ key }) => key), now })
  const commit = fileCommitOf({ principal, bytes: whole, expiresAt, now })
  return store.compositions.commit({
    now,
    day,
    capBytes,
    capFiles,
    capStoredBytes,
    token,
    content: commit.content,
    file: { ...commit.file, sha256: isRead ? whole.sha256 : null },
    // There is no file 0, so a part that is missing now is one that has ended.
    parts: found.map((part) => (part.outcome === 'found' ? part.part.file.sequence : 0)),
  })
}

function fileCommitOf(call: { principal: string; bytes: VerifiedBytes; expiresAt: number; now: number }): FileCommit {
  const { principal, bytes, expiresAt, now } = call
  const { key, sha256, sizeBytes, pieceRoot, aliases } = bytes
  const described = { cid: key, contentType: 'text/plain', filename: null, visibility: 'public' } as const
  const facts = { owner: null, sponsored: false, verified: true, termDays: 7, uploadedAt: now, dealId: randomUUID() }
  return {
    now,
    inline: undefined,
    content: { pieceRoot, pieceSubtreeRoots: new Uint8Array(), aliases, dags: [] },
    file: {
      principal,
      key,
      sha256,
      sizeBytes,
      expiresAt,
      claimDigest: claimDigestOf(principal),
      ...described,
      ...facts,
    },
  }
}

function folderCommitOf(call: Extract<QuotaCall, { name: 'make folder' }>): FileCommit {
  const { members, takes } = call
  const bytes = members.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  return {
    ...fileCommitOf(call),
    folder: {
      files: members.length,
      bytes,
      memberBytes: bytes,
      members: members.map(({ sha256 }) => ({ object: sha256, uses: 1 })),
      taken: takes ? members.map(({ sha256 }) => sha256) : [],
    },
  }
}

function answerOf(answered: AtOnceOutcome): QuotaAnswer {
  switch (answered.outcome) {
    case 'recorded':
    case 'retry':
      return { outcome: answered.outcome, usedBytes: answered.usedBytes }
    default:
      return withoutDay(answered)
  }
}

export interface QuotaCheck {
  /** Opens two stores on the same data, or gives one twice, before each run of sequences. */
  open(): Promise<readonly [RecordStore, RecordStore]>
  /** Closes them and removes what they stored. */
  discard(stores: readonly [RecordStore, RecordStore]): Promise<void>
  /** How many sequences are tried; 50 run side by side. */
  readonly sequences: number
  readonly timeLimitMs: number
}

/** Fails unless random sequences of operations leave what the model says after every step. */
export async function checkQuotas({ open, discard, sequences, timeLimitMs }: QuotaCheck): Promise<void> {
  const sequence = fc.array(command, { minLength: 1, maxLength: MAX_STEPS, size: 'max' })
  const sideBySide = fc.array(sequence, { minLength: SIDE_BY_SIDE, maxLength: SIDE_BY_SIDE })
  const run = async (commands: readonly (readonly Command[])[]): Promise<void> => {
    const stores = await open()
    try {
      await runSideBySide(stores, commands)
    } finally {
      await discard(stores)
    }
  }
  // The limit ends a search for a smaller counterexample; too slow a run without one is a failure as well.
  await fc.assert(fc.asyncProperty(sideBySide, run), {
    numRuns: Math.ceil(sequences / SIDE_BY_SIDE),
    interruptAfterTimeLimit: timeLimitMs,
    markInterruptAsFailure: true,
  })
}

/** Runs the sequences side by side, step by step, so that a step of all of them costs a few commits. */
async function runSideBySide(
  stores: readonly [RecordStore, RecordStore],
  sequences: readonly (readonly Command[])[],
): Promise<void> {
  const running = sequences.map((commands, index) => ({ commands, sequence: new Sequence(`${index}`) }))
  for (let index = 0; index < MAX_STEPS; index += 1) {
    const now = START + index * HOUR
    await Promise.all(
      running.map(async ({ commands, sequence }) => {
        const command = commands[index]
        if (command !== undefined) await sequence.run(stores, command, now)
      }),
    )
    expect(await stores[0].quotas.checkDrift()).toEqual([])
  }
}

/** What is left of a day is told besides, and decides nothing. */
function withoutDay<Answer extends object>({ day: _, ...answer }: Answer & { readonly day?: unknown }): QuotaAnswer {
  return answer as unknown as QuotaAnswer
}

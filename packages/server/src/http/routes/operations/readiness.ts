import { LadeError } from '@lade/core/errors'
import type { ReadyResult } from '@lade/core/wire'
import type { Service } from '../../service.ts'

/** How long a dependency may take to answer before it counts as failed. */
const CHECK_MS = 2000
/** How long the answers of the dependencies are believed, counted from when they were asked. */
const BELIEVED_MS = 1000

type Checked = Omit<ReadyResult['dependencies'], 'signingKey' | 'process'>

/**
 * Reports whether the service can take requests.
 *
 * Dependencies outside this process (records, storage, provers, chain) are asked once for all who ask within a second of it, so that a client
 * that asks without end costs them nothing. The rest, such as whether the process is draining, is read for each request.
 *
 * @param now - a monotonic clock, in milliseconds. @default performance.now
 */
export function createReadiness(
  service: Service,
  now: () => number = () => performance.now(),
): () => Promise<ReadyResult> {
  let last: { readonly askedAt: number; isPending: boolean; readonly answer: Promise<Checked> } | undefined
  const check = (): Promise<Checked> => {
    if (last !== undefined && (last.isPending || now() - last.askedAt < BELIEVED_MS)) return last.answer
    const asked = { askedAt: now(), isPending: true, answer: checkDependencies(service) }
    last = asked
    return asked.answer.finally(() => {
      asked.isPending = false
    })
  }

  return async () => {
    const dependencies: ReadyResult['dependencies'] = {
      ...(await check()),
      signingKey: service.keys.currentId() === undefined ? 'failed' : 'ok',
      process: service.isDraining() ? 'draining' : 'ok',
    }
    const isReady = Object.values(dependencies).every((state) => state === 'ok')
    return {
      status: isReady ? 'ready' : 'not_ready',
      dependencies,
      signingKey: signingKeyFacts(service),
      clock: clockFacts(service),
    }
  }
}

async function checkDependencies({ records, blobs, provers, chain }: Service): Promise<Checked> {
  const [recordsState, storageState, proverState, chainState] = await Promise.all([
    stateOf(() => records.check()),
    blobs === undefined ? ('none' as const) : stateOf(() => blobs.check()),
    // One that answers is enough to go on staging.
    stateOf(() => Promise.any(provers.map((prover) => prover.check())).then(() => {})),
    chain === undefined ? undefined : stateOf(() => chain.check()),
  ])
  return {
    records: recordsState,
    storage: storageState,
    prover: proverState,
    ...(chainState !== undefined && { chain: chainState }),
  }
}

function signingKeyFacts({ keys, now }: Service): ReadyResult['signingKey'] {
  const key = keys.find()
  if (key === undefined) return null
  const date = new Date(now())
  return { alg: key.alg, ageDays: key.ageDays(date) ?? null, overdue: key.isOverdue(date) }
}

function clockFacts({ clock }: Service): ReadyResult['clock'] {
  const { offsetMs, isDeletionPaused } = clock.state()
  return { aheadSeconds: Math.round(offsetMs / 1000), deletionPaused: isDeletionPaused }
}

async function stateOf(check: () => Promise<void>): Promise<'ok' | 'failed' | 'read_only'> {
  const timeout = new Promise<'failed'>((resolve) => setTimeout(resolve, CHECK_MS, 'failed').unref())
  return Promise.race([
    check().then(
      () => 'ok' as const,
      (error: unknown) => (LadeError.has(error, 'read_only') ? ('read_only' as const) : ('failed' as const)),
    ),
    timeout,
  ])
}

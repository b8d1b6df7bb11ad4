import { isAddressId } from '../../../quota-rule/address-as-token.ts'
import type { WriteInput } from '../../sql/writes.ts'
import type { WriteCall } from './write-call.ts'
import { queueNameOf } from './write-queue-names.ts'

/** Places of writes that follow each other, in their order. */
export type Strand = readonly number[]

/**
 * How writes of one transaction are made: stage by stage, and the strands of a stage side by side, so that the engine has the statements of
 * all of them at once and nobody waits for each answer.
 *
 * Uploads that are recorded at once are side by side when nothing that one of them writes is read by the other: neither whose quota it
 * is, nor the bytes and their names. All other writes are a stage by themselves, where they came.
 */
export function stagesOf(calls: readonly WriteCall[]): readonly (readonly Strand[])[] {
  const stages: Strand[][] = []
  let uploads: { readonly place: number; readonly meets: readonly string[] }[] = []
  const endStage = (): void => {
    if (uploads.length > 0) stages.push(strandsOf(uploads))
    uploads = []
  }
  for (const [place, call] of calls.entries()) {
    const meets = meetsOf(call)
    if (meets !== undefined) {
      uploads.push({ place, meets })
      continue
    }
    endStage()
    stages.push([[place]])
  }
  endStage()
  return stages
}

/** Whether a write is an upload that may be made beside others: see {@link stagesOf}. */
export function isPlainUpload(call: WriteCall): boolean {
  return meetsOf(call) !== undefined
}

/** What an upload has in common with those that it must not be beside; undefined for other writes. */
function meetsOf({ name, input, fence }: WriteCall): readonly string[] | undefined {
  if (name !== 'quotas.commitAtOnce' || fence !== undefined) return undefined
  const request: WriteInput<'quotas.commitAtOnce'> = input
  const { admit, commit } = request
  const { file, content, folder, placement } = commit
  if (folder !== undefined || placement !== undefined) return undefined
  return [
    `quota ${queueNameOf(name, request)}`,
    ...(admit.token !== undefined && isAddressId(admit.token.id) ? [`quota ${admit.token.id}`] : []),
    `bytes ${file.sha256}`,
    `piece ${content.pieceRoot}`,
    `name ${file.key}`,
    ...content.aliases.map(({ key }) => `name ${key}`),
  ]
}

/** Joins what meets, also by way of others. */
function strandsOf(uploads: readonly { readonly place: number; readonly meets: readonly string[] }[]): Strand[] {
  const leaders = new Map<string, string>()
  const leaderOf = (name: string): string => {
    let at = name
    for (let next = leaders.get(at); next !== undefined && next !== at; next = leaders.get(at)) at = next
    return at
  }
  for (const { meets } of uploads) {
    const [first = ''] = meets
    for (const name of meets) leaders.set(leaderOf(name), leaderOf(first))
  }
  const strands = Map.groupBy(uploads, ({ meets: [first = ''] }) => leaderOf(first))
  return [...strands.values()].map((strand) => strand.map(({ place }) => place))
}

/**
 * Runs all of them side by side, and waits for the end of each: none goes on after this has ended.
 *
 * @param tasks - each is given what says whether another one has failed, and then has nothing more to do.
 * @throws what the first of them failed with. Those behind it fail because of that.
 */
export async function sideBySide(tasks: readonly ((hasFailed: () => boolean) => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = []
  const hasFailed = (): boolean => failures.length > 0
  await Promise.all(
    tasks.map((task) =>
      task(hasFailed).catch((error: unknown) => {
        failures.push(error)
      }),
    ),
  )
  if (hasFailed()) throw failures[0]
}

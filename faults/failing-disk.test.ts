import { afterAll, expect, test } from 'vitest'
import { FAILING_DISK_NEEDS, type FileSystem } from './failing-disk.ts'
import { FAULT_KINDS, type FaultKind, failingDiskRound, type RoundResult } from './failing-disk-round.ts'
import { describeScenario, program, tracing } from './harness.ts'
import { PLAN } from './plan.ts'
import { runSeed, seededRandom } from './seeded-random.ts'

interface Arrangement {
  readonly kind: FaultKind
  readonly fileSystem: FileSystem
  readonly processes: number
}

const FILE_SYSTEMS = ['ext4', 'xfs'] as const
/** Controls that may lose nothing, by chance. */
const MAX_LOSSLESS_CONTROLS = 4

/** Every kind on every file system, with one process and with two. */
const EVERY: readonly Arrangement[] = FAULT_KINDS.flatMap((kind) =>
  FILE_SYSTEMS.flatMap((fileSystem) => [1, 2].map((processes) => ({ kind, fileSystem, processes }))),
)
const ORDINARY: readonly Arrangement[] = [{ kind: 'log fsync', fileSystem: 'ext4', processes: 1 }]
const ROUNDS = PLAN.isFull
  ? Array.from({ length: PLAN.failingDiskRounds }, (_, index) => EVERY[index % EVERY.length] as Arrangement)
  : ORDINARY

const WITHOUT_MEND = { NODE_OPTIONS: `--import ${new URL('./without-mend.mjs', import.meta.url).href}` }

describeScenario(
  {
    id: 'failing-disk',
    name: 'a disk that fails once and works again, then a power cut',
    needs: [...FAILING_DISK_NEEDS, program('strace', 'strace'), tracing],
  },
  () => {
    const results: (Arrangement & RoundResult)[] = []
    afterAll(() => {
      if (PLAN.isFull) for (const line of figures(results)) process.stderr.write(`${line}\n`)
    })

    test.each(ROUNDS.map((round, index) => ({ ...round, index })))(
      'loses no acknowledged upload: $kind on $fileSystem, $processes process(es) ($index)',
      async ({ index, ...arrangement }) => {
        const random = seededRandom(runSeed + 4000 + index)
        const result = await failingDiskRound({ ...arrangement, random })
        results.push({ ...arrangement, ...result })
        if (PLAN.isFull) process.stderr.write(`round ${index}: ${figures(results.slice(-1)).join('')}\n`)
        expect(result.broken, `seed ${random.seed}`).toEqual([])
        expect(result.acked).toBeGreaterThan(0)
      },
    )

    test('error: without the mend a start loses what it acknowledges, which shows that these tests would see it', async () => {
      let lossyRounds = 0
      // Whether uploads come between the failure and the cut is up to chance, so that a round without a loss is followed by another one.
      for (let round = 0; lossyRounds < PLAN.failingDiskControls; round += 1) {
        const random = seededRandom(runSeed + 5000 + round)
        const fileSystem = FILE_SYSTEMS[round % FILE_SYSTEMS.length] ?? 'ext4'
        const { broken, acked } = await failingDiskRound({
          kind: 'log fsync',
          fileSystem,
          processes: 1,
          random,
          isBrief: true,
          env: WITHOUT_MEND,
        })
        const lost = broken.filter((sentence) => sentence.includes('LOST'))
        if (PLAN.isFull) process.stderr.write(`control on ${fileSystem}: ${lost.length} of ${acked} lost\n`)
        if (lost.length > 0) lossyRounds += 1
        expect(round - lossyRounds, `seed ${random.seed}: rounds without a loss`).toBeLessThan(MAX_LOSSLESS_CONTROLS)
      }
    })
  },
)

/** What the rounds came to, by file system and number of processes. */
function figures(results: readonly (Arrangement & RoundResult)[]): string[] {
  const sum = (of: readonly RoundResult[], value: (result: RoundResult) => number): number =>
    of.reduce((total, result) => total + value(result), 0)
  return [...Map.groupBy(results, (result) => `${result.kind}, ${result.fileSystem}, ${result.processes}`)].map(
    ([name, of]) =>
      `${name}: ${of.length} rounds, ${sum(of, (one) => one.acked)} acknowledged, ` +
      `${sum(of, (one) => one.broken.filter((sentence) => sentence.includes('LOST')).length)} lost, ` +
      `503: ${sum(of, (one) => one.refusedThere)} there, ${sum(of, (one) => one.refusedAbsent)} absent; ` +
      `${of.filter((one) => one.isMountedAgain).length} mounted again, ${sum(of, (one) => one.refusedStarts)} starts refused`,
  )
}

/**
 * `node bench/memory/main.ts`: how much memory the service takes at rest, under each load, and a minute after it.
 *
 * Ends with 0 whatever the figures are, and with 1 when something could not be measured. Processes and folders do not outlive it.
 */
import { openRun } from '../open-run.ts'
import { parseOptions as parseBenchOptions } from '../options.ts'
import { readOptions } from '../read-options.ts'
import { memoryLoads } from './loads.ts'
import { type MeasuredMemory, measureMemory } from './measure-memory.ts'
import { HELP, type MemoryOptions, parseOptions } from './options.ts'
import { renderMemory } from './report.ts'

async function measureAll({ only, seconds, sizeBytes, restSeconds, ...places }: MemoryOptions): Promise<void> {
  const usual = parseBenchOptions([])
  if (usual === 'help') throw new TypeError('no options ask for no help')
  const run = openRun({ ...usual, ...places, sizeBytes })
  const loads = memoryLoads(run, { sizeBytes, seconds })
  const measured: MeasuredMemory[] = []
  for (const name of only) {
    run.progress(`${name} …`)
    try {
      measured.push(await measureMemory(run, loads[name], restSeconds))
    } catch (error) {
      run.progress(`${name} could not be measured: ${error instanceof Error ? error.stack : error}`)
      process.exitCode = 1
    }
  }
  if (measured.length > 0) console.log(renderMemory(measured, restSeconds))
}

const options = readOptions(parseOptions)
if (options === 'help') console.log(HELP)
else if (options !== undefined) await measureAll(options)

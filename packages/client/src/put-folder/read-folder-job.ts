import type { PutFolderOptions } from '../folder-options.ts'
import { type OptionNames, refuseUnknownOptions } from '../known-options.ts'
import { claimingOf, keepingOf, type PutContext } from '../put/job.ts'
import { ownFiles } from '../put/own-files.ts'
import { TaskGroup } from '../put/task-group.ts'
import type { FolderJob } from './folder-job.ts'
import { FolderMeter } from './folder-meter.ts'
import { KeptBytes } from './kept-bytes.ts'

const OPTIONS: OptionNames<PutFolderOptions> = {
  filename: true,
  visibility: true,
  termDays: true,
  overDays: true,
  claim: true,
  beforePart: true,
  hidden: true,
  onLeftOut: true,
  concurrency: true,
  onProgress: true,
  state: true,
  signal: true,
}
const DEFAULT_CONCURRENCY = 4
const MAX_CONCURRENCY = 16

/** Reads the options of a put of a folder. @throws {TypeError} for options that are none. */
export function readFolderJob(context: PutContext, options: PutFolderOptions): FolderJob {
  refuseUnknownOptions('putFolder', options, OPTIONS)
  const { concurrency = DEFAULT_CONCURRENCY, overDays = false, beforePart, filename } = options
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > MAX_CONCURRENCY) {
    throw new TypeError(`concurrency is ${concurrency}, but it must be 1 to ${MAX_CONCURRENCY}`)
  }
  if (typeof (filename ?? '') !== 'string') throw new TypeError(`filename must be a string, not ${filename}`)
  if (typeof (options.onProgress ?? (() => {})) !== 'function') throw new TypeError('onProgress must be a function')
  const group = new TaskGroup(options.signal)
  return {
    ...context,
    options,
    keeping: keepingOf(options),
    claiming: claimingOf(options.claim, context.platform),
    concurrency,
    overDays,
    beforePart,
    own: ownFiles(context.http),
    meter: new FolderMeter(options.onProgress, (error) => group.fail(error)),
    kept: new KeptBytes(),
    group,
    signal: group.signal,
  }
}

import type { PutFolderResult } from '@lade/client'
import type { UploadResult } from '@lade/core/wire'
import { Ended, EXIT } from '../exit-code.ts'
import { printable } from '../output/printable.ts'
import { styleFor } from '../output/style.ts'
import type { Terminal } from '../terminal.ts'
import {
  describeBriefly,
  describeFolder,
  describeLeftOut,
  describeResult,
  describeSum,
  isFolder,
  outcomeForPrograms,
  sentenceFor,
} from './describe.ts'
import type { Outcome } from './put-files.ts'

export interface PutReportOptions {
  /** One file by itself is described in full, and its failure is that of the whole command. */
  readonly isOne: boolean
  readonly isJson: boolean
  readonly isQuiet: boolean
}

/** Tells what becomes of the files of one `lade put`, as it becomes known. */
export class PutReport {
  readonly #terminal: Terminal
  readonly #options: PutReportOptions
  readonly #staged: (UploadResult | PutFolderResult)[] = []
  readonly #failures: unknown[] = []

  constructor(terminal: Terminal, options: PutReportOptions) {
    this.#terminal = terminal
    this.#options = options
  }

  add(outcome: Outcome): void {
    if ('error' in outcome) this.#addFailure(outcome)
    else this.#addResult(outcome)
  }

  /**
   * Tells the sum of several files.
   *
   * @throws the error of a file that was put by itself; `Ended` when any of several failed.
   */
  end(notTried: number): void {
    const { isOne, isQuiet } = this.#options
    if (isOne && this.#failures.length > 0) throw this.#failures[0]
    const sum = { staged: this.#staged, failedCount: this.#failures.length, notTried }
    if (!isOne && !isQuiet) this.#terminal.note(describeSum(sum))
    if (this.#failures.length > 0) throw new Ended(EXIT.failed)
  }

  #addResult(outcome: Extract<Outcome, { result: unknown }>): void {
    const { isOne, isJson, isQuiet } = this.#options
    const { item, result, wasThere, remark } = outcome
    const terminal = this.#terminal
    this.#staged.push(result)
    const skipped = describeLeftOut(outcome.leftOut ?? [])
    if (skipped !== undefined && !isQuiet) terminal.note(isOne ? skipped : `${printable(item.shown)}: ${skipped}`)
    if (remark !== undefined) terminal.note(`${printable(item.shown)}: ${remark}`)
    if (isJson) terminal.print(JSON.stringify(outcomeForPrograms(outcome)))
    else if (isQuiet) terminal.print(printable(result.cid))
    else if (!isOne) terminal.print(describeBriefly(item.shown, result))
    else {
      const style = styleFor(terminal.stdout)
      const lines = isFolder(result)
        ? describeFolder(item.shown, result, style)
        : describeResult(item.shown, result, wasThere, style)
      for (const line of lines) terminal.print(line)
    }
  }

  #addFailure(outcome: Extract<Outcome, { error: unknown }>): void {
    const { isOne, isJson } = this.#options
    this.#failures.push(outcome.error)
    // Of one file by itself, the end of the program says it.
    if (isOne) return
    this.#terminal.note(`${printable(outcome.item.shown)}: ${sentenceFor(outcome.error)}`)
    if (isJson) this.#terminal.print(JSON.stringify(outcomeForPrograms(outcome)))
  }
}

#!/usr/bin/env -S node --max-semi-space-size=4
import { EXIT } from './exit-code.ts'
import { processTerminal } from './process-terminal.ts'
import { run } from './run.ts'

// In case the process runs out of work before the command has ended.
process.exitCode = EXIT.failed
// Not awaited: when bundled, parts that are loaded later import this module, and would wait for it to end.
void run(process.argv.slice(2), processTerminal()).then((exitCode) => {
  process.exitCode = exitCode
})

#!/usr/bin/env node
import { processTerminal } from './process-terminal.ts'
import { run } from './run.ts'

process.exitCode = await run(process.argv.slice(2), processTerminal())

#!/usr/bin/env -S node --max-semi-space-size=8
// The command of the published package. Older versions of Node.js must be able to read this file.
import process from 'node:process'

const REQUIRED_MAJOR = 24

if (Number.parseInt(process.versions.node, 10) < REQUIRED_MAJOR) {
  console.error(`lade needs Node.js ${REQUIRED_MAJOR} or newer; this is Node.js ${process.versions.node}.`)
  process.exitCode = 1
} else {
  import('../dist/main.js')
}

#!/usr/bin/env -S node --max-semi-space-size=8
/**
 * The service as it is, but for the piece commitment of big bodies, which is left out: what tells how much that costs.
 * Started like `lade serve`, and configured by the same variables.
 */

import { startHashThreads } from '@lade/node/hashing/hash-threads'
import { startLade } from '@lade/server'
import { readConfig } from '@lade/server/config'

const { hashers } = startHashThreads({ withoutPieces: true })
const lade = await startLade(readConfig({ env: process.env }), { hashers })
console.log(`Lade is ready at ${lade.url}`)
process.once('SIGTERM', () => {
  void lade.close().then(() => process.exit(0))
})

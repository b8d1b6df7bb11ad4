/** A process that makes deals until it is killed: its one argument is the JSON of its options. It prints a line when it begins. */
import { setTimeout as sleep } from 'node:timers/promises'
import { openDealMaking } from '@lade/server/testing/deal-making'

const { proposer } = await openDealMaking(JSON.parse(process.argv[2] ?? ''))
process.stdout.write('ready\n')
for (;;) {
  const { nextInMs } = await proposer.round()
  await sleep(nextInMs)
}

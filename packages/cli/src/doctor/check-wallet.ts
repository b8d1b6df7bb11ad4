import type { LadeClient } from '@lade/client'
import { LadeError } from '@lade/core/errors'
import { sentenceOf } from '../exit-code.ts'
import { formatBytes } from '../output/amounts.ts'
import { broken, type Finding, ok, warning } from './finding.ts'

/** Whether the service takes the wallet, and what it may put. */
export async function checkWallet(name: string, client: LadeClient): Promise<Finding> {
  try {
    const { userId, quotaBytes, today } = await client.usage()
    const whose = `The wallet in ${name} is accepted as ${userId}`
    return quotaBytes === 0
      ? warning('wallet', `${whose}, but has too little USDC to upload anything.`)
      : ok('wallet', `${whose} and can upload ${formatBytes(today.remainingBytes)} more today.`)
  } catch (error) {
    if (!LadeError.is(error)) throw error
    return broken('wallet', `The service rejects the wallet in ${name}. ${sentenceOf(error)}`)
  }
}

import { afterAll, beforeAll, describe } from 'vitest'
import { describeChain } from '../../conformance.ts'
import { type AnvilNetwork, startAnvilNetwork } from './testing/anvil-network.ts'
import { answerWithoutBaseFee } from './testing/no-base-fee.ts'

describe.each([1, 2] as const)('with a marketplace of version %i', (version) => {
  let network: AnvilNetwork
  beforeAll(async () => {
    network = await startAnvilNetwork({ version })
  })
  afterAll(() => network.stop())

  describeChain('evm', { open: () => network.openFixture() })
  if (version === 1) return
  describeChain('evm without a base fee', {
    async open() {
      const fixture = await network.openFixture()
      answerWithoutBaseFee(fixture.relay, network.rpcUrl)
      return fixture
    },
  })
})

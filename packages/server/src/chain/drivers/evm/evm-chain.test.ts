import { afterAll, beforeAll } from 'vitest'
import { describeChain } from '../../conformance.ts'
import { type AnvilNetwork, startAnvilNetwork } from './testing/anvil-network.ts'

let network: AnvilNetwork
beforeAll(async () => {
  network = await startAnvilNetwork()
})
afterAll(() => network.stop())

describeChain('evm', { open: () => network.openFixture() })

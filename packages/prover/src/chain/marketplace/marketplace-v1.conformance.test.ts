import { describeMarketplace } from './conformance.ts'

describeMarketplace(1)

export { marketplaceAbi, marketplaceBytecode } from '../artifacts/Marketplace.ts'
export { testUsdcAbi, testUsdcBytecode } from '../artifacts/TestUsdc.ts'
export { type DeployContractsOptions, type DeployedContracts, deployContracts } from './deploy-contracts.ts'

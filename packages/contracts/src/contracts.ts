export { marketplaceAbi, marketplaceBytecode } from '../artifacts/Marketplace.ts'
/** The first version of the marketplace. Its deals are proved, settled and withdrawn by this ABI until they end. */
export { marketplaceV1Abi, marketplaceV1Bytecode } from '../artifacts/MarketplaceV1.ts'
export { testUsdcAbi, testUsdcBytecode } from '../artifacts/TestUsdc.ts'
export { type DeployContractsOptions, type DeployedContracts, deployContracts } from './deploy-contracts.ts'

import type { SETTINGS } from './settings.ts'

type SettingKey = keyof typeof SETTINGS

/** Settings that belong together, under the heading that help and the configuration page give them. */
export interface SettingGroup {
  readonly title: string
  readonly keys: readonly SettingKey[]
}

/** Every setting exactly once. The settings that most installations change come first. */
export const SETTING_GROUPS: readonly SettingGroup[] = [
  { title: 'Start here', keys: ['publicUrl', 'dataDir', 'database', 'storage', 'signup'] },
  {
    title: 'Network',
    keys: [
      'host',
      'port',
      'contentUrl',
      'sitesUrl',
      'trustedProxies',
      'trustedHosts',
      'maxConnections',
      'bodyIdleSeconds',
    ],
  },
  { title: 'Processes', keys: ['processes', 'drainSeconds', 'databaseConnections'] },
  {
    title: 'Quotas and limits',
    keys: [
      'sponsoredFileMb',
      'sponsoredDailyMb',
      'sponsoredDailyFiles',
      'sponsoredStoredGb',
      'sponsoredConcurrency',
      'sponsoredFileDays',
      'tokenFileMb',
      'tokenDailyMb',
      'tokenDailyFiles',
      'tokenStoredGb',
      'tokenConcurrency',
      'tokenFileDays',
      'termMaxDays',
      'opaqueIds',
    ],
  },
  {
    title: 'Tokens and signup',
    keys: ['tokenKey', 'tokenAlg', 'signupsPerHour', 'smtpUrl', 'mailFrom', 'queryToken'],
  },
  {
    title: 'Storage',
    keys: [
      'inlineKb',
      'minFreeMb',
      'cacheSeconds',
      's3RedirectSeconds',
      'accel',
      'reverifyMinutes',
      'scrubDays',
      'discardGraceHours',
      'orphanDays',
      'tombstoneDays',
    ],
  },
  {
    title: 'Provers',
    keys: [
      'provers',
      'redundancy',
      'stage',
      'aggregateBelowMb',
      'aggregateSeconds',
      'auditSeconds',
      'curioKey',
      'ipfsCopies',
    ],
  },
  { title: 'Moderation', keys: ['denylists'] },
  { title: 'Wallets', keys: ['chainRpc', 'chainId', 'usdc', 'usdcPerGib', 'walletBalanceBlocks', 'walletAddressMb'] },
  {
    title: 'Onchain deals',
    keys: [
      'marketplace',
      'chainKey',
      'dealUsdcPerGibDay',
      'dealBondPercent',
      'dealUsdcPerDay',
      'chainFeeCapGwei',
      'dealWaitMs',
      'chainConfirmations',
      'chainFinalityBlocks',
    ],
  },
  { title: 'Logs and metrics', keys: ['logLevel', 'logAddresses', 'metricsToken'] },
]

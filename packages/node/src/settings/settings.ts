export { ConfigError, StartError } from './config-error.ts'
export { SecretString } from './secret-string.ts'

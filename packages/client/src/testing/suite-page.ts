import { createLadeClient, walletOf } from '../client.ts'
import { createClient } from '../create-client.ts'
import { runSuiteInPage } from './run-suite.ts'

// Not awaited: what the bundle loads later may import this module, which would then wait for itself.
void runSuiteInPage({ createLadeClient, createClient, walletOf })

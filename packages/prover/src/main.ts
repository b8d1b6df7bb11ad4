import { runProver } from './run-prover.ts'

export type { AnswerFault, AskedRequest, PieceFault, ProverFaults } from './faults.ts'
export type { ProverOptions } from './prover-options.ts'
export type { ProverSetting } from './prover-setting.ts'
export type { AllowedHosts } from './pull/allowed-hosts.ts'
export type { Resolve } from './pull/call-allowed.ts'
export { type ProverSurroundings, runProver } from './run-prover.ts'
export { PROVER_SETTINGS, type ProverSettings, readProverSettings } from './settings.ts'
export { type Prover, startProver } from './start-prover.ts'

// Run as a program: without a command line around it, configured by its environment.
if (import.meta.main) {
  await runProver({ env: process.env, cwd: process.cwd(), print: (line) => console.log(line) })
  process.exit(0)
}

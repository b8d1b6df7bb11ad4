import { describeProver } from './conformance.ts'
import { openLocalProver } from './drivers/local/local-prover.ts'
import { openScriptedProver, type ScriptedProver } from './scripted-prover.ts'

describeProver('local', { open: async () => openLocalProver({ salt: 'test' }) })
describeProver('reference (scripted)', {
  open: async () => openScriptedProver(),
  refuseNext: (prover, reason) => (prover as ScriptedProver).refuseNext(reason),
})

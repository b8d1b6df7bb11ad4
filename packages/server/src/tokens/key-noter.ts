import type { AuditLogRecords } from '../records/record-store.ts'
import type { SigningKeys } from './signing-keys.ts'

/** A function that has the audit log say, when it is called, that another signing key is in use than was last. */
export function keyNoter(deps: {
  readonly keys: SigningKeys
  readonly records: { readonly audit: Pick<AuditLogRecords, 'keyInUse'> }
  readonly now: () => number
}): () => Promise<void> {
  let noted: string | undefined
  return async () => {
    const keyId = deps.keys.currentId()
    if (keyId === undefined || keyId === noted) return
    await deps.records.audit.keyInUse({ keyId, at: deps.now() })
    noted = keyId
  }
}

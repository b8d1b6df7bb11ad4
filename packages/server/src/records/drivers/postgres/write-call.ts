import type { Fence } from '../../record-store.ts'
import type { WriteName } from '../../sql/writes.ts'

/** One write. */
export interface WriteCall {
  readonly name: WriteName
  readonly input: never
  readonly fence: Fence | undefined
}

/** One write, and who waits for it. */
export interface WaitingWrite {
  readonly call: WriteCall
  readonly resolve: (output: never) => void
  readonly reject: (error: unknown) => void
  readonly since: number
  /** Whether it could not be made with others: it waits for the lock of its principal, so that it is made some time. */
  readonly isApart?: boolean
}

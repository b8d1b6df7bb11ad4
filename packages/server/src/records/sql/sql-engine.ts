import type { Fence } from '../record-store.ts'
import type { ReadInput, ReadName, ReadOutput } from './reads.ts'
import type { WriteInput, WriteName, WriteOutput } from './writes.ts'

/** An engine that runs the reads and the writes of this folder, each in one transaction. */
export interface SqlEngine {
  read<Name extends ReadName>(name: Name, input: ReadInput<Name>): Promise<ReadOutput<Name>>
  /** @param fence - of the lease under which the write is made, which fails when that is somebody else's. */
  write<Name extends WriteName>(name: Name, input: WriteInput<Name>, fence?: Fence): Promise<WriteOutput<Name>>
}

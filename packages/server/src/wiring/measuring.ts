/** The records as requests ask them, for what measures them without a service around them. */
export { listDeals } from '../deals/list-deals.ts'
export { listFiles } from '../files/list-files.ts'
export { openPostgresRecordStore } from '../records/drivers/postgres/postgres-record-store.ts'
export { openSqliteRecordStore } from '../records/drivers/sqlite/sqlite-record-store.ts'
export type { FileCommit, ListFilesRequest, RecordStore } from '../records/record-store.ts'
export { newDealId } from '../uploads/deal-id.ts'

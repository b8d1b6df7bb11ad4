export * from './content-digests.ts'
export * from './content-id.ts'
export * from './content-names.ts'
export * from './verify-content.ts'

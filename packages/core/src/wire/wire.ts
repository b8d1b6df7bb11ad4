/** Every request and response of the API as a schema, once: the server validates and documents with these. */
export * from './file-name.ts'
export * from './files.ts'
export * from './headers.ts'
export * from './limits.ts'
export * from './media-type.ts'
export * from './operations.ts'
export * from './tokens.ts'
export * from './upload.ts'

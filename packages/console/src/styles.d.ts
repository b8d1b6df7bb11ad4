/** Vite takes styles as imports without a value. */
declare module '*.css'

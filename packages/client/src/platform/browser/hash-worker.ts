import { serveInWorker } from './serve-in-worker.ts'

serveInWorker()

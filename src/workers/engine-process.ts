import { runEngine } from './engine-worker.ts'
import { serveProcess } from './process-port.ts'

serveProcess(runEngine)

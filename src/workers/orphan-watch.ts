import { workerData } from 'node:worker_threads'

/** Thread entry: ends its process when whoever started that is gone, whatever else the process does. */
const LOOK_MS = 1_000

setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL')
}, LOOK_MS)

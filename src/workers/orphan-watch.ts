import { workerData } from 'node:worker_threads'

/** Thread entry: kills its process when the parent process has ended, even if the main thread is busy. */
const LOOK_MS = 1_000

setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL')
}, LOOK_MS)

/** Thread entry: ends its process when whoever started that is gone, whatever else the process does. */
const LOOK_MS = 1_000
const parent = process.ppid

setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
}, LOOK_MS)

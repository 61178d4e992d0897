import { endProcess } from './cli/end-process.ts'
import { runCommandLine } from './cli/run.ts'
import { COMMANDS } from './cli/table.ts'

// A reader that closes the pipe, as `head` does, wants no more output. The work still goes on to its end, because it may be a payment.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })

runCommandLine(COMMANDS, process.argv.slice(2)).then(endProcess, (error: unknown) => {
  process.stderr.write(
    `farthing: unexpected error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  )
  endProcess(1)
})

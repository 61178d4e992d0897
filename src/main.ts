import { runCommandLine } from './cli/run.ts'
import { COMMANDS } from './cli/table.ts'
import { endProcess } from './end-process.ts'

runCommandLine(COMMANDS, process.argv.slice(2)).then(endProcess, (error: unknown) => {
  process.stderr.write(
    `farthing: unexpected error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  )
  endProcess(1)
})

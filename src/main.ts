import { runCommandLine } from './cli/run.ts'
import { COMMANDS } from './cli/table.ts'

runCommandLine(COMMANDS, process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(
      `farthing: unexpected error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    )
    process.exit(1)
  },
)

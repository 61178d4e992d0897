import { NETWORKS } from '../../config/networks/table.ts'
import { SERVICE_TABLE } from '../../marketplace/services/table.ts'
import { runDaemon, startCommand } from '../../src/cli/commands/start.ts'
import { runCommandLine } from '../../src/cli/run.ts'
import { COMMANDS } from '../../src/cli/table.ts'
import { claimsOpener } from '../../src/storage/open-claims.ts'
import { crashingClaims } from './crashing-claims.ts'
import { fastDevnet } from './network.ts'
import { TEST_SERVICES } from './test-services.ts'

/**
 * The real program with what tests add: services that fail on demand, a claim store that can die at a chosen point, and
 * (with TEST_FAST_BLOCKS) a devnet whose blocks cost that many hashes at first. Everything else is the program as shipped.
 */
const start = {
  ...startCommand,
  run: (context: Parameters<typeof startCommand.run>[0]) =>
    runDaemon(context, {
      services: [...SERVICE_TABLE, ...TEST_SERVICES],
      openClaims: crashingClaims(claimsOpener(context.config, context.params.name)),
    }),
}
const commands = COMMANDS.map((command) => (command.name === 'start' ? start : command))
const hashes = process.env.TEST_FAST_BLOCKS
const networks = hashes === undefined ? NETWORKS : { ...NETWORKS, devnet: fastDevnet(BigInt(hashes)) }

void runCommandLine(commands, process.argv.slice(2), networks).then((code) => process.exit(code))

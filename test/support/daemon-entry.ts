import { NETWORKS } from '../../config/networks/table.ts'
import { startCommand } from '../../src/cli/commands/start.ts'
import { runCommandLine } from '../../src/cli/run.ts'
import { runDaemon } from '../../src/cli/run-daemon.ts'
import { COMMANDS } from '../../src/cli/table.ts'
import { endProcess } from '../../src/end-process.ts'
import { offeredServices } from '../../src/services-on-offer.ts'
import { claimsOpener } from '../../src/storage/open-claims.ts'
import { crashingClaims } from './crashing-claims.ts'
import { type InternetPlan, internetOf } from './internet.ts'
import { fastDevnet } from './network.ts'
import { failingOnDemand, TEST_SERVICES } from './test-services.ts'

/**
 * The real program with what tests add: services that fail on demand, a claim store that can die at a chosen point, and
 * (with TEST_FAST_BLOCKS) a devnet whose blocks cost that many hashes at first, (with TEST_INTERNET) a little internet in place of
 * the real one, (with TEST_FIXTURE_MODELS) models of random weights, (with TEST_FAILING_FILE) any service failing while that file is there. Everything else is the program as shipped.
 */
const plan = process.env.TEST_INTERNET
const start = {
  ...startCommand,
  run: (context: Parameters<typeof startCommand.run>[0]) =>
    runDaemon(context, {
      services: [...offeredServices(context.config, context.params).map(failingOnDemand), ...TEST_SERVICES],
      openClaims: crashingClaims(claimsOpener(context.config, context.params.name)),
      internet: plan === undefined ? undefined : internetOf(JSON.parse(plan) as InternetPlan),
      fixtureModels: process.env.TEST_FIXTURE_MODELS === 'true',
    }),
}
const commands = COMMANDS.map((command) => (command.name === 'start' ? start : command))
const hashes = process.env.TEST_FAST_BLOCKS
const networks = hashes === undefined ? NETWORKS : { ...NETWORKS, devnet: fastDevnet(BigInt(hashes)) }

void runCommandLine(commands, process.argv.slice(2), networks).then(endProcess)

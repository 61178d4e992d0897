import type { Fault } from '../../consensus/primitives/fault.ts'
import type { CommandContext } from '../../src/cli/command.ts'
import { runDaemon } from '../../src/cli/run-daemon.ts'
import { offeredServices } from '../../src/market/services-on-offer.ts'
import { claimsOpener } from '../../src/storage/open-claims.ts'
import { crashingClaims } from './crashing-claims.ts'
import { type InternetPlan, internetOf } from './internet.ts'
import { failingOnDemand, TEST_SERVICES } from './test-services.ts'

/**
 * Runs the node with what tests add: services that fail on demand, a claim store that can die at a chosen point, (with
 * TEST_INTERNET) a little internet in place of the real one, (with TEST_FIXTURE_MODELS) models of random weights, (with
 * TEST_FAILING_FILE) any service failing while that file is there. With TEST_SOLD_AS_SHIPPED it sells nothing more than it is shipped with.
 */
export function runTestNode(context: CommandContext): Promise<number | Fault> {
  const { config, params } = context
  const plan = process.env.TEST_INTERNET
  return runDaemon(context, {
    services: [
      ...offeredServices(config, params).map(failingOnDemand),
      ...(process.env.TEST_SOLD_AS_SHIPPED === 'true' ? [] : TEST_SERVICES),
    ],
    openClaims: crashingClaims(claimsOpener(config, params.name)),
    internet: plan === undefined ? undefined : internetOf(JSON.parse(plan) as InternetPlan),
    fixtureModels: process.env.TEST_FIXTURE_MODELS === 'true',
  })
}

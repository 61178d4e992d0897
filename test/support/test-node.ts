import type { Fault } from '../../consensus/primitives/fault.ts'
import type { CommandContext } from '../../src/cli/command.ts'
import { runDaemon } from '../../src/cli/run-daemon.ts'
import { offeredServices } from '../../src/market/services-on-offer.ts'
import { claimsOpener } from '../../src/storage/open-claims.ts'
import { crashingClaims } from './crashing-claims.ts'
import { type InternetPlan, internetOf } from './internet.ts'
import { failingOnDemand, TEST_SERVICES } from './test-services.ts'

/**
 * Runs the node with the additions of tests: services that fail on demand, and a claim store that can crash at a chosen point.
 * TEST_INTERNET gives it a made-up internet, TEST_FIXTURE_MODELS models of random weights. With TEST_FAILING_FILE, every shipped service
 * fails while that file exists. With TEST_SOLD_AS_SHIPPED, it sells only the shipped services.
 */
export function runTestNode(context: CommandContext): Promise<number | Fault> {
  const { config, params } = context
  const { openClaims, openTabs } = claimsOpener(config, params.name)
  const plan = process.env.TEST_INTERNET
  return runDaemon(context, {
    services: [
      ...offeredServices(config, params).map(failingOnDemand),
      ...(process.env.TEST_SOLD_AS_SHIPPED === 'true' ? [] : TEST_SERVICES),
    ],
    openClaims: crashingClaims(openClaims),
    openTabs,
    internet: plan === undefined ? undefined : internetOf(JSON.parse(plan) as InternetPlan),
    fixtureModels: process.env.TEST_FIXTURE_MODELS === 'true',
  })
}

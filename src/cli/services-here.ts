import { type Fault, fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { ServiceDefinition } from '../../marketplace/services/service.ts'
import { tryOut } from '../../marketplace/till/workshop.ts'
import type { TrialView } from '../../rpc/client/operator-client.ts'
import { httpFault } from '../../rpc/contract/http-faults.ts'
import { usdNumber } from '../../rpc/json/chain-json.ts'
import { offeredServices } from '../market/services-on-offer.ts'
import { type CommandContext, nodeUrl } from './command.ts'
import { openServiceBench, type ServiceBench } from './service-bench.ts'

/** Availability of a service, and the settings that it still needs. */
export interface Standing {
  readonly serviceId: string
  /** Price of a call in dollars. Null if the node does not tell. */
  readonly priceUsd: number | null
  readonly available: boolean
  readonly reason: string
  readonly requires: readonly string[]
}

/** Availability of all services without a node, from the configuration and the data folder. */
export async function standingsHere(context: CommandContext): Promise<Result<readonly Standing[]>> {
  const bench = await benchOf(context)
  if (!bench.ok) return bench
  try {
    context.note('No node runs here: this is from the configuration and the data folder.')
    const { config, params } = context
    return ok(
      offeredServices(config, params).map((definition) => ({
        priceUsd: usdNumber(config.market.prices[definition.serviceId] ?? definition.priceUsdMicros),
        ...standingOn(bench.value, definition),
      })),
    )
  } finally {
    await bench.value.close()
  }
}

/** The default request is the service's example. Fault of its own: `service/not-found`. */
export async function trialHere(
  context: CommandContext,
  serviceId: string,
  request: string | undefined,
): Promise<Result<TrialView>> {
  const definition = offeredServices(context.config, context.params).find((one) => one.serviceId === serviceId)
  if (definition === undefined) return fail(fault('service/not-found', { serviceId }))
  const bench = await benchOf(context)
  if (!bench.ok) return bench
  try {
    if (!bench.value.hasChain) context.note('There is no chain in the data folder yet: this is the genesis alone.')
    const beganMs = performance.now()
    const outcome = await tryOut(definition, request ?? definition.example, bench.value.context)
    return ok({ durationMs: Math.round(performance.now() - beganMs), outcome: viewOf(outcome) })
  } finally {
    await bench.value.close()
  }
}

function standingOn({ context }: ServiceBench, { serviceId, ready }: ServiceDefinition): Omit<Standing, 'priceUsd'> {
  const readiness = ready(context)
  return readiness.available
    ? { serviceId, available: true, reason: '', requires: [] }
    : { serviceId, available: false, reason: readiness.reason, requires: readiness.requires }
}

/** Opens the bench. If a node holds the data folder but listens elsewhere, the user is told how to reach it. */
async function benchOf(context: CommandContext): Promise<Result<ServiceBench>> {
  const bench = await openServiceBench(context)
  if (!bench.ok && bench.fault.code === 'storage/locked')
    context.note(`No node answers at ${nodeUrl(context)}. If yours listens elsewhere, name its address with --rpc.`)
  return bench
}

function viewOf(outcome: Result<string>): TrialView['outcome'] {
  return outcome.ok ? { ok: true, result: JSON.parse(outcome.value) } : { ok: false, ...wordsOf(outcome.fault) }
}

function wordsOf(cause: Fault): { readonly code: string; readonly message: string } {
  return { code: httpFault(cause.code).api, message: faultMessage(cause) }
}

import type { ServiceContext } from '../../marketplace/services/context.ts'
import { checkRequest, type ServiceDefinition } from '../../marketplace/services/service.ts'
import { SERVICE_TABLE } from '../../marketplace/services/table.ts'
import { runService } from '../../marketplace/till/workshop.ts'
import { SERVICE_CASES } from './service-cases.ts'
import { emptyServiceChain, type ServiceChain, serviceChain } from './service-chain.ts'

/** The outcome of a request, as a caller would see it. */
export type ServiceAnswer =
  | { readonly request: string; readonly result: unknown }
  | { readonly request: string; readonly refused: string }
  | { readonly request: string; readonly unavailable: string }

/** Results of one service on the chain of the script, and on a new network. */
export interface ServiceResults {
  readonly answers: readonly ServiceAnswer[]
  readonly empty: readonly ServiceAnswer[]
}

/** How many characters of a request a file shows. */
const SHOWN_MAX = 120

/** A service of the table. */
export function serviceNamed(serviceId: string): ServiceDefinition {
  const definition = SERVICE_TABLE.find((one) => one.serviceId === serviceId)
  if (definition === undefined) throw new Error(`there is no service ${serviceId}`)
  return definition
}

/** Asks a service as the market does: checks the request and the readiness, then runs the service. Throws if the service fails. */
export async function ask(serviceId: string, request: string, context: ServiceContext): Promise<ServiceAnswer> {
  const definition = serviceNamed(serviceId)
  const input = checkRequest(definition, request, context)
  if (!input.ok) return { request, refused: String(input.fault.detail.reason) }
  const ready = definition.ready(context)
  if (!ready.available) return { request, unavailable: ready.reason }
  const result = await runService(definition, input.value, context)
  if (!result.ok) throw new Error(`${serviceId} "${request}": ${JSON.stringify(result.fault)}`)
  return { request, result: JSON.parse(result.value) }
}

/** The result of a request. Throws if there is none. */
export async function resultOf<T>(serviceId: string, request: string, context: ServiceContext): Promise<T> {
  const answer = await ask(serviceId, request, context)
  if (!('result' in answer)) throw new Error(JSON.stringify(answer))
  return answer.result as T
}

/** Answers to all cases of a service. */
export async function serviceResults(
  serviceId: string,
  chain: ServiceChain,
  empty: ServiceChain,
): Promise<ServiceResults> {
  const requests = (await SERVICE_CASES[serviceId]?.(chain.named, chain.test.chain.network)) ?? []
  const answersOn = async ({ context }: ServiceChain): Promise<readonly ServiceAnswer[]> => {
    const answers: ServiceAnswer[] = []
    for (const request of requests)
      answers.push({ ...(await ask(serviceId, request, context)), request: shown(request) })
    return answers
  }
  return { answers: await answersOn(chain), empty: await answersOn(empty) }
}

/** Shortens a long request to its beginning and its length. */
function shown(request: string): string {
  return request.length <= SHOWN_MAX ? request : `${request.slice(0, SHOWN_MAX)}... (${request.length} characters)`
}

/** The chain of the script, and a new network with two blocks without transactions. */
export async function caseChains(): Promise<readonly [ServiceChain, ServiceChain]> {
  return [await serviceChain(), await emptyServiceChain(2)]
}

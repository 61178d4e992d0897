import { fault } from '../../consensus/primitives/fault.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'
import type { ServiceContext } from '../services/context.ts'
import { checkRequest, type ServiceDefinition } from '../services/service.ts'
import { runService } from './run-service.ts'

/**
 * Runs a service as for a caller who has paid: request, readiness, work, schema. The result is JSON text; a fault is what the caller
 * would be told.
 */
export async function tryOut(
  definition: ServiceDefinition,
  request: string,
  context: ServiceContext,
): Promise<Result<string>> {
  const input = checkRequest(definition, request, context)
  if (!input.ok) return input
  const { serviceId } = definition
  const ready = definition.ready(context)
  if (!ready.available) return fail(fault('service/unavailable', { serviceId, reason: ready.reason }))
  return runService(definition, input.value, context)
}

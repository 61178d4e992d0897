import { fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { tryOut } from '../../marketplace/till/workshop.ts'
import { httpFault } from '../contract/http-faults.ts'
import { answer, type Handler } from '../server/answer.ts'

/** Runs a service for the operator, without a payment. */
export const tryService: Handler<'tryService'> = async ({ market, clock }, { params, body }) => {
  const serviceId = params.serviceId
  const definition = market?.shop.offer(serviceId)?.definition
  if (market === null || definition === undefined) return fault('service/not-found', { serviceId })
  const { request = definition.example } = body
  const beganMs = clock.now()
  const { workshop, shop } = market
  const outcome = await workshop.inPlace(definition, () => tryOut(definition, request, shop.context))
  const facts = { serviceId, request, ok: outcome.ok, durationMs: Math.max(0, Math.round(clock.now() - beganMs)) }
  if (outcome.ok) return answer({ ...facts, result: JSON.parse(outcome.value) })
  const { code } = outcome.fault
  return answer({ ...facts, error: { code: httpFault(code).api, message: faultMessage(outcome.fault) } })
}

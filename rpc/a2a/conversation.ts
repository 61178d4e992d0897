import { randomUUID } from 'node:crypto'
import { unknownName } from '../../consensus/primitives/likeness.ts'
import { identify } from '../../marketplace/till/rails/dollar/identity.ts'
import type { Offer } from '../../marketplace/till/shop.ts'
import { carryOut, readPayment } from '../cashier/cashier.ts'
import type { OfferedPayment } from '../cashier/paid-call.ts'
import { httpFault } from '../contract/http-faults.ts'
import { addressKey, holderOf } from '../edge/client-key.ts'
import { noService } from '../market/registry.ts'
import type { MarketApi } from '../node/node-api.ts'
import { INVALID_PARAMS } from '../server/json-rpc.ts'
import { A2aRefusal, invalidParams, refusalOf } from './errors.ts'
import { offerIn } from './offer-in.ts'
import { type A2aPlace, afterOutcome, broken, type Call, PAYLOAD, refused, STATUS, said, unpaid } from './sayings.ts'
import { type AgentTask, type Step, tasksOf } from './tasks.ts'
import type { AgentMessage } from './wire.ts'

/** Members of a data part that names a service. Such a part has a format of this node, so unknown members are refused. */
const CALL_MEMBERS = ['serviceId', 'request']

/** The call that a message names, in a data part or as `node-x <request>`; null if it names none. Throws an `A2aRefusal`. */
export function callIn(message: Pick<AgentMessage, 'text' | 'data' | 'metadata'>, market: MarketApi): Call | null {
  const isPaid = message.metadata[PAYLOAD] !== undefined
  const offer = offerIn(message, market)
  const { serviceId = isPaid ? /^\s*(\S*)/.exec(message.text)?.[1] : undefined } = message.data ?? {}
  if (offer === undefined) {
    if (serviceId === undefined) return null
    if (typeof serviceId === 'string' && serviceId !== '') throw unknownService(market, serviceId, isPaid)
    throw invalidParams(unusable('serviceId must be the id of a service', isPaid))
  }
  const stranger = message.data?.serviceId === undefined ? undefined : strangerIn(message.data)
  if (stranger !== undefined) throw invalidParams(unusable(unknownName('member', stranger, CALL_MEMBERS), isPaid))
  const [, rest = ''] = /^\s*\S+\s*([\s\S]*)$/.exec(message.text) ?? []
  const { request = rest } = message.data ?? {}
  if (typeof request !== 'string') throw invalidParams(unusable('request must be a text', isPaid))
  return { offer, request }
}

function strangerIn(data: object): string | undefined {
  return Object.keys(data).find((name) => !CALL_MEMBERS.includes(name))
}

function unusable(what: string, isPaid: boolean): string {
  return isPaid
    ? `${what.replace(/[^?]$/, '$&.')} Nothing of your payment was used: send it again with the right call.`
    : what
}

function unknownService(market: MarketApi, serviceId: string, isPaid: boolean): A2aRefusal {
  const { code, detail } = noService(market, serviceId)
  const near = detail.suggestions as readonly string[]
  const meant = near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`
  const message = unusable(`there is no service ${detail.serviceId}${meant}`, isPaid)
  return new A2aRefusal({ code: INVALID_PARAMS, message, data: { code: httpFault(code).api, details: detail } })
}

/** The task is paid at once if the payment came along, else it holds the terms. */
export async function beginTask(place: A2aPlace, message: AgentMessage, { offer, request }: Call): Promise<AgentTask> {
  const task: AgentTask = {
    id: randomUUID(),
    contextId: message.contextId ?? randomUUID(),
    serviceId: offer.definition.serviceId,
    request,
    holder: holderOf(addressKey(place.request.address)),
    ...unpaid(place, { offer, request }),
    artifact: null,
    paymentId: null,
    changedMs: place.node.clock.now(),
    running: null,
    bug: undefined,
  }
  tasksOf(place.market).keep(task)
  if (message.metadata[PAYLOAD] !== undefined) await pay(place, task, message)
  return task
}

/** A message about an unpaid task that neither pays nor cancels gets the current terms. */
export async function continueTask(place: A2aPlace, task: AgentTask, message: AgentMessage): Promise<void> {
  const isPaid = message.metadata[PAYLOAD] !== undefined
  if (task.running !== null) return wait(task, message)
  if (task.state !== 'input-required') {
    // A caller who repeats a payment has lost the answer. The task still holds it.
    if (isPaid && task.state !== 'canceled') return
    throw refusalOf(
      'UNSUPPORTED_OPERATION',
      `the task is ${task.state}; send a message without taskId for another call`,
    )
  }
  if (isPaid) return pay(place, task, message)
  if (message.metadata[STATUS] === 'payment-rejected') return become(place, task, said('canceled', 'Not called.'))
  become(place, task, unpaid(place, callOf(place, task)))
}

/** Throws a bug that was not reported yet. */
export function look(task: AgentTask): AgentTask {
  const { bug } = task
  task.bug = undefined
  if (bug !== undefined) throw bug
  return task
}

/** Cancels a task that is not paid. */
export function cancelTask(place: A2aPlace, task: AgentTask): void {
  if (task.state !== 'input-required' || task.running !== null)
    throw refusalOf('TASK_NOT_CANCELABLE', `the task is ${task.state}`)
  become(place, task, said('canceled', 'Canceled; nothing was paid.'))
}

async function wait(task: AgentTask, { isHasty }: AgentMessage): Promise<void> {
  if (!isHasty) await task.running
}

async function pay(place: A2aPlace, task: AgentTask, message: AgentMessage): Promise<void> {
  const call = callOf(place, task)
  const payment = readPayment(message.metadata[PAYLOAD], `metadata["${PAYLOAD}"]`, place.market)
  if (!payment.ok) {
    become(place, task, refused(place, call, payment.fault))
    return
  }
  become(place, task, said('working', 'The payment is being carried out.', { [STATUS]: 'payment-submitted' }))
  const idempotencyKey = place.request.headers['idempotency-key'] ?? null
  const client = holderOf(addressKey(place.request.address))
  task.paymentId = paymentIdOf(place.market, task, payment.value)
  task.running = carryOut(place.node, place.market, { ...call, payment: payment.value, idempotencyKey, client })
    .then((outcome) => {
      const { artifact, ...step } = afterOutcome(place, call, outcome)
      task.artifact = artifact
      become(place, task, step)
    })
    .catch((bug: unknown) => {
      task.bug = bug
      become(place, task, broken())
    })
    .finally(() => {
      task.running = null
    })
  await wait(task, message)
}

/** Id of the paid call's claim; null on a tab, and for a dollar payment if this node takes none. */
function paymentIdOf({ stable }: MarketApi, { serviceId, request }: AgentTask, offered: OfferedPayment): string | null {
  if (offered.rail === 'native') return offered.txId
  // A call on a tab or a channel has no id of 64 digits. It is repeated with the same voucher.
  if (offered.rail === 'tab' || offered.rail === 'channel') return null
  const { payment } = offered
  return stable === null ? null : identify(stable.terms, { serviceId, request, payment, idempotencyKey: null }).id
}

function become({ node, market }: A2aPlace, task: AgentTask, { state, says }: Step): void {
  task.state = state
  task.says = says
  task.changedMs = node.clock.now()
  tasksOf(market).keep(task)
}

function callOf({ market }: A2aPlace, { serviceId, request }: AgentTask): Call {
  return { offer: market.shop.offer(serviceId) as Offer, request }
}

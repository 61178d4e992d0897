import { fault } from '../../consensus/primitives/fault.ts'
import { fieldsOf } from '../../consensus/primitives/fields.ts'
import { nativeNetwork } from '../cashier/options.ts'
import type { REQUEST_STATUS } from '../contract/market.ts'
import type { Static } from '../contract/schema.ts'
import { getRequest } from '../handlers/market.ts'
import { type ApiRequest, type Handler, isFault, type PlainAnswer } from '../server/answer.ts'
import { failure, INVALID_REQUEST, type JsonRpcId, METHOD_NOT_FOUND, success } from '../server/json-rpc.ts'
import { beginTask, callIn, cancelTask, continueTask, look } from './conversation.ts'
import { A2aRefusal, invalidParams, refusalOf } from './errors.ts'
import { answerQuestion } from './questions.ts'
import type { A2aPlace } from './sayings.ts'
import { type AgentTask, type TaskState, tasksOf } from './tasks.ts'
import { type A2aVersion, messageJson, readMessage, type ShownTask, taskJson } from './wire.ts'

/** `sent` is to be called once the result was delivered. */
interface Done {
  readonly result: object
  readonly sent?: () => void
}

type Method = (place: A2aPlace, params: unknown, version: A2aVersion) => Promise<Done>

/** Each method under its two names: the name of A2A 1.0, then that of 0.3. */
const METHODS: ReadonlyMap<string, { readonly run: Method; readonly version: A2aVersion }> = new Map([
  ['SendMessage', { run: sendMessage, version: '1.0' }],
  ['message/send', { run: sendMessage, version: '0.3' }],
  ['GetTask', { run: getTask, version: '1.0' }],
  ['tasks/get', { run: getTask, version: '0.3' }],
  ['CancelTask', { run: cancel, version: '1.0' }],
  ['tasks/cancel', { run: cancel, version: '0.3' }],
])

/** Methods of A2A that this node does not support, besides those for push notifications. */
const UNSUPPORTED =
  /^(SendStreamingMessage|SubscribeToTask|ListTasks|GetExtendedAgentCard|message\/stream|tasks\/(resubscribe|list)|agent\/getAuthenticatedExtendedCard)$/
const VERSIONS = /^(1(\.0)?|0\.3)(\.[0-9]{1,3})?$/

/** `POST /a2a`: Agent2Agent over JSON-RPC, in versions 1.0 and 0.3. */
export const callA2a: Handler<'callA2a'> = async (node, request) => {
  const { market } = node
  if (request.body === undefined) return fault('rpc/malformed-json', { reason: 'there is none' })
  if (market === null) return fault('rpc/no-market')
  const { jsonrpc, id, method, params } = fieldsOf(request.body)
  const named = typeof id === 'string' || typeof id === 'number'
  try {
    if (jsonrpc !== '2.0' || !named || typeof method !== 'string')
      throw new A2aRefusal({ code: INVALID_REQUEST, message: 'this is no JSON-RPC 2.0 request with an id' })
    return await answered({ node, market, request }, { id, method, params })
  } catch (error) {
    if (!(error instanceof A2aRefusal)) throw error
    return told(failure(named ? id : null, error.error))
  }
}

async function answered(
  place: A2aPlace,
  { id, method, params }: { readonly id: JsonRpcId; readonly method: string; readonly params: unknown },
): Promise<PlainAnswer> {
  checkVersion(place.request)
  const known = METHODS.get(method)
  if (known === undefined) throw unknownMethod(method)
  const { result, sent } = await known.run(place, params, known.version)
  return told(success(id, result), sent)
}

function told(json: object, sent?: () => void): PlainAnswer {
  const content = JSON.stringify(json)
  const headers = { 'cache-control': 'no-store' }
  return { status: 200, content, contentType: 'application/json; charset=utf-8', headers, ...(sent && { sent }) }
}

function checkVersion({ headers }: ApiRequest): void {
  const { 'a2a-version': version = '' } = headers
  if (version !== '' && !VERSIONS.test(version))
    throw refusalOf('VERSION_NOT_SUPPORTED', 'A2A-Version must be 1.0 or 0.3')
}

function unknownMethod(method: string): A2aRefusal {
  if (/PushNotification|pushNotification/.test(method))
    return refusalOf('PUSH_NOTIFICATION_NOT_SUPPORTED', 'there are no push notifications here')
  if (UNSUPPORTED.test(method)) return refusalOf('UNSUPPORTED_OPERATION', 'this is not supported here')
  return new A2aRefusal({ code: METHOD_NOT_FOUND, message: 'there is no such method' })
}

async function sendMessage(place: A2aPlace, params: unknown, version: A2aVersion): Promise<Done> {
  const message = readMessage(params)
  if (typeof message === 'string') throw invalidParams(message)
  const wrap = (name: 'task' | 'message', json: object): object => (version === '1.0' ? { [name]: json } : json)
  const task = message.taskId === null ? null : taskNamed(place, message.taskId)
  const call = task === null ? callIn(message, place.market) : null
  if (task !== null) await continueTask(place, task, message)
  const current = task ?? (call === null ? null : await beginTask(place, message, call))
  if (current !== null) return shown(current, (json) => wrap('task', json), version)
  const { data, ...said } = answerQuestion(place, message.text)
  const of = message.contextId === null ? {} : { contextId: message.contextId }
  return { result: wrap('message', messageJson(version, said, of, data)) }
}

async function getTask(place: A2aPlace, params: unknown, version: A2aVersion): Promise<Done> {
  const id = idIn(params)
  const task = tasksOf(place.market).get(id, place.node.clock.now())
  if (task !== undefined) return shown(task, (json) => json, version)
  const known = await taskOfPayment(place, id)
  if (known === undefined) throw notFound()
  return { result: taskJson(version, known) }
}

async function cancel(place: A2aPlace, params: unknown, version: A2aVersion): Promise<Done> {
  const id = idIn(params)
  const task = tasksOf(place.market).get(id, place.node.clock.now())
  if (task !== undefined) {
    cancelTask(place, task)
    return shown(task, (json) => json, version)
  }
  if ((await taskOfPayment(place, id)) === undefined) throw notFound()
  throw refusalOf('TASK_NOT_CANCELABLE', 'it is paid; a call that is not delivered is refunded by itself')
}

function shown(task: AgentTask, wrap: (json: object) => object, version: A2aVersion): Done {
  const result = wrap(taskJson(version, look(task)))
  return task.artifact === null ? { result } : { result, sent: task.artifact.sent }
}

function taskNamed({ market, node }: A2aPlace, id: string): AgentTask {
  const task = tasksOf(market).get(id, node.clock.now())
  if (task === undefined) throw notFound()
  return task
}

function notFound(): A2aRefusal {
  const text =
    'no such task here; tasks are kept for an hour. A paid call is found by the id of its payment, and is repeated by a message without taskId with the same request and payment'
  return refusalOf('TASK_NOT_FOUND', text)
}

function idIn(params: unknown): string {
  const { id } = fieldsOf(params)
  if (typeof id !== 'string' || id === '' || id.length > 200) throw invalidParams('id must be a text')
  return id
}

/** State of a task by the status of its paid call. */
const STATES: Readonly<Record<string, TaskState>> = {
  paid: 'submitted',
  executing: 'working',
  completed: 'completed',
  failed: 'failed',
  refund_pending: 'failed',
  refunded: 'failed',
}

/**
 * A task under the id of a payment, made from the claim on disk, so that it is found after a restart. It does not show
 * the result, since the id is public.
 */
async function taskOfPayment({ node, market, request }: A2aPlace, id: string): Promise<ShownTask | undefined> {
  if (!/^[0-9a-f]{64}$/.test(id)) return undefined
  const answer = await getRequest(node, { ...request, params: { txId: id }, query: {}, body: undefined })
  if (isFault(answer) || !('json' in answer)) return undefined
  const { serviceId, status, caller, rail, txId, refund } = answer.json as Static<typeof REQUEST_STATUS>
  const state = STATES[status] ?? 'working'
  const network = rail === 'stable' ? market.stable?.terms.network.caip2 : nativeNetwork(node.chain)
  const receipts =
    state === 'submitted' || state === 'working'
      ? []
      : [{ success: state === 'completed', transaction: txId ?? '', network, payer: caller }]
  const word = state === 'completed' ? 'payment-completed' : state === 'failed' ? 'payment-failed' : 'payment-submitted'
  const metadata = { 'x402.payment.status': word, 'x402.payment.receipts': receipts, refund }
  const text = `The call of ${serviceId} is ${status}. Its result comes with the call repeated, with the same payment.`
  return {
    id,
    contextId: id,
    state,
    says: { text, metadata },
    artifact: null,
    paymentId: id,
    changedMs: node.clock.now(),
  }
}

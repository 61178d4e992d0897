import { randomUUID } from 'node:crypto'
import { fieldsOf } from '../../consensus/primitives/fields.ts'
import { moment } from '../json/chain-json.ts'
import type { AgentTask, Said, TaskState } from './tasks.ts'

/** The versions differ in names, not in meaning. */
export type A2aVersion = '1.0' | '0.3'

/** A message of a client, in the same shape for both versions. */
export interface AgentMessage {
  readonly taskId: string | null
  readonly contextId: string | null
  /** Texts of its parts, joined by line breaks. */
  readonly text: string
  /** The object in the foremost part that has one as `data`; null if no part has one. */
  readonly data: Readonly<Record<string, unknown>> | null
  readonly metadata: Readonly<Record<string, unknown>>
  /** Whether the client wants an answer before the work is done. */
  readonly isHasty: boolean
}

/** The members of a task that clients see. */
export type ShownTask = Pick<AgentTask, 'id' | 'contextId' | 'state' | 'says' | 'changedMs' | 'paymentId'> & {
  readonly artifact: { readonly text: string } | null
}

/** Most parts of a message. */
export const PARTS_MAX = 20

/** A returned text says what is wrong. */
export function readMessage(params: unknown): AgentMessage | string {
  const { message, configuration } = fieldsOf(params)
  const { messageId, taskId, contextId, parts, metadata, role } = fieldsOf(message)
  if (typeof messageId !== 'string' || messageId === '') return 'message.messageId must be a text'
  if (!['ROLE_USER', 'user', 1].includes(role as string)) return 'message.role must be that of a user'
  if (!Array.isArray(parts) || parts.length === 0 || parts.length > PARTS_MAX)
    return `message.parts must have 1 to ${PARTS_MAX} parts`
  for (const [name, value] of Object.entries({ taskId, contextId }))
    if (value !== undefined && (typeof value !== 'string' || value.length > 200))
      return `message.${name} must be a text`
  const all = parts.map(fieldsOf)
  const texts = all.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  const data = all.map((part) => part.data).find((value) => value !== null && typeof value === 'object')
  const { returnImmediately, blocking } = fieldsOf(configuration)
  return {
    taskId: textOf(taskId),
    contextId: textOf(contextId),
    text: texts.join('\n'),
    data: data === undefined ? null : fieldsOf(data),
    metadata: fieldsOf(metadata),
    isHasty: returnImmediately === true || blocking === false,
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

const STATES: Readonly<Record<TaskState, string>> = {
  submitted: 'TASK_STATE_SUBMITTED',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  working: 'TASK_STATE_WORKING',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  canceled: 'TASK_STATE_CANCELED',
}

/** A task as JSON. */
export function taskJson(version: A2aVersion, task: ShownTask): object {
  const { id, contextId, state, says, artifact, changedMs, paymentId } = task
  const of = { taskId: id, contextId }
  const status = {
    state: version === '1.0' ? STATES[state] : state,
    message: messageJson(version, says, of),
    timestamp: moment(changedMs),
  }
  const artifacts = artifact === null ? [] : [artifactJson(version, artifact.text)]
  const metadata = paymentId === null ? {} : { metadata: { paymentId } }
  return { ...kind(version, 'task'), id, contextId, status, ...(artifacts.length > 0 && { artifacts }), ...metadata }
}

/** A message of the node as JSON. */
export function messageJson(
  version: A2aVersion,
  { text, metadata }: Said,
  of: { readonly taskId?: string; readonly contextId?: string } = {},
  data?: object,
): object {
  const parts = [{ ...kind(version, 'text'), text }, ...(data === undefined ? [] : [dataPart(version, data)])]
  return {
    ...kind(version, 'message'),
    messageId: randomUUID(),
    ...of,
    role: version === '1.0' ? 'ROLE_AGENT' : 'agent',
    parts,
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
}

function artifactJson(version: A2aVersion, text: string): object {
  return { artifactId: 'result', name: 'result', parts: [dataPart(version, JSON.parse(text) as object)] }
}

function dataPart(version: A2aVersion, data: object): object {
  return version === '1.0' ? { data, mediaType: 'application/json' } : { kind: 'data', data }
}

/** A2A 0.3 names the kind of an object; in 1.0 its members show it. */
function kind(version: A2aVersion, name: string): { readonly kind?: string } {
  return version === '1.0' ? {} : { kind: name }
}

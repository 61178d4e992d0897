import { createMcpHandler } from '@modelcontextprotocol/server'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { messageMisfits } from '../contract/agent-messages.ts'
import type { NodeApi } from '../node/node-api.ts'
import { type Answered, type ApiRequest, answer, type Handler, type PlainAnswer } from '../server/answer.ts'
import { failure, faultToJsonRpc, INTERNAL_ERROR, INVALID_PARAMS } from '../server/json-rpc.ts'
import { strangerFault } from './guard.ts'
import { serverFor } from './server.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
/** Headers that the protocol reads. */
const HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const
/** The SDK needs a whole URL, and reads no part of it. */
const ANY_URL = 'http://node.invalid/api/mcp'

/**
 * `POST /api/mcp`: the Model Context Protocol for older and newer clients, one message at a time and without sessions.
 * Begun work is finished even if the client has left, so that no payment is lost.
 */
export const callMcp: Handler<'callMcp'> = async (node, request) =>
  refusal(node, request) ?? misfit(request) ?? serve(node, request)

function refusal(node: NodeApi, { query, headers, body }: ApiRequest): Fault | null {
  const { host, origin } = headers
  const { pages: rules = { loopback: true, allowedOrigins: [] }, publicUrl } = node
  const stranger = strangerFault({ host, origin, publicUrl, rules })
  if (stranger !== null) return stranger
  const { net } = query
  if (net !== undefined && net !== 'mainnet')
    return fault('rpc/unsupported-network', { net: String(net), supported: ['mainnet'] })
  if (body === undefined) return fault('rpc/malformed-json', { reason: 'there is none' })
  return Array.isArray(body) ? fault('rpc/invalid-request', { fields: ['one message at a time, no batches'] }) : null
}

/** The error for a message of the wrong shape: of JSON-RPC, or of HTTP if the message has no id. */
function misfit({ body, requestId }: ApiRequest): Answered<'callMcp'> | null {
  const misfits = messageMisfits(body)
  if (misfits.length === 0) return null
  const cause = fault('rpc/invalid-request', { fields: misfits })
  const { id } = (body ?? {}) as { readonly id?: unknown }
  if (typeof id !== 'string' && typeof id !== 'number') return cause
  return answer(failure(id, { ...faultToJsonRpc(cause, requestId), code: INVALID_PARAMS }))
}

async function serve(node: NodeApi, request: ApiRequest): Promise<PlainAnswer> {
  const sents: (() => void)[] = []
  const bugs: unknown[] = []
  const onSent = (sent: () => void): void => void sents.push(sent)
  const onBug = (error: unknown): void => void bugs.push(error)
  const failures: Error[] = []
  const handler = createMcpHandler(() => serverFor({ node, request, onSent }, onBug), {
    onerror: (error) => void failures.push(error),
  })
  const message = new Request(ANY_URL, { method: 'POST', headers: headersOf(request) })
  const response = await handler.fetch(message, { parsedBody: request.body })
  const text = blameClient(messageIn(await response.text(), response.headers.get('content-type') ?? ''))
  if (bugs.length > 0) throw bugs[0]
  if (response.status >= 500) throw failures[0] ?? new Error(`MCP answered ${response.status}`)
  if (text === '') return { response: new Response(null, { status: response.status }) }
  const sent = (): void => {
    for (const each of sents) each()
  }
  const headers = { 'cache-control': 'no-store' }
  return { status: response.status, content: text, contentType: JSON_TYPE, headers, sent }
}

function headersOf({ headers }: ApiRequest): Headers {
  const picked = new Headers()
  for (const name of HEADERS) {
    const value = headers[name]
    if (value !== undefined) picked.set(name, value)
  }
  return picked
}

/**
 * The message of an answer. For older clients the SDK makes a stream of one event. They read plain JSON as well, and
 * with that the node can tell whether it was delivered completely.
 */
function messageIn(text: string, contentType: string): string {
  if (!contentType.startsWith('text/event-stream')) return text
  const lines = text.split('\n').filter((line) => line.startsWith('data: '))
  return lines.at(-1)?.slice('data: '.length) ?? ''
}

interface Failed {
  readonly error?: { readonly code: number; readonly message: string }
}

interface Misfit {
  readonly path: readonly (string | number)[]
  readonly message: string
}

const SHOWN_MAX = 5
/** Longest answer that {@link blameClient} reads. No message that passes `messageMisfits` causes a longer report of misfits. */
const REPORT_CHARS_MAX = 65_536

/**
 * Corrects who is to blame in an answer. If parameters do not fit a method, the SDK reports an internal error, with its
 * validator's whole report as the message. Any other answer stays as it is.
 */
export function blameClient(answer: string): string {
  if (answer.length > REPORT_CHARS_MAX || !answer.includes(`"code":${INTERNAL_ERROR}`)) return answer
  const { error, ...rest } = JSON.parse(answer) as Failed
  if (error?.code !== INTERNAL_ERROR) return answer
  const misfits = misfitsIn(error.message)
  if (misfits === null) return answer
  const list = misfits.slice(0, SHOWN_MAX).map(({ path, message }) => `${path.join('.')} ${message}`)
  return JSON.stringify({
    ...rest,
    error: { code: INVALID_PARAMS, message: `unusable parameters: ${list.join('; ')}` },
  })
}

function misfitsIn(message: string): readonly Misfit[] | null {
  if (!message.startsWith('[')) return null
  try {
    const issues = JSON.parse(message) as readonly Misfit[]
    return issues.every(({ path, message: said }) => Array.isArray(path) && typeof said === 'string') ? issues : null
  } catch {
    return null
  }
}

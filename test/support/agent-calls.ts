import { type JsonBody, post } from './api.ts'
import { AGAIN } from './market.ts'

/** Headers of a request of MCP. */
export const MCP = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' }

/** What a tool of MCP answers. */
export interface ToolResult {
  readonly isError?: boolean
  readonly structuredContent: JsonBody
  readonly content: readonly { readonly text: string }[]
  readonly _meta?: JsonBody
}

/** Calls the service {@link AGAIN} as a tool of MCP. */
export async function callTool(url: string, request: string, payment?: object): Promise<ToolResult> {
  const _meta = payment === undefined ? {} : { _meta: { 'x402/payment': payment } }
  const params = { name: AGAIN, arguments: { request }, ..._meta }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  return (await post<{ result: ToolResult }>(url, '/api/mcp', message, MCP)).body.result
}

/** A task of A2A. */
export interface Task {
  readonly id: string
  readonly status: { readonly state: string; readonly message: { readonly metadata: JsonBody } }
  readonly artifacts?: readonly { readonly parts: readonly { readonly data: JsonBody }[] }[]
}

/** Sends a message of A2A, with a payment or without; for a task that waits, or for a new one. */
export async function sendMessage(url: string, data: object, payment?: object, taskId?: string): Promise<Task> {
  const metadata = payment === undefined ? {} : { 'x402.payment.payload': payment }
  const message = {
    messageId: 'm',
    role: 'ROLE_USER',
    parts: [{ data }],
    metadata,
    ...(taskId !== undefined && { taskId }),
  }
  const call = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
  return (await post<{ result: { task: Task } }>(url, '/a2a', call)).body.result.task
}

/** The options of terms. */
export function optionsIn(terms: JsonBody): readonly JsonBody[] {
  return terms.accepts as readonly JsonBody[]
}

import type { Fault } from '../../consensus/primitives/fault.ts'
import { faultMessage } from '../../consensus/primitives/fault.ts'
import { httpFault } from '../contract/http-faults.ts'
import type { NodeApi } from '../node/node-api.ts'
import type { ApiRequest } from '../server/answer.ts'

/** What the handlers of an MCP message work with. */
export interface McpPlace {
  readonly node: NodeApi
  readonly request: ApiRequest
  /** Registers a function to call once the answer was delivered completely. */
  readonly onSent: (sent: () => void) => void
}

/** Result of a tool. It is a type and not an interface, since the SDK's type allows further keys. */
export type ToolAnswer = {
  readonly content: [{ readonly type: 'text'; readonly text: string }]
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: true
  readonly _meta?: Record<string, unknown>
}

/** A result as an object and as the same JSON in text, because some clients read only one of them. */
export function toolAnswer(json: object): ToolAnswer {
  return { content: [{ type: 'text', text: JSON.stringify(json) }], structuredContent: json as Record<string, unknown> }
}

/**
 * A refusal that the model can act on. It is text only: older clients check an object against the tool's output schema,
 * and would report the mismatch instead of the refusal.
 */
export function toolRefusal(fault: Fault, requestId: string): ToolAnswer {
  return { content: [{ type: 'text', text: JSON.stringify(refusalJson(fault, requestId)) }], isError: true }
}

/** `retry`: whether the same call may succeed later. */
export function refusalJson({ code, detail }: Fault, requestId: string): Record<string, unknown> {
  const { api, retry } = httpFault(code)
  const details = Object.keys(detail).length === 0 ? {} : { details: detail }
  return { error: faultMessage({ code, detail } as Fault), code: api, requestId, retry, ...details }
}

import type { Fault } from '../../consensus/primitives/fault.ts'
import { faultMessage } from '../../consensus/primitives/fault.ts'
import { httpFault } from '../contract/http-faults.ts'
import type { NodeApi } from '../node/node-api.ts'
import type { ApiRequest } from '../server/answer.ts'

/** What everything that answers an MCP message may look at. */
export interface McpPlace {
  readonly node: NodeApi
  readonly request: ApiRequest
  /** Takes what is to be called once the answer was handed over to the end. */
  readonly onSent: (sent: () => void) => void
}

/** Result of a tool as the protocol has it; a type, not an interface: the SDK wants it open to more keys. */
export type ToolAnswer = {
  readonly content: [{ readonly type: 'text'; readonly text: string }]
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: true
  readonly _meta?: Record<string, unknown>
}

/** A result both as an object and as the same JSON in text, for clients that read only one of them. */
export function toolAnswer(json: object): ToolAnswer {
  return { content: [{ type: 'text', text: JSON.stringify(json) }], structuredContent: json as Record<string, unknown> }
}

/**
 * A refusal that the model can act on. As text only: older clients hold the object against the shape of a good answer, and
 * would show that it does not fit in place of why.
 */
export function toolRefusal(fault: Fault, requestId: string): ToolAnswer {
  return { content: [{ type: 'text', text: JSON.stringify(refusalJson(fault, requestId)) }], isError: true }
}

/** A refusal as the error envelope has it. */
export function refusalJson({ code, detail }: Fault, requestId: string): Record<string, unknown> {
  const { api, retry } = httpFault(code)
  const details = Object.keys(detail).length === 0 ? {} : { details: detail }
  return { error: faultMessage({ code, detail } as Fault), code: api, requestId, retry, ...details }
}

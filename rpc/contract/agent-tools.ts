import { Compile } from 'typebox/compile'
import type { Capability } from '../../marketplace/ledger/capabilities.ts'
import { CAPABILITY } from './agents.ts'
import { SUBMITTED } from './chain.ts'
import { ENTRY, MARKET_ROUTES } from './market.ts'
import { OPERATIONS_ROUTES } from './operations.ts'
import { CLOSED, HEX_32 } from './route.ts'
import type { Schema } from './schema.ts'
import * as Type from './schema.ts'
import { sentences } from './sentences.ts'

/** Input and output of a free tool that agents call over MCP. */
export interface ToolShape {
  readonly input: Schema
  readonly output: Schema
}

const SERVICE_ID = Type.String({ minLength: 1, maxLength: 64, description: 'Id of a service, like node-network-stats' })
const REQUEST_TEXT = Type.String({ maxLength: 131_072, description: 'The input of the service, as its format says' })
/** Maximum services in one search answer: all that a node sells fit. */
const FOUND_MAX = 60

const FOUND = Type.Pick(ENTRY, [
  'serviceId',
  'name',
  'description',
  'capability',
  'priceUsd',
  'priceNative',
  'requestFormat',
  'example',
  'available',
  'unavailableReason',
])

/** Shapes of the free tools. */
export const TOOL_SHAPES = {
  search_services: {
    input: Type.Object(
      {
        query: Type.Optional(Type.String({ maxLength: 200, description: 'Words to look for; all services without' })),
        capability: Type.Optional(
          Type.Unsafe<Capability>({ ...CAPABILITY, description: 'Only services of this capability' }),
        ),
        maxPriceUsd: Type.Optional(Type.Number({ minimum: 0, description: 'Only services that cost at most this' })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: FOUND_MAX, default: 10 })),
      },
      CLOSED,
    ),
    output: Type.Object({
      total: Type.Integer({ minimum: 0, description: 'How many fit; the first of them are given' }),
      services: Type.Array(FOUND),
    }),
  },
  get_service: {
    input: Type.Object({ serviceId: SERVICE_ID }, CLOSED),
    output: Type.Object({
      service: ENTRY,
      sample: Type.Literal(true),
      request: Type.String({ description: 'A request that works; of node-signature-verify its form' }),
      result: Type.Unknown({
        description:
          'A sample of the result; of a file the beginning, which GET /services/{serviceId}/example has whole',
      }),
      resultSchema: Type.Unknown({ description: 'JSON schema of the result' }),
    }),
  },
  get_quote: {
    input: Type.Object({ serviceId: SERVICE_ID, request: Type.Optional(REQUEST_TEXT) }, CLOSED),
    output: MARKET_ROUTES.callService.answers[402].schema,
  },
  get_receipt: {
    input: Type.Object(
      {
        txId: Type.Unsafe<string>({ ...HEX_32, description: 'Id of the payment. On the native rail its txId' }),
      },
      CLOSED,
    ),
    output: MARKET_ROUTES.getRequest.answers[200].schema,
  },
  node_status: { input: Type.Object({}, CLOSED), output: OPERATIONS_ROUTES.getStatus.answers[200].schema },
  submit_transaction: {
    input: Type.Object(
      {
        tx: Type.Unsafe<string | object>({
          anyOf: [{ type: 'string', pattern: '^([0-9a-f]{2})+$' }, { type: 'object' }],
          description: 'A signed transaction: its bytes in hex, or its JSON form',
        }),
      },
      CLOSED,
    ),
    output: SUBMITTED,
  },
} as const satisfies Record<string, ToolShape>

/** Name of a free tool. */
export type FreeToolName = keyof typeof TOOL_SHAPES

const PAYMENT_ARGUMENT = Type.Object(
  {
    txId: Type.Unsafe<string>({ ...HEX_32, description: 'Transaction id of the agent_invoke payment' }),
    secret: Type.Optional(Type.Unsafe<string>({ ...HEX_32, description: 'Secret of a locked payment' })),
  },
  { ...CLOSED, description: 'Native payment, for clients that cannot send _meta["x402/payment"]' },
)

/** Input of a paid tool. */
export function paidToolInput(request: {
  readonly description: string
  readonly isNeeded: boolean
  readonly example: string
}) {
  const { description, isNeeded, example } = request
  const text = Type.String({ maxLength: 131_072, description, ...(example === '' ? {} : { examples: [example] }) })
  return Type.Object(
    { request: isNeeded ? text : Type.Optional(text), payment: Type.Optional(PAYMENT_ARGUMENT) },
    CLOSED,
  )
}

/** The validator reports an unknown member twice: alone (`boolean`), and together with all unknown members (`additionalProperties`). */
const STRANGERS: ReadonlySet<string> = new Set(['boolean', 'additionalProperties'])
const ARGUMENTS = { whole: 'the arguments', member: 'argument' }
const PAID_INPUT = paidToolInput({ description: '', isNeeded: false, example: '' })
const PAID_CHECK = Compile(PAID_INPUT as Schema)
const CHECKS = new Map(Object.entries(TOOL_SHAPES).map(([name, { input }]) => [name, Compile(input as Schema)]))

/** Empty if the arguments fit. */
export function argumentMisfits(name: FreeToolName, args: Arguments): readonly string[] {
  const check = CHECKS.get(name)
  const value = withoutCallId(args)
  if (check === undefined || check.Check(value)) return []
  return sentences(check.Errors(value), { schema: TOOL_SHAPES[name].input, ...ARGUMENTS })
}

/** Unknown argument names of a paid tool. Values are checked where they are read, which gives better messages. */
export function paidArgumentMisfits(given: Arguments): readonly string[] {
  const args = withoutCallId(given)
  if (PAID_CHECK.Check(args)) return []
  const strangers = PAID_CHECK.Errors(args).filter(({ keyword }) => STRANGERS.has(keyword))
  return strangers.length === 0 ? [] : sentences(strangers, { schema: PAID_INPUT, ...ARGUMENTS })
}

type Arguments = Readonly<Record<string, unknown>>

/** The client of n8n adds `toolCallId` to the arguments of every call (https://github.com/n8n-io/n8n/issues/21500). */
function withoutCallId({ toolCallId: _, ...args }: Arguments): Arguments {
  return args
}

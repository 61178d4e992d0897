import { OUTCOME_NUMBERS } from '../../consensus/ledger/outcome.ts'
import { FAULT_TABLE, type FaultCode } from '../../consensus/primitives/fault-table.ts'
import { httpFault } from '../../rpc/contract/http-faults.ts'
import type { Route } from '../../rpc/contract/route.ts'
import { BEFORE_ANY_ROUTE, SHARED_ERRORS } from '../../rpc/contract/route-errors.ts'
import { ROUTES } from '../../rpc/contract/table.ts'

const HEAD = `# Errors

## What a caller sees, and what to do

Every refusal over HTTP has this form:

    {"error": "<sentence>", "code": "<API code>", "requestId": "<also in X-Request-Id>", "details": {<the facts>}}

1. Is there a header \`Retry-After\`? Wait for so many seconds, and repeat the same request, with the same payment.
2. Does \`error\` say "Do not pay again"? Then \`code\` is \`payment_not_found\`, \`payment_unconfirmed\`, \`settlement_pending\`, \`settlement_unknown\` or \`claim_store_unreachable\`, and the same payment is still good: repeat the call with it.
3. Is there an object \`refund\`? The call failed after it was paid, and the escrow goes back to the caller.
4. Otherwise look at the status:

| status | what it means | what to do |
|---|---|---|
| 400, 404, 405, 413, 415, 431 | the request cannot be used | correct it: \`error\` says what is wrong. The same request is refused again |
| 401, 403 | a key or token is missing or wrong, or you may not do this | send the key of the chat, or the operator's token |
| 402 | a payment is missing, or the one that came buys nothing | pay one of \`accepts\`. If \`accepts\` is empty, another payment would not help: go by \`error\` |
| 408 | the request did not arrive in time | send it again |
| 409 | it does not fit the state of the chain or of this node, such as a nonce or payment that is used | read \`code\`; look at the state, then make a new request |
| 410 | what was asked for is no longer kept here | ask a node that keeps more; a result cannot be had again |
| 422 | no answer of a chat model followed the schema | ask in other words, or for a simpler schema |
| 429, 503 | too much at once, or not possible now | wait, see 1. Without \`Retry-After\` it stays so until the operator changes something |
| 500 | an error of the node | tell the operator the \`requestId\`: the log has it |
| 502, 504 | a model, a provider or a web page failed | a paid call is refunded, or was not charged; try again later |

A refused paid call has used up nothing; \`"charged": false\` says so where it is in doubt. Programs should use \`code\`, which is stable.
Chats have the form of OpenAI's errors ([chat.md](chat.md#the-api)), MCP and A2A that of their protocols ([agents.md](agents.md)).

With \`Accept: application/problem+json\` the members of RFC 9457 are added. [By route](#by-route) says which route answers with which code.

## The tables

Made from \`consensus/primitives/fault-table.ts\`, \`rpc/contract/http-faults.ts\` and the routes of \`rpc/contract/\` by \`npm run gen\`; a test compares them.

Every refusal also has an internal code, \`area/what-is-wrong\`. Several of them may share one API code. There is a table for each area.

| column | meaning |
|---|---|
| blame | whether the sender should have known better; peers get points for it |
| retry | whether the same bytes may be accepted later |
| receipt | the number of this failure in the receipt of a mined transaction |
`

/** The text of `docs/errors.md`. */
export function errorsDocument(): string {
  const codes = Object.keys(FAULT_TABLE) as FaultCode[]
  const areas = [...new Set(codes.map((code) => code.split('/')[0] as string))]
  return [
    HEAD,
    ...areas.map((area) =>
      areaTable(
        area,
        codes.filter((code) => code.startsWith(`${area}/`)),
      ),
    ),
    routeTable(),
  ].join('\n')
}

const BY_ROUTE = `## By route

A route answers with the errors of its kinds and with its own. \`openapi.json\` has both together for each route, by status, as
\`x-error-codes\`.
`

/** A table of the API codes that each route can answer with. */
function routeTable(): string {
  const kinds = [
    { of: 'what fits no route, or cannot be read', codes: BEFORE_ANY_ROUTE },
    ...SHARED_ERRORS.map(({ of, codes }) => ({ of, codes })),
  ]
  const own = (Object.values(ROUTES) as readonly Route[]).filter(({ errors = [] }) => errors.length > 0)
  return [
    BY_ROUTE,
    ...['| kind | API codes |', '|---|---|'],
    ...kinds.map(({ of, codes }) => `| ${of} | ${apiCodes(codes)} |`),
    ...['', '| route | API codes of its own |', '|---|---|'],
    ...own.map(({ method, path, errors = [] }) => `| \`${method} ${path}\` | ${apiCodes(errors)} |`),
    '',
  ].join('\n')
}

function apiCodes(codes: readonly FaultCode[]): string {
  const names = new Set(codes.map((code) => httpFault(code).api))
  return [...names].map((name) => `\`${name}\``).join(', ')
}

function areaTable(area: string, codes: readonly FaultCode[]): string {
  const rows = codes.map((code) => {
    const row = httpFault(code)
    const receipt = code in OUTCOME_NUMBERS ? String(OUTCOME_NUMBERS[code as keyof typeof OUTCOME_NUMBERS]) : ''
    return `| \`${code}\` | \`${row.api}\` | ${row.status} | ${row.blame} | ${row.retry ? 'yes' : ''} | ${receipt} | ${row.says} |`
  })
  return [
    `## ${area}`,
    '',
    '| internal | API code | status | blame | retry | receipt | says |',
    '|---|---|--:|---|---|--:|---|',
    ...rows,
    '',
  ].join('\n')
}

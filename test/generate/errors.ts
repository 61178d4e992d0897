import { OUTCOME_NUMBERS } from '../../consensus/ledger/outcome.ts'
import { FAULT_TABLE, type FaultCode } from '../../consensus/primitives/fault-table.ts'
import { httpFault } from '../../rpc/contract/http-faults.ts'
import type { Route } from '../../rpc/contract/route.ts'
import { BEFORE_ANY_ROUTE, SHARED_ERRORS } from '../../rpc/contract/route-errors.ts'
import { ROUTES } from '../../rpc/contract/table.ts'

const HEAD = `# Errors

Made from \`consensus/primitives/fault-table.ts\`, \`rpc/contract/http-faults.ts\` and the routes of \`rpc/contract/\` by \`npm run gen\`; a test compares them.

Every refusal has an internal code, \`area/what-is-wrong\`, and the facts of the case. Over HTTP it becomes

    {"error": "<sentence>", "code": "<API code>", "requestId": "<also in X-Request-Id>", "details": {<the facts>}}

With \`Accept: application/problem+json\` the members of RFC 9457 are added. A \`402\` also has a fresh quote. Programs should use the
API code, which is stable; several internal codes may share one. [By route](#by-route) says which route answers with which.

| column | meaning |
|---|---|
| blame | whether the sender should have known better; peers get points for it |
| retry | whether the same bytes may be accepted later |
| receipt | the number of this failure in the receipt of a mined transaction |

A refused paid call has used up nothing. If the answer has a \`refund\` object, the call failed after it was paid, and the escrow goes back to the caller.
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

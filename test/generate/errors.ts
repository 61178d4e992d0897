import { OUTCOME_NUMBERS } from '../../consensus/ledger/outcome.ts'
import { FAULT_TABLE, type FaultCode } from '../../consensus/primitives/fault-table.ts'
import { httpFault } from '../../rpc/contract/http-faults.ts'

const HEAD = `# Errors

Made from \`consensus/primitives/fault-table.ts\` and \`rpc/contract/http-faults.ts\` by \`npm run gen\`; a test compares them.

Every refusal has an internal code, \`area/what-is-wrong\`, and the facts of the case. Over HTTP it becomes

    {"error": "<sentence>", "code": "<API code>", "requestId": "<also in X-Request-Id>", "details": {<the facts>}}

With \`Accept: application/problem+json\` the members of RFC 9457 are added. A \`402\` also has a fresh quote. Programs should use the
API code, which is stable; several internal codes may share one.

| column | meaning |
|---|---|
| blame | whether the sender should have known better; peers get points for it |
| retry | whether the same bytes may be accepted later |
| receipt | the number of this failure in the receipt of a mined transaction |

A refused paid call has used up nothing. If the answer has a \`refund\` object, the call failed after it was paid, and the escrow goes back to the caller.
`

/** docs/errors.md */
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
  ].join('\n')
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

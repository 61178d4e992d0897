import { OUTCOME_NUMBERS } from '../../consensus/ledger/outcome.ts'
import { FAULT_TABLE, type FaultCode } from '../../consensus/primitives/fault-table.ts'
import { httpFault } from '../../rpc/contract/http-faults.ts'

const HEAD = `# Errors

Made from \`consensus/primitives/fault-table.ts\` and \`rpc/contract/http-faults.ts\` by \`npm run gen\`; a test compares them.

Every refusal is a value with an internal code, \`area/what-is-wrong\`, and the facts of the case. Over HTTP it becomes

    {"error": "<sentence>", "code": "<API code>", "requestId": "<also in X-Request-Id>", "details": {<the facts>}}

With \`Accept: application/problem+json\` the members of RFC 9457 are added. A \`402\` carries a fresh quote beside them. The API
code is the stable one; several internal codes may share it. *Blame* says whether the sender of the bytes must have known better
(peers are scored by it), *retry* whether the same bytes may be accepted later. *Receipt* is the number that a mined
transaction or receipt entry carries for it.

A refusal of a paid call has consumed nothing, unless it carries a \`refund\` object: then the escrow goes back to the caller.
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

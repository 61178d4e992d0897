import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICE_TABLE } from '../../marketplace/services/table.ts'
import { ROOT } from '../support/source-tree.ts'

/** How many services a recorded node sells; 0 is said of agents that sell none. */
const COUNT = /("(?:nodeOperatedCount|serviceCount|services)": )[1-9]\d*/g

/** `rpc/openapi-examples.json` as it was recorded, with the services counted that there are now. */
export function countedExamples(): string {
  return readFileSync(join(ROOT, 'rpc/openapi-examples.json'), 'utf8').replace(COUNT, `$1${SERVICE_TABLE.length}`)
}

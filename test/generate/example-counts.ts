import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICE_TABLE } from '../../marketplace/services/table.ts'
import { ROOT } from '../support/source-tree.ts'

/** Counts of services in a recorded answer; 0 stands for agents that sell none. */
const COUNT = /("(?:nodeOperatedCount|serviceCount|services)": )[1-9]\d*/g

/** `rpc/openapi-examples.json` as recorded, with the current number of services. */
export function countedExamples(): string {
  return readFileSync(join(ROOT, 'rpc/openapi-examples.json'), 'utf8').replace(COUNT, `$1${SERVICE_TABLE.length}`)
}

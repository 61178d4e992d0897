import { tillSuite } from '../../contract/till.suite.ts'
import { TESTED_RAILS } from '../../support/till-benches.ts'

for (const rail of TESTED_RAILS) tillSuite(rail)

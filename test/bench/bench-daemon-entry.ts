import { NETWORKS } from '../../config/networks/table.ts'
import { endProcess } from '../../src/cli/end-process.ts'
import { runCommandLine } from '../../src/cli/run.ts'
import { COMMANDS } from '../../src/cli/table.ts'
import { createFixture } from './fixture.ts'

/** The shipped program on a devnet whose genesis funds the accounts of a benchmark. */
const accounts = Number(process.env.BENCH_ACCOUNTS)
const networks = { ...NETWORKS, devnet: createFixture(accounts, accounts).params }
void runCommandLine(COMMANDS, process.argv.slice(2), networks).then(endProcess)

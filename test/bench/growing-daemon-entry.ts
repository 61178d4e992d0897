import { flagSource, resolveConfig } from '../../config/load.ts'
import { devSeed } from '../../config/networks/dev-keys.ts'
import { NETWORKS } from '../../config/networks/table.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { SERVICE_TABLE } from '../../marketplace/services/table.ts'
import { parseCommandLine } from '../../src/cli/args.ts'
import { walletKey } from '../../src/crypto/wallet-key.ts'
import { startDaemon } from '../../src/daemon/daemon.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { readBlocks } from '../../src/storage/block-file.ts'
import { LEVEL_CLAIMS } from '../../src/storage/open-claims.ts'
import { createLogger } from '../../src/telemetry/logger.ts'
import { createFixture, importBytes } from './fixture.ts'

/** A whole daemon that imports a file of blocks as fast as it can, then says so. */
const line = parseCommandLine(process.argv.slice(2))
const flags = line.ok ? flagSource(line.value.flags) : line
const resolved = flags.ok ? resolveConfig([flags.value], '/nowhere') : flags
if (!resolved.ok) throw new Error(resolved.fault.code)
const accounts = Number(process.env.BENCH_ACCOUNTS)
const params = { ...NETWORKS.devnet, ...createFixture(accounts, accounts).params }
const daemon = await startDaemon({
  config: { ...resolved.value.config, mine: { ...resolved.value.config.mine, threads: 0 } },
  params,
  services: SERVICE_TABLE,
  ...LEVEL_CLAIMS,
  wallet: walletKey(devSeed(2)),
  logger: createLogger({ level: 'silent', format: 'json' }),
  onFatal: (error) => {
    throw error
  },
})
if (!daemon.ok) throw new Error(daemon.fault.code)
process.stdout.write(`${daemon.value.url}\n`)
process.on('SIGTERM', () => void daemon.value.stop().then(() => process.exit(0)))
let imported = 0
for await (const bytes of readBlocks(
  process.env.BENCH_BLOCKS as string,
  createRuleBook(params, PROTOCOL).genesis.block.id,
)) {
  if (!bytes.ok) throw new Error(bytes.fault.code)
  await importBytes(daemon.value.node.chain, bytes.value)
  imported += 1
}
process.stdout.write(`imported ${imported}\n`)

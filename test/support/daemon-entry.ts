import { NETWORKS } from '../../config/networks/table.ts'
import type { Command } from '../../src/cli/command.ts'
import { startCommand } from '../../src/cli/commands/start.ts'
import { endProcess } from '../../src/cli/end-process.ts'
import { runCommandLine } from '../../src/cli/run.ts'
import { COMMANDS } from '../../src/cli/table.ts'
import { fastDevnet } from './network.ts'

/**
 * The real program, whose node has the additions of tests. With TEST_FAST_BLOCKS its devnet starts at that many hashes a block. Everything
 * else is as shipped. Commands other than `start` do not load a node.
 */
const start: Command = {
  ...startCommand,
  run: async (context) => (await import('./test-node.ts')).runTestNode(context),
}
const commands = COMMANDS.map((command) => (command.name === 'start' ? start : command))
const hashes = process.env.TEST_FAST_BLOCKS
const networks = hashes === undefined ? NETWORKS : { ...NETWORKS, devnet: fastDevnet(BigInt(hashes)) }

void runCommandLine(commands, process.argv.slice(2), networks).then(endProcess)

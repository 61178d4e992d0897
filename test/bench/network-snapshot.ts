import { join } from 'node:path'
import { removeFolder, temporaryFolder } from '../support/processes.ts'
import { seedFolder } from './big-state.ts'
import { networkParams } from './network-load.ts'
import { BenchNodes, type NodeRecord } from './network-nodes.ts'
import { residentMb } from './processes.ts'
import { type BenchRow, factRow, round, valueRow } from './report.ts'

const ACCOUNTS = Number(process.env.BENCH_SEEDED ?? 1_000_000)
const KIND = { accounts: 2, senders: 1 }
/** Enough blocks that a new node begins from a snapshot, with the blocks that must follow it. */
const BLOCKS = 1_300
const SNAPSHOT_EVERY = 100
const GOAL_S = 60
const HEIGHT = 'farthing_height'

/** A node begins from the snapshot of a node in another process: time from the handshake until it has the same head. */
export async function benchNetworkSnapshot(): Promise<readonly BenchRow[]> {
  const root = temporaryFolder()
  const nodes = new BenchNodes()
  try {
    const folder = join(root, 'server')
    await seedFolder(folder, ACCOUNTS, networkParams(KIND))
    const flags = ['--storage-snapshot-blocks', String(SNAPSHOT_EVERY)]
    const server = await nodes.start({ ...KIND, folder, flags, emptyBlocks: BLOCKS })
    const joining = await nodes.start({ ...KIND, peers: [server.address], flags: ['--sync-snapshot', 'always'] })
    await nodes.awaitAll('the joining node has the head', HEIGHT, (height) => height >= BLOCKS)
    const memory = [server, joining].map(({ server: { pid } }) => Math.round(residentMb(pid)))
    const [, joined] = (await nodes.stop()) as [NodeRecord, NodeRecord]
    const first = joined.heads[0]
    const last = joined.heads.at(-1)
    if (first === undefined || last === undefined) throw new Error('nothing was noted')
    if (first[0] < BLOCKS - 2 * SNAPSHOT_EVERY) throw new Error(`it began at block ${first[0]}`)
    return [
      valueRow(
        `snapshot sync of ${ACCOUNTS} accounts over loopback, headers and later blocks included`,
        (last[2] - joined.peeredMs) / 1_000,
        's',
        { most: GOAL_S },
      ),
      factRow(
        'the same: its first head, resident memory of the serving and the joining node',
        `${round((first[2] - joined.peeredMs) / 1_000)} s, ${memory.join(' and ')} MB`,
      ),
    ]
  } finally {
    await nodes.close()
    removeFolder(root)
  }
}

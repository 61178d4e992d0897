import { join } from 'node:path'
import { exportBlocks } from '../../src/storage/block-file.ts'
import { VerifyPool } from '../../src/workers/verify-pool.ts'
import { removeFolder, temporaryFolder } from '../support/processes.ts'
import { mineBlock, openBenchChain, signTransfers } from './fixture.ts'
import { networkFixture } from './network-load.ts'
import { BenchNodes, type NodeRecord } from './network-nodes.ts'
import { type BenchRow, ratioRow, round } from './report.ts'

const PER_BLOCK = 380
const KIND = { accounts: 10_000, senders: PER_BLOCK }
const BLOCKS = Number(process.env.BENCH_BLOCKS ?? 40)
const ROUNDS = 2
const GOAL = 0.8
const HEIGHT = 'farthing_height'
/** The second node needs the witnesses of old blocks. */
const KEEPS_ALL = ['--storage-mode', 'archive', '--sync-snapshot', 'never']

/** Sync of full blocks from a peer in another process, against import of the same blocks from a file. */
export async function benchNetworkSync(): Promise<readonly BenchRow[]> {
  const folder = temporaryFolder()
  try {
    const file = join(folder, 'blocks.bin')
    const transactions = await writeChain(file)
    const local: number[] = []
    const synced: number[] = []
    for (let i = 0; i < ROUNDS; i++) {
      const times = await measure(file)
      local.push(times.localMs)
      synced.push(times.syncMs)
    }
    const rate = (ms: readonly number[]): number => (transactions * ms.length * 1_000) / ms.reduce((a, b) => a + b)
    return [
      ratioRow(
        `full sync of ${BLOCKS} full blocks over loopback (bound: local import, ${round(rate(local))} tx/s)`,
        `${round(rate(synced))} tx/s`,
        rate(synced) / rate(local),
        GOAL,
      ),
    ]
  } finally {
    removeFolder(folder)
  }
}

/** One process imports the file, then serves the blocks to another one. */
async function measure(blocks: string): Promise<{ readonly localMs: number; readonly syncMs: number }> {
  const nodes = new BenchNodes()
  try {
    const first = await nodes.start({ ...KIND, blocks, flags: KEEPS_ALL })
    await nodes.start({ ...KIND, peers: [first.address], flags: KEEPS_ALL })
    await nodes.awaitAll('all blocks are synced', HEIGHT, (height) => height >= BLOCKS + 2)
    const [server, joined] = (await nodes.stop()) as [NodeRecord, NodeRecord]
    return { localMs: lastMs(server) - server.fedMs, syncMs: lastMs(joined) - joined.peeredMs }
  } finally {
    await nodes.close()
  }
}

function lastMs({ heads }: NodeRecord): number {
  return heads.find(([height]) => height === BLOCKS + 2)?.[2] ?? Number.POSITIVE_INFINITY
}

/** Writes a chain of full blocks to a file. Returns the number of its transactions. The first two blocks bring the keys. */
async function writeChain(file: string): Promise<number> {
  const fixture = networkFixture(KIND)
  const verifier = new VerifyPool(1)
  const { chain, close } = await openBenchChain(fixture, verifier, { paced: false })
  const first = await signTransfers(fixture, chain, 0n)
  const half = PER_BLOCK / 2
  for (const part of [first.slice(0, half), first.slice(half)]) await mineBlock(chain, part)
  for (let nonce = 1n; nonce <= BLOCKS; nonce++) await mineBlock(chain, await signTransfers(fixture, chain, nonce))
  const written = await exportBlocks(chain, file, { from: 1, to: BLOCKS + 2 })
  if (!written.ok) throw new Error(written.fault.code)
  await close()
  await verifier.close()
  return (BLOCKS + 1) * PER_BLOCK
}

import { subscribe } from 'node:diagnostics_channel'
import { writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { constants, type PerformanceNodeEntry, PerformanceObserver } from 'node:perf_hooks'
import { flagSource, resolveConfig } from '../../config/load.ts'
import { devSeed } from '../../config/networks/dev-keys.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { SERVICE_TABLE } from '../../marketplace/services/table.ts'
import { parseCommandLine } from '../../src/cli/args.ts'
import { walletKey } from '../../src/crypto/wallet-key.ts'
import { startDaemon } from '../../src/daemon/daemon.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { readBlocks } from '../../src/storage/block-file.ts'
import { LEVEL_CLAIMS } from '../../src/storage/open-claims.ts'
import { createLogger } from '../../src/telemetry/logger.ts'
import { importBytes, mineBlock } from './fixture.ts'
import { networkParams } from './network-load.ts'
import type { NodeOrder, NodeRecord } from './network-nodes.ts'
import { nowMs } from './report.ts'

/**
 * A whole daemon that notes when transactions and blocks arrive, on the clock shared by all processes, and writes its
 * notes to a file at its end. It can import blocks before it is ready.
 */
const order = JSON.parse(process.env.BENCH_ORDER as string) as NodeOrder
const record: { -readonly [K in keyof NodeRecord]: NodeRecord[K] } = {
  admissions: [],
  heads: [],
  traffic: [],
  live: [],
  fedMs: 0,
  peeredMs: 0,
}
let apiPort = 0
const traffic = countTraffic()
const line = parseCommandLine(process.argv.slice(2))
const flags = line.ok ? flagSource(line.value.flags) : line
const resolved = flags.ok ? resolveConfig([flags.value], '/nowhere') : flags
if (!resolved.ok) throw new Error(`${resolved.fault.code} ${JSON.stringify(resolved.fault.detail)}`)
const params = networkParams(order)
const daemon = await startDaemon({
  config: resolved.value.config,
  params,
  services: SERVICE_TABLE,
  ...LEVEL_CLAIMS,
  wallet: order.sells === true ? walletKey(devSeed(2)) : null,
  logger: createLogger({ level: process.env.BENCH_LOG ?? 'warn', format: 'json' }),
  transactionMode: order.mode ?? 'gossip',
  onFatal: (error) => {
    throw error
  },
})
if (!daemon.ok) throw new Error(`${daemon.fault.code} ${JSON.stringify(daemon.fault.detail)}`)
const { node, url, peerAddresses, stop } = daemon.value
apiPort = Number(new URL(url).port)
const { chain, mempool } = node
process.on('SIGTERM', () => {
  writeFileSync(order.record, JSON.stringify(record))
  void stop().then(() => process.exit(0))
})
noteHeap()
if (order.silent !== true) note()
const looking = setInterval(() => {
  if (node.peerCount() === 0) return
  record.peeredMs = nowMs()
  clearInterval(looking)
}, 5)
await feed()
process.stdout.write(`${url}\n${JSON.stringify({ peer: peerAddresses[0] })}\n`)

/** Notes all arrivals. */
function note(): void {
  mempool.onAdmission(({ wtxId }) => record.admissions.push([wtxId, nowMs()]))
  chain.onHeadChange(({ head }) =>
    record.heads.push([head.header.height, chain.database.block(head.id)?.transactions.length ?? 0, nowMs()]),
  )
  setInterval(() => record.traffic.push([nowMs(), ...traffic()]), 250)
}

/** Notes the heap after full collections: resident memory swings by far more than the live heap. */
function noteHeap(): void {
  const collections = new PerformanceObserver((list) => {
    const isFull = list
      .getEntries()
      .some((entry) => (entry as PerformanceNodeEntry).detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR)
    if (isFull) record.live.push([nowMs(), process.memoryUsage().heapUsed / 1e6])
  })
  collections.observe({ entryTypes: ['gc'] })
}

async function feed(): Promise<void> {
  record.fedMs = nowMs()
  for (let i = 0; i < (order.emptyBlocks ?? 0); i++) await mineBlock(chain, [])
  if (order.blocks === undefined) return
  for await (const bytes of readBlocks(order.blocks, createRuleBook(params, PROTOCOL).genesis.block.id)) {
    if (!bytes.ok) throw new Error(bytes.fault.code)
    await importBytes(chain, bytes.value)
  }
}

/** Counts bytes read and written by sockets of this process other than those of its API. */
function countTraffic(): () => readonly [number, number] {
  const sockets = new Set<Socket>()
  const gone = [0, 0] as [number, number]
  const watch = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket }
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      if (isApi(socket)) return
      gone[0] += socket.bytesRead
      gone[1] += socket.bytesWritten
    })
  }
  subscribe('net.client.socket', watch)
  subscribe('net.server.socket', watch)
  return () => {
    const sums = [...gone] as [number, number]
    for (const socket of sockets) {
      if (isApi(socket)) continue
      sums[0] += socket.bytesRead
      sums[1] += socket.bytesWritten
    }
    return sums
  }
}

function isApi({ localPort }: Socket): boolean {
  return localPort === apiPort
}

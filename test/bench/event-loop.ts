import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { VerifyPool } from '../../src/workers/verify-pool.ts'
import { createFixture, importBytes, mineBlock, openBenchChain, signTransfers } from './fixture.ts'
import { type BenchRow, valueRow } from './report.ts'

const ACCOUNTS = 10_000
const PER_BLOCK = 380
const BLOCKS = 10
const SPACING_MS = 3_000
const RESOLUTION_MS = 1

/** Delay of the event loop while a full block arrives every three seconds; its signatures are new to the node. */
export async function benchEventLoop(): Promise<readonly BenchRow[]> {
  const fixture = createFixture(ACCOUNTS, PER_BLOCK)
  const verifier = new VerifyPool(2)
  const builder = await openBenchChain(fixture, verifier, { paced: false })
  const first = await signTransfers(fixture, builder.chain, 0n)
  const blocks = [
    await mineBlock(builder.chain, first.slice(0, PER_BLOCK / 2)),
    await mineBlock(builder.chain, first.slice(PER_BLOCK / 2)),
  ]
  for (let nonce = 1n; nonce <= BLOCKS; nonce++)
    blocks.push(await mineBlock(builder.chain, await signTransfers(fixture, builder.chain, nonce)))
  await builder.close()
  const { chain, close } = await openBenchChain(fixture, verifier)
  for (const bytes of blocks.slice(0, 2)) await importBytes(chain, bytes)
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  for (const bytes of blocks.slice(2)) {
    const startedMs = performance.now()
    await importBytes(chain, bytes)
    await setTimeout(SPACING_MS - (performance.now() - startedMs))
  }
  delay.disable()
  await close()
  await verifier.close()
  const ms = (percentile: number): number => Math.max(0, delay.percentile(percentile) / 1e6 - RESOLUTION_MS)
  return [
    valueRow('event-loop delay p99, a full block every 3 s at 10,000 accounts', ms(99), 'ms', { most: 20 }),
    valueRow('event-loop delay p99.9, the same', ms(99.9), 'ms', { most: 50 }),
  ]
}

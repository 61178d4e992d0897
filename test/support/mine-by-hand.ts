import { setTimeout } from 'node:timers/promises'
import { searchNonce } from '../../consensus/block/pow.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { askJob, submitNonce } from '../../rpc/client/mining.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import { ask } from './api.ts'
import { until } from './processes.ts'

/** The miner of blocks that a test mines, unless it names another. No test looks at this balance. */
const MINER = '99'.repeat(32) as Address
/** How long a search keeps its process from other work. The blocks of a test network take less, those of the devnet seconds. */
const SLICE_MS = 250
/** Pause between blocks, so that waiting transactions get into them. */
const PAUSE_MS = 150
/** Pause between two looks for waiting transactions. */
const LOOK_MS = 100

/**
 * Mines one block over a node's API, as an external miner does, and returns its height. A node gives an empty job first
 * and a full one soon after. With `transactionsMin` it waits for a job with so many transactions.
 */
export async function mineOne(url: string, { transactionsMin = 0, miner = MINER } = {}): Promise<number> {
  const owner = { address: miner, text: formatAddress('dfar', miner) }
  let start = 0n
  return until('a block by hand', async () => {
    const job = await askJob(url, owner)
    if (!job.ok) {
      // The node is not ready, or busy. Any other refusal is a bug.
      if (job.fault.code === 'cli/refused' && /syncing|busy|not ready|nothing to mine/i.test(JSON.stringify(job.fault)))
        return undefined
      throw new Error(JSON.stringify(job.fault))
    }
    if (job.value.transactions < transactionsMin) return undefined
    const endMs = performance.now() + SLICE_MS
    const search = { ...job.value, start, stride: 1n }
    const nonce = searchNonce(search, nativePowHasher, {
      stopped: () => performance.now() >= endMs,
      onHash: () => {
        start++
      },
    })
    if (nonce === undefined) return undefined
    const answer = await submitNonce(url, job.value.jobId, nonce)
    if (!answer.ok) throw new Error(JSON.stringify(answer.fault))
    return answer.value.accepted && answer.value.height
  })
}

/** Mines `count` blocks on a node, one after another. */
export async function mineBlocks(url: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await mineOne(url)
}

/** Mines on a node until a piece of work is done, and returns its result. */
export async function mineWhile<T>(url: string, work: Promise<T>): Promise<T> {
  let over = false
  const end = (): void => {
    over = true
  }
  void work.then(end, end)
  while (!over) {
    await mineOne(url)
    await setTimeout(PAUSE_MS)
  }
  return work
}

/** Mines a block on a node, then pauses for `everyMs`, again and again until the returned function is called. */
export function mineAtPace(url: string, everyMs: number, miner = MINER): () => Promise<void> {
  return mineWhenever(url, everyMs, async () => true, miner)
}

/**
 * Mines a block as soon as a transaction waits, and else one every `restMs`, until the returned function is called. So
 * the work between two blocks is the same on a slow machine.
 */
export function mineOnDemand(url: string, restMs = 2_000): () => Promise<void> {
  let restedMs = 0
  return mineWhenever(url, LOOK_MS, async () => {
    const { status, body } = await ask<{ mempool: { count: number } }>(url, '/api/v1/status')
    restedMs += LOOK_MS
    // A node that is too busy answers 503.
    if (status === 503) return false
    if (body.mempool.count === 0 && restedMs < restMs) return false
    restedMs = 0
    return true
  })
}

function mineWhenever(
  url: string,
  everyMs: number,
  isTime: () => Promise<boolean>,
  miner = MINER,
): () => Promise<void> {
  const stop = new AbortController()
  const mining = (async () => {
    while (!stop.signal.aborted) {
      if (await isTime()) await mineOne(url, { miner })
      await setTimeout(everyMs, undefined, { signal: stop.signal }).catch(() => {})
    }
  })()
  return () => {
    stop.abort()
    return mining
  }
}

import { NETWORKS } from '../../config/networks/table.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { encodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { VerifyPool } from '../../src/workers/verify-pool.ts'
import { createFixture, type Fixture, openBenchChain, signTransfers } from './fixture.ts'
import { httpRequest } from './http-load.ts'
import { nowMs } from './report.ts'

/** The network of a benchmark's nodes. */
export interface NetworkKind {
  /** Accounts that the genesis funds; the first `senders` of them sign. */
  readonly accounts: number
  readonly senders: number
  /** Whether blocks cost work as on the devnet; otherwise one hash. */
  readonly realWork?: boolean
}

export function networkFixture({ accounts, senders, realWork = false }: NetworkKind): Fixture {
  const fixture = createFixture(accounts, senders)
  return realWork ? { ...fixture, params: { ...fixture.params, steps: NETWORKS.devnet.steps } } : fixture
}

export function networkParams(kind: NetworkKind): NetworkParams {
  return networkFixture(kind).params
}

/** A signed transaction as a request to the API. */
export interface SignedLoad {
  readonly wtxId: string
  readonly request: Buffer
}

/** Signs `perSender` transfers of every sender, grouped by nonce. The first group carries keys. */
export async function signLoad(kind: NetworkKind, perSender: number): Promise<readonly (readonly SignedLoad[])[]> {
  const fixture = networkFixture(kind)
  const verifier = new VerifyPool(1)
  const { chain, close } = await openBenchChain(fixture, verifier)
  const load: SignedLoad[][] = []
  for (let nonce = 0n; nonce < perSender; nonce++) load.push((await signTransfers(fixture, chain, nonce)).map(loadOf))
  await close()
  await verifier.close()
  return load
}

function loadOf(tx: Transaction): SignedLoad {
  return {
    wtxId: tx.wtxId,
    request: httpRequest('/api/v1/tx', 'application/octet-stream', encodeTransaction(tx)),
  }
}

/** Random times of `count` events, in ms from the start, `perSecond` on average; the same in every run. */
export function randomTimes(count: number, perSecond: number): readonly number[] {
  let state = 0x2545_f491
  let atMs = 0
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    atMs += (-Math.log((state + 1) / 2 ** 32) * 1_000) / perSecond
    return atMs
  })
}

/** The value at a share of the sorted values: 0.99 for the 99th percentile. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] as number
}

/** Waits until a time of {@link nowMs}. */
export function waitUntil(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms - nowMs())))
}

import { join } from 'node:path'
import type { TxId } from '../../../consensus/primitives/ids.ts'
import { NATIVE_CLAIMS, type NativeClaimStore } from '../../../marketplace/till/rails/native/claim.ts'
import { systemTimers } from '../../../src/daemon/runtime.ts'
import { LevelClaimStore } from '../../../src/storage/level-claims.ts'
import { PostgresClaims } from '../../../src/storage/postgres-claims.ts'
import { postgresPlace } from '../../../src/storage/postgres-place.ts'
import { type BenchRow, factRow } from '../../bench/report.ts'
import { claimed, delivered, executing } from '../../support/claims.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'
import { PostgresServer } from '../replicas/postgres.ts'

const CLAIMS = Number(process.env.BENCH_CLAIMS ?? 3_000)
const AT_ONCE = 64

/** Claims from creation to delivery, 64 at once, every write durable: in LevelDB, and in PostgreSQL on this machine. */
export async function benchClaims(): Promise<readonly BenchRow[]> {
  const folder = temporaryFolder()
  const level = await LevelClaimStore.open(join(folder, 'market'), NATIVE_CLAIMS)
  const embedded = await rate(level)
  await level.close()
  removeFolder(folder)
  const server = await PostgresServer.start()
  const place = postgresPlace(server.url())
  if (!place.ok) throw new Error(place.fault.code)
  const options = { place: place.value, network: 'bench', home: 'bench', leaseMs: 30_000, timers: systemTimers }
  const store = (await PostgresClaims.open(options)).store(NATIVE_CLAIMS)
  const shared = await rate(store)
  await store.close()
  await server.remove()
  return [factRow('claims in LevelDB', text(embedded)), factRow('claims in PostgreSQL', text(shared))]
}

interface Rate {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

function text({ perSecond, p50Ms, p99Ms }: Rate): string {
  return `${Math.round(perSecond)}/s, one in ${p50Ms.toFixed(1)} ms (p50), ${p99Ms.toFixed(1)} ms (p99)`
}

/** Works through all claims. The times run from a claim's first write to its last. */
async function rate(store: NativeClaimStore): Promise<Rate> {
  const times: number[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    for (let number = next++; number < CLAIMS; number = next++) {
      const startedMs = performance.now()
      const txId = (number + 1).toString(16).padStart(64, '0') as TxId
      await store.claim({ ...claimed(1, number), txId })
      await store.advance('claimed', { ...executing(1), txId, claimedAtMs: number })
      await store.advance('executing', { ...delivered(1), txId, claimedAtMs: number })
      times.push(performance.now() - startedMs)
    }
  }
  const startedMs = performance.now()
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  const seconds = (performance.now() - startedMs) / 1_000
  times.sort((a, b) => a - b)
  const at = (share: number): number => times[Math.floor(times.length * share)] as number
  return { perSecond: CLAIMS / seconds, p50Ms: at(0.5), p99Ms: at(0.99) }
}

import { setTimeout } from 'node:timers/promises'
import { LAUNCH_RULES } from '../../config/networks/rules.ts'
import { POW_SALT } from '../../consensus/block/pow.ts'
import { uintBE } from '../../consensus/primitives/bytes.ts'
import { signatureJob } from '../../consensus/tx/check.ts'
import type { MiningJob } from '../../miner/miner.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import { MiningPool } from '../../src/workers/mining-pool.ts'
import { VerifyPool } from '../../src/workers/verify-pool.ts'
import { createFixture, openBenchChain, signTransfers } from './fixture.ts'
import { type BenchRow, median, ratioRow, round, valueRow } from './report.ts'

const COST = LAUNCH_RULES.block.pow
const ROUNDS = 5
const ROUND_MS = 600
const SWITCHES = 200

/** Hash rate of a mining thread against a bare loop, the time of a switch to a new job, and how much mining slows verification. */
export async function benchMining(): Promise<readonly BenchRow[]> {
  const pool = new MiningPool(1, (error) => {
    throw error
  })
  pool.assign(job(0))
  await setTimeout(500)
  const rates = { pool: [] as number[], bare: [] as number[] }
  for (let i = 0; i < ROUNDS; i++) {
    pool.assign(null)
    rates.bare.push(bareRate())
    pool.assign(job(i))
    rates.pool.push(await poolRate(pool))
  }
  const switches = await switchTimes(pool)
  await pool.close()
  const [mined, bound] = [median(rates.pool), median(rates.bare)]
  return [
    ratioRow(
      `hash rate of a mining thread (bound: bare loop, ${round(bound)} H/s)`,
      `${round(mined)} H/s`,
      mined / bound,
      0.97,
    ),
    valueRow('time until a new job is worked on, p99', switches, 'ms', { most: 5 }),
    await benchVerificationWhileMining(),
  ]
}

/** A job without a solution: its target is 0. */
function job(seed: number): MiningJob {
  return { input: new Uint8Array(32).fill(seed & 0xff), target: uintBE(0n, 32), cost: COST }
}

function bareRate(): number {
  const message = new Uint8Array(40)
  const startedMs = performance.now()
  let hashes = 0
  for (; performance.now() - startedMs < ROUND_MS; hashes++) {
    message[39] = hashes & 0xff
    nativePowHasher(message, POW_SALT, COST)
  }
  return (hashes * 1_000) / (performance.now() - startedMs)
}

async function poolRate(pool: MiningPool): Promise<number> {
  const [startedMs, before] = [performance.now(), pool.hashes]
  await setTimeout(ROUND_MS)
  return (Number(pool.hashes - before) * 1_000) / (performance.now() - startedMs)
}

/** An easy job is solved by its first hash, so the time from assignment to find is the switch plus one hash. */
async function switchTimes(pool: MiningPool): Promise<number> {
  const easiest = uintBE((1n << 256n) - 1n, 32)
  const times: number[] = []
  let found = (): void => {}
  pool.onFound(() => found())
  for (let i = 0; i < SWITCHES; i++) {
    pool.assign(job(i))
    await setTimeout(5)
    const startedMs = performance.now()
    const done = new Promise<void>((resolve) => {
      found = resolve
    })
    pool.assign({ ...job(i), target: easiest })
    await done
    times.push(performance.now() - startedMs)
  }
  return times.sort((a, b) => a - b)[Math.floor(SWITCHES * 0.99)] as number
}

async function benchVerificationWhileMining(): Promise<BenchRow> {
  const fixture = createFixture(400, 200)
  const verifier = new VerifyPool(2)
  const { chain, close } = await openBenchChain(fixture, verifier)
  const jobs = (await signTransfers(fixture, chain, 0n)).map((tx, i) => {
    const made = signatureJob(tx, fixture.senders[i]?.keys as never, chain.network)
    if (!made.ok) throw new Error(made.fault.code)
    return made.value
  })
  const rate = async (): Promise<number> => {
    const startedMs = performance.now()
    for (let i = 0; i < 10; i++) await verifier.verify(jobs)
    return (jobs.length * 10 * 1_000) / (performance.now() - startedMs)
  }
  await rate()
  const miners = new MiningPool(2, () => {})
  await setTimeout(500)
  const rates = { quiet: [] as number[], mining: [] as number[] }
  for (let i = 0; i < ROUNDS; i++) {
    miners.assign(null)
    rates.quiet.push(await rate())
    miners.assign(job(i))
    rates.mining.push(await rate())
  }
  await miners.close()
  await verifier.close()
  await close()
  const [mining, quiet] = [median(rates.mining), median(rates.quiet)]
  return ratioRow(
    `verification while both cores mine (bound: without mining, ${round(quiet)} tx/s)`,
    `${round(mining)} tx/s`,
    mining / quiet,
    0.9,
  )
}

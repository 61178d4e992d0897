import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { seeded } from '../sim/miners.ts'
import { mutated, type Random } from './mutate.ts'
import type { Target } from './target.ts'
import { BYTE_TARGETS } from './targets/bytes.ts'
import { FILE_TARGETS } from './targets/files.ts'
import { GOSSIP_TARGETS } from './targets/gossip.ts'
import { HTTP_TARGETS } from './targets/http.ts'
import { REPLY_TARGETS } from './targets/replies.ts'
import { SERVED_TARGETS } from './targets/served.ts'
import { SNAPSHOT_TARGETS } from './targets/snapshot.ts'

const CORPUS = join(import.meta.dirname, 'corpus')
/** Inputs per target. They are the same on every machine for the same count and seed. */
const RUNS = Number(process.env.FARTHING_FUZZ ?? 2_000)
const SEED = Number(process.env.FARTHING_FUZZ_SEED ?? 20_261_122)
/** Inputs in a target's pool beyond which no new one joins. */
const POOL_MAX = 400
const GENERATED = 0.3
/** Most seeds of a target that are written to the corpus. */
const SEEDS_MAX = 3
/** Longest seed that is written to the corpus. */
const SEED_BYTES_MAX = 2_048

/** A target's inputs in the repository. */
function corpusOf(name: string): readonly Uint8Array[] {
  const folder = join(CORPUS, name)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .toSorted()
    .map((file) => Uint8Array.from(Buffer.from(readFileSync(join(folder, file), 'utf8').trim(), 'hex')))
}

/** Writes the first short seeds of a target to the corpus, for runs without the code that makes them. */
function keepSeeds(name: string, seeds: readonly Uint8Array[]): void {
  const short = seeds.filter(({ length }) => length <= SEED_BYTES_MAX).slice(0, SEEDS_MAX)
  mkdirSync(join(CORPUS, name), { recursive: true })
  for (const [i, bytes] of short.entries())
    writeFileSync(join(CORPUS, name, `seed-${i}.hex`), `${Buffer.from(bytes).toString('hex')}\n`)
}

/** Runs one input. A finding's error names the input. */
async function runOne({ name, run }: Target, bytes: Uint8Array): Promise<string> {
  try {
    return await run(bytes)
  } catch (error) {
    const hex = Buffer.from(bytes).toString('hex')
    const keep = `mkdir -p test/fuzz/corpus/${name} && echo ${hex} > test/fuzz/corpus/${name}/<what-it-found>.hex`
    throw new Error(`${name}, seed ${SEED}: ${String(error)}\nkeep the input, then mend what it found:\n${keep}`, {
      cause: error,
    })
  }
}

function nextInput(target: Target, random: Random, pool: readonly Uint8Array[]): Uint8Array {
  if (target.generate !== undefined && random() < GENERATED) return target.generate(random)
  return mutated(random, pool)
}

/** Runs corpus and seeds, then changed and generated inputs. An input that gives a new word joins the pool, and is changed further. */
async function fuzz(target: Target): Promise<ReadonlyMap<string, number>> {
  const words = new Map<string, number>()
  const seeds = await target.seeds()
  if (process.env.FARTHING_FUZZ_KEEP !== undefined) keepSeeds(target.name, seeds)
  const pool = [...corpusOf(target.name), ...seeds]
  const count = (word: string): number => {
    words.set(word, (words.get(word) ?? 0) + 1)
    return words.get(word) as number
  }
  for (const bytes of pool) count(await runOne(target, bytes))
  const random = seeded(SEED)
  const runs = Math.ceil(RUNS * (target.share ?? 1))
  for (let i = 0; i < runs; i++) {
    const bytes = nextInput(target, random, pool)
    if (count(await runOne(target, bytes)) === 1 && pool.length < POOL_MAX) pool.push(bytes)
  }
  return words
}

const TARGETS: readonly Target[] = [
  ...BYTE_TARGETS,
  ...FILE_TARGETS,
  ...SNAPSHOT_TARGETS,
  ...SERVED_TARGETS,
  ...REPLY_TARGETS,
  ...GOSSIP_TARGETS,
  ...HTTP_TARGETS,
]

describe(`${RUNS} inputs of seed ${SEED} for`, () => {
  it.each(TARGETS.map((target) => [target.name, target] as const))('%s', async (_, target) => {
    const words = await fuzz(target)
    // If all inputs give the same word, they never reached the tested code.
    expect(words.size).toBeGreaterThan(1)
    if (process.env.FARTHING_FUZZ !== undefined) console.info(target.name, Object.fromEntries(words))
  })

  afterAll(async () => {
    for (const { close } of TARGETS) await close?.()
  })

  it('every folder of the corpus belongs to a target', () => {
    const names = new Set(TARGETS.map(({ name }) => name))
    expect(names.size).toBe(TARGETS.length)
    expect(readdirSync(CORPUS).filter((name) => !names.has(name))).toEqual([])
  })
})

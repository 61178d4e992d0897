import { afterAll, describe, expect, it } from 'vitest'
import { signHybrid } from '../../../consensus/crypto/hybrid.ts'
import type { KeyScheme } from '../../../consensus/crypto/schemes.ts'
import { type SignatureJob, signingContext, transactionMessage } from '../../../consensus/crypto/signing.ts'
import { verifyJob } from '../../../consensus/crypto/verifier.ts'
import { concat, fromHex, toHex } from '../../../consensus/primitives/bytes.ts'
import type { TxId } from '../../../consensus/primitives/ids.ts'
import { signTransaction } from '../../../consensus/tx/sign.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import { walletKey } from '../../../src/crypto/wallet-key.ts'
import { VerifyPool } from '../../../src/workers/verify-pool.ts'
import { outcomeOf } from '../../support/branches.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { runScript, sourceUrl } from '../../support/script.ts'
import { type Statement, statementMessage } from '../../support/statements.ts'
import { filled, SAMPLE, units } from '../../support/unsigned.ts'
import { loadVectors, type SpelledBytes } from '../../support/vectors.ts'
import { vectors } from '../../vectors/read.ts'

const COUNTS = { good: 10, half: 24, rearranged: 20, 'other-statement': 34, length: 40 }

interface HybridCase {
  readonly group: string
  readonly keyScheme: KeyScheme
  readonly key: SpelledBytes
  readonly signature: SpelledBytes
  readonly valid: boolean
  readonly statement: Statement
}

/** A job with the verdict it must get. */
interface Judged {
  readonly job: SignatureJob
  readonly valid: boolean
}

/** The vectors as jobs. Cases with wrong lengths are refused before they become jobs. */
function vectorJobs(): readonly Judged[] {
  const vectors = loadVectors<{ cases: readonly HybridCase[] }>('hybrid.json', COUNTS)
  return vectors.cases
    .filter(({ group }) => group !== 'length')
    .map(({ keyScheme, key, signature, valid, statement }) => {
      const part = { key: { scheme: keyScheme, bytes: vectors.bytes(key) }, signature: vectors.bytes(signature) }
      return { job: { domain: statement.domain, message: statementMessage(statement), parts: [part] }, valid }
    })
}

const JUDGED = vectorJobs()
const GOOD = JUDGED.filter(({ valid }) => valid).map(({ job }) => job)
const BAD = JUDGED.filter(({ valid }) => !valid).map(({ job }) => job)

/** Jobs with a pattern of good and bad: job n is good if the number n has an even bit sum. */
function pattern(count: number): readonly Judged[] {
  return Array.from({ length: count }, (_, n) => {
    const valid = [...n.toString(2)].filter((bit) => bit === '1').length % 2 === 0
    const from = valid ? GOOD : BAD
    return { job: from[n % from.length] as SignatureJob, valid }
  })
}

const jobsOf = (judged: readonly Judged[]): readonly SignatureJob[] => judged.map(({ job }) => job)
const verdictsOf = (judged: readonly Judged[]): readonly boolean[] => judged.map(({ valid }) => valid)

const pool = new VerifyPool(2)
afterAll(() => pool.close())

describe('verification in threads', () => {
  it('gives the verdicts of the vectors, which are those of the same backend on the calling thread', async () => {
    expect([GOOD.length, BAD.length]).toEqual([10, 78])
    expect(JUDGED.map(({ job }) => verifyJob(NATIVE_BACKEND, job))).toEqual(verdictsOf(JUDGED))
    expect(await pool.verify(jobsOf(JUDGED))).toEqual(verdictsOf(JUDGED))
  })

  // Counts around the sizes of one check, of one chunk and of all chunks.
  it.each([0, 1, 2, 3, 4, 5, 8, 9, 31, 32, 33, 63, 257])(
    'gives %i verdicts in the order of the jobs',
    async (count) => {
      const judged = pattern(count)
      expect(await pool.verify(jobsOf(judged))).toEqual(verdictsOf(judged))
    },
  )

  it('gives every call its own verdicts, however many arrive in the same turn', async () => {
    const calls = Array.from({ length: 40 }, (_, i) => pattern(60).slice(i, i + (i % 5)))
    const answers = await Promise.all(calls.map((judged) => pool.verify(jobsOf(judged))))
    expect(answers).toEqual(calls.map(verdictsOf))
  })

  it('gives small calls their verdicts while a large one is under way', async () => {
    const large = pattern(200)
    const answer = pool.verify(jobsOf(large))
    await new Promise((resolve) => setImmediate(resolve))
    const small = pattern(12)
    for (const one of small) expect(await pool.verify([one.job])).toEqual([one.valid])
    expect(await answer).toEqual(verdictsOf(large))
  })

  it('wants every part of a job to be good, and at least one', async () => {
    const seeds = [1, 2, 3].map((fill) => new Uint8Array(32).fill(fill))
    const message = transactionMessage({ chainId: 1, genesis: filled(0x11) }, 3, filled<TxId>(0x22))
    const parts = seeds.map((seed, i) => {
      const scheme = i === 1 ? 2 : 1
      const key = walletKey(seed, scheme).keys.keys[0]!
      const context = signingContext('transaction')
      return { key, signature: signHybrid(NATIVE_BACKEND, { scheme, seed, message, context }) }
    })
    const [a, b, c] = parts as [(typeof parts)[0], (typeof parts)[0], (typeof parts)[0]]
    const broken = { ...b, signature: b.signature.map((byte, i) => (i === 2_000 ? byte ^ 1 : byte)) }
    const swapped = { key: a.key, signature: c.signature }
    const of = (...chosen: (typeof parts)[0][]): SignatureJob => ({ domain: 'transaction', message, parts: chosen })
    const cases = [
      [of(a, b, c), true],
      [of(a, broken, c), false],
      [of(broken), false],
      [of(), false],
      [of(swapped, b), false],
      [{ ...of(a, b), domain: 'text' as const }, false],
      [of(c, a), true],
      [{ ...of(a), message: new Uint8Array(0) }, false],
    ] as const
    expect(await pool.verify(cases.map(([job]) => job))).toEqual(cases.map(([, valid]) => valid))
    for (const [job, valid] of cases) expect(await pool.verify([job])).toEqual([valid])
  })

  it('gives the verdicts of the vectors of keys of tabs, one or many at once, in order', async () => {
    const { cases } = vectors('tab-signing')
    const judged = cases.map(({ key, message, signature, valid }) => {
      const job = { key: fromHex(key), message: fromHex(message), signature: fromHex(signature) }
      return { job, valid }
    })
    const many = Array.from({ length: 100 }, (_, n) => judged[(n * n) % judged.length] as (typeof judged)[number])
    for (const some of [judged, many, many.slice(0, 32), many.slice(0, 33), ...judged.map((one) => [one])])
      expect(await pool.verifyTabs(some.map(({ job }) => job))).toEqual(some.map(({ valid }) => valid))
  })

  it('takes messages of any length that a text has', async () => {
    const { keys } = walletKey(new Uint8Array(32).fill(9))
    const judged = [0, 1, 255, 256, 257, 1_000, 65_535].flatMap((length): Judged[] => {
      const message = new Uint8Array(length).fill(length & 255)
      const context = signingContext('text')
      const signature = signHybrid(NATIVE_BACKEND, { scheme: 1, seed: new Uint8Array(32).fill(9), message, context })
      const parts = [{ key: keys.keys[0]!, signature }]
      const longer = concat(message, new Uint8Array(1)).subarray(0, 65_535)
      return [
        { job: { domain: 'text', message, parts }, valid: true },
        { job: { domain: 'text', message: longer, parts }, valid: longer.length === length },
      ]
    })
    expect(await pool.verify(jobsOf(judged))).toEqual(verdictsOf(judged))
  })

  it('neither changes nor detaches its input, and reads views into larger buffers', async () => {
    const views = pattern(24).map(({ job, valid }) => {
      const embedded = (bytes: Uint8Array): Uint8Array =>
        concat(new Uint8Array(3), bytes, new Uint8Array(5)).subarray(3, 3 + bytes.length)
      const parts = job.parts.map(({ key, signature }) => ({
        key: { ...key, bytes: embedded(key.bytes) },
        signature: embedded(signature),
      }))
      return { job: { ...job, message: embedded(job.message), parts }, valid }
    })
    const seen = (): readonly string[] =>
      views.flatMap(({ job }) => [job.message, job.parts[0]!.key.bytes, job.parts[0]!.signature].map(toHex))
    const before = seen()
    expect(await pool.verify(jobsOf(views))).toEqual(verdictsOf(views))
    expect(seen()).toEqual(before)
  })

  it('serves a chain: a block of good signatures connects, one with a bad one among them does not', async () => {
    const source = await TestChain.open()
    const pay = SAMPLE.transfer({ to: wallet(9).address, amount: units(5_000) })
    const transactions = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => source.tx(wallet(n), 'transfer', pay)))
    const block = await source.build(transactions)
    const { body } = await source.tx(wallet(7), 'transfer', pay)
    const forged = await signTransaction(body, wallet(7), { chainId: 1, genesis: filled(0x11) })
    const bad = await source.build([...transactions, forged])
    const test = await TestChain.open(undefined, undefined, { verifier: pool })
    test.nowMs = source.nowMs
    const detail = { index: 6, reason: 'tx/bad-signature' }
    expect(await outcomeOf(test, bad)).toEqual({ code: 'block/transaction', detail })
    expect(await outcomeOf(test, block)).toBe('connected')
  })
})

describe('an error in the midst of verification', () => {
  const [good] = GOOD as [SignatureJob]
  const unreadable = {
    ...good,
    get parts(): never {
      throw new Error('no memory')
    },
  }
  // The message's length does not fit its field in a chunk, so the thread reads nonsense.
  const oversized = { ...good, message: new Uint8Array(70_000) }

  it.each([
    ['on the calling thread', [unreadable], 'no memory'],
    ['in a thread', Array.from({ length: 40 }, () => oversized), 'undefined'],
  ])('%s reaches the caller, and is no verdict', async (_, jobs, says) => {
    await expect(pool.verify(jobs)).rejects.toThrow(says)
    expect(await pool.verify(jobsOf(pattern(40)))).toEqual(verdictsOf(pattern(40)))
  })
})

describe('a pool that closes', () => {
  it('while busy leaves no call without an answer', async () => {
    const closing = new VerifyPool(1)
    const judged = pattern(400)
    const early = Array.from({ length: 4 }, () => closing.verify(jobsOf(judged)))
    await new Promise((resolve) => setImmediate(resolve))
    const late = Array.from({ length: 4 }, () => closing.verify(jobsOf(judged)))
    const outcomes = Promise.allSettled([...early, ...late])
    await closing.close()
    for (const outcome of await outcomes) {
      // An unfinished call gets an error. No verdict is made up.
      if (outcome.status === 'fulfilled') expect(outcome.value).toEqual(verdictsOf(judged))
      else expect(outcome.reason).toBeInstanceOf(Error)
    }
    expect((await outcomes).some(({ status }) => status === 'rejected')).toBe(true)
  })

  it.concurrent.each(['idle', 'busy'])('when %s lets the process end by itself', async (state) => {
    const program = runScript([
      `import { VerifyPool } from ${JSON.stringify(sourceUrl('src/workers/verify-pool.ts'))}`,
      'const pool = new VerifyPool(2)',
      'const jobs = Array.from({ length: 40 }, () => ({ domain: "text", message: new Uint8Array(9), parts: [] }))',
      'console.log((await pool.verify(jobs)).filter((good) => !good).length)',
      ...(state === 'busy' ? ['pool.verify(jobs).catch(() => console.log("told"))', 'await pool.close()'] : []),
      ...(state === 'idle' ? ['await pool.close()', 'await pool.close()'] : []),
      'setImmediate(() => console.log("closed"))',
    ])
    const { code, stdout, stderr } = await program.finished()
    expect([code, stdout.replace('told\n', ''), stderr]).toEqual([0, '40\nclosed\n', ''])
  })
})

import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import type { ExecutedBlock } from '../../consensus/chain/execution.ts'
import { signaturesAhead } from '../../consensus/chain/signatures-ahead.ts'
import type { TabSignature } from '../../consensus/crypto/tab-signing.ts'
import { OUTCOME_NUMBERS } from '../../consensus/ledger/outcome.ts'
import { runNow } from '../../consensus/primitives/steps.ts'
import type { ClaimEntry } from '../../consensus/tx/tab-payloads.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { VerifyPool } from '../../src/workers/verify-pool.ts'
import { runs } from '../support/runs.ts'
import { TabLedger, tabRuleBook } from '../support/tab-ledger.ts'
import { TabWalk } from '../support/tab-walk.ts'
import { unsigned } from '../support/unsigned.ts'
import { Dice } from '../support/walk.ts'

const BLOCKS = 40
const SIGNATURE_WRONG = OUTCOME_NUMBERS['tab/signature']

const pool = new VerifyPool(2)
afterAll(() => pool.close())

/** A ledger that counts the signatures that are verified while it executes. */
class CountingLedger extends TabLedger {
  readonly count: { verified: number }

  constructor() {
    const count = { verified: 0 }
    const verifyEd25519: typeof NATIVE_BACKEND.verifyEd25519 = (...parts) => {
      count.verified += 1
      return NATIVE_BACKEND.verifyEd25519(...parts)
    }
    super(tabRuleBook(6, { ...PROTOCOL, signatures: { ...NATIVE_BACKEND, verifyEd25519 } }))
    this.count = count
  }

  /** The signatures of the next block, without those that `keeps` leaves to execution, have their verdicts before it is executed. */
  async ahead(transactions: readonly Transaction[], keeps: () => boolean): Promise<readonly TabSignature[]> {
    const unknown = runNow(signaturesAhead(this.ruleBook, this.state, transactions))
    const kept = new Map([...unknown].filter(keeps))
    await this.ruleBook.tabVerdicts.checkAhead(kept, pool)
    return [...unknown.values()]
  }
}

/** The blocks of a random walk, in which some vouchers are not signed by the key, and some stand twice. */
function blocksOf(seed: number): readonly (readonly Transaction[])[] {
  const dice = new Dice(seed)
  const walk = new TabWalk(seed)
  const blocks: (readonly Transaction[])[] = []
  const { block } = walk.ledger
  walk.ledger.block = (transactions = [], ...rest) => {
    blocks.push(transactions.map((tx) => spoiled(tx, dice)))
    return block.call(walk.ledger, transactions, ...rest)
  }
  for (let i = 0; i < BLOCKS; i++) walk.block(8)
  return blocks
}

function spoiled(tx: Transaction, dice: Dice): Transaction {
  const { kind, sender, nonce, payload } = tx.body
  if (kind !== 'tab_claim') return tx
  const entries = payload.entries.flatMap((entry): readonly ClaimEntry[] => {
    if (dice.chance(0.1)) return [entry, entry]
    if (dice.chance(0.7)) return [entry]
    const signature = (bytes: Uint8Array): Uint8Array =>
      bytes.map((byte, i) => (i === dice.below(64) ? byte ^ 1 : byte))
    return [{ ...entry, voucher: entry.voucher.map((one) => ({ ...one, signature: signature(one.signature) })) }]
  })
  return unsigned('tab_claim', { entries }, { sender, nonce })
}

/** What a block did, for comparison. */
const effects = ({ receiptsRoot, changes }: ExecutedBlock) => ({ receiptsRoot, changes })

it('blocks of claims have the same effects whether their vouchers were checked ahead in threads, in part, or not at all', async () => {
  const codes = new Set<number>()
  let ahead = 0
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      const [all, part, none] = [new CountingLedger(), new CountingLedger(), new CountingLedger()]
      const dice = new Dice(seed)
      for (const transactions of blocksOf(seed)) {
        const jobs = await all.ahead(transactions, () => true)
        const vouchers = transactions.flatMap(({ body: { kind, payload } }) =>
          kind === 'tab_claim' ? payload.entries.flatMap(({ voucher }) => voucher) : [],
        )
        expect(jobs.length).toBeLessThanOrEqual(vouchers.length)
        ahead += jobs.length
        await part.ahead(transactions, () => dice.chance(0.5))
        const block = none.block(transactions)
        expect(effects(all.block(transactions))).toEqual(effects(block))
        expect(effects(part.block(transactions))).toEqual(effects(block))
        for (const receipt of block.receipts)
          if (receipt.type === 'transaction') for (const code of receipt.entries) codes.add(code)
      }
      expect(all.count.verified).toBe(0)
    }),
    { numRuns: runs(6) },
  )
  if (runs(6) < 6) return
  expect(ahead).toBeGreaterThan(500)
  expect(codes).toContain(0)
  expect(codes).toContain(SIGNATURE_WRONG)
})

it('verdicts that the threads fail to give are found by execution', async () => {
  const ledger = new CountingLedger()
  const entry = ledger.entry(ledger.openTab())
  const tx = ledger.tx(ledger.tab(entry.tabId).payer, 'tab_claim', { entries: [entry] })
  const unknown = runNow(signaturesAhead(ledger.ruleBook, ledger.state, [tx]))
  expect(unknown.size).toBe(1)
  const gone = { verify: () => Promise.reject(new Error('gone')), verifyTabs: () => Promise.reject(new Error('gone')) }
  await ledger.ruleBook.tabVerdicts.checkAhead(unknown, gone)
  expect(ledger.codes([entry])).toEqual([0])
  expect(ledger.count.verified).toBe(1)
  expect(runNow(signaturesAhead(ledger.ruleBook, ledger.state, [tx])).size).toBe(0)
})

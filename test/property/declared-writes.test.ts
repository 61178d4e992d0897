import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { executeBlock } from '../../consensus/chain/execution.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { createRuleBook, type Protocol } from '../../consensus/chain/rule-book.ts'
import { ACCOUNTS } from '../../consensus/ledger/account.ts'
import type { KindHandler, KindHandlers } from '../../consensus/ledger/module.ts'
import { runNow } from '../../consensus/primitives/steps.ts'
import { MemoryState } from '../../consensus/state/view.ts'
import { TX_KIND_NAMES, type TxKind } from '../../consensus/tx/kinds.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { declaredWrites } from '../../consensus/tx/weight.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { blocksFrom } from '../support/branches.ts'
import type { TestChain } from '../support/chain.ts'
import { Differential, freePow } from '../support/differential.ts'
import { Player, plansArbitrary, Seen } from '../support/plans.ts'
import { paramsArbitrary } from '../support/random-networks.ts'
import { runs } from '../support/runs.ts'

const RUNS = 20

/** Chains that start every run. On them every kind succeeds. */
const FIRST = fc.sample(fc.tuple(paramsArbitrary, plansArbitrary), { seed: 5, numRuns: RUNS })

/** The program's protocol. For every payload that succeeds it reports the number of written records, the sender's account included. */
function tellingProtocol(tell: (tx: Transaction, writes: number) => void): Protocol {
  const handlers = TX_KIND_NAMES.map((kind) => {
    const handler = PROTOCOL.handlers[kind] as unknown as KindHandler<TxKind>
    const apply: KindHandler<TxKind>['apply'] = (context, tx) => {
      const mark = context.overlay.mark()
      const failure = handler.apply(context, tx)
      const written = new Set<string>(context.overlay.changesSince(mark).map(({ key }) => key))
      if (failure === null) tell(tx, written.add(ACCOUNTS.key(tx.body.sender)).size)
      return failure
    }
    return [kind, { ...handler, apply }]
  })
  return { ...PROTOCOL, handlers: Object.fromEntries(handlers) as unknown as KindHandlers }
}

/** Executes the best chain again. */
function replay(params: NetworkParams, test: TestChain, tell: (tx: Transaction, writes: number) => void): void {
  const ruleBook = createRuleBook(params, tellingProtocol(tell))
  const state = new MemoryState()
  state.apply(ruleBook.genesis.changes)
  for (const block of blocksFrom(test, 1)) {
    const executed = runNow(executeBlock(ruleBook, state, block))
    if (!executed.ok) throw new Error(executed.fault.code)
    state.apply(executed.value.changes)
  }
}

describe('the writes that a kind declares', () => {
  it('bound the records that any transaction of it writes, over random chains', { timeout: 10_000_000 }, async () => {
    const met = new Set<TxKind>()
    await fc.assert(
      fc.asyncProperty(paramsArbitrary, plansArbitrary, async (params, plans) => {
        const pair = await Differential.open(params, freePow)
        const player = new Player(pair, new Seen())
        await player.prepare()
        for (const plan of plans) await player.play(plan)
        replay(params, pair.test, (tx, writes) => {
          const { kind } = tx.body
          expect(writes, kind).toBeLessThanOrEqual(declaredWrites(tx.body))
          met.add(kind)
        })
      }),
      { numRuns: runs(RUNS), examples: FIRST },
    )
    // A kind that never succeeds proves nothing.
    if (runs(RUNS) >= RUNS) expect([...met].sort()).toEqual([...TX_KIND_NAMES].sort())
  })
})

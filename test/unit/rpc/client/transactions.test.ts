import { expect, it } from 'vitest'
import { MAINNET } from '../../../../config/networks/mainnet.ts'
import { weightOf } from '../../../../consensus/tx/weight.ts'
import { feeOf, rulesOf } from '../../../../rpc/client/transactions.ts'
import { SAMPLE, unsigned } from '../../../support/unsigned.ts'

it('a fee is counted by the rules of the last step, whatever held before', () => {
  const [{ rules }] = MAINNET.steps as [(typeof MAINNET.steps)[number]]
  const dear = { ...rules, tx: { ...rules.tx, weight: { ...rules.tx.weight, perSignature: 1_000_000 } } }
  const params = { steps: [{ rules }, { rules: dear }] }
  const tx = unsigned('transfer', SAMPLE.transfer(), { maxFeeRate: 3n })
  expect(rulesOf(params)).toBe(dear)
  expect(feeOf(params, tx)).toBe(BigInt(weightOf(tx, dear.tx)) * 3n)
})

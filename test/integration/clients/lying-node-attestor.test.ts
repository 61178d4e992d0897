import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { DEVNET } from '../../../config/networks/devnet.ts'
import { transactionToJson } from '../../../consensus/tx/json.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { type Json, LyingNode } from '../../support/lying-node.ts'
import { SAMPLE, units, unsigned } from '../../support/unsigned.ts'

const node = new LyingNode()
beforeAll(() => node.open())
afterAll(() => node.close())
beforeEach(() => node.reset())

/** Number of the network Base, and two recipients there. */
const BASE = 1
const RECIPIENT = '0x00000000219ab540356cBB839Cbe05303d7705Fa'
const THIEF = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const withdrawal = (recipient: string, amount: bigint): Transaction =>
  unsigned('bridge_withdraw', { network: BASE, amount: units(amount), recipient })
const ASKED = withdrawal(RECIPIENT, 25_000_000n)

/** Asks a committee member to sign a withdrawal. `told` is what the node says of it. */
function sign(told: Json, tx: Transaction = ASKED) {
  const receives = { symbol: 'XUSD', decimals: 6, units: '24975000' }
  const record = { network: { number: BASE }, recipient: RECIPIENT, receives, status: 'pending' }
  node.says(`/api/v1/bridge/withdrawals/${ASKED.txId}`, { withdrawal: { ...record, ...told } })
  node.says(`/api/v1/tx/${ASKED.txId}`, { transaction: transactionToJson(DEVNET.addressPrefix, tx) })
  return node.run('attestor', 'sign', 'sign', ASKED.txId, '--dev-member', '8', '--epoch', '0', '--key-index', '0')
}

it('a member is shown what the withdrawal with that id asks for', async () => {
  const { end, notes, prints } = await sign({})
  expect(end).toBe(0)
  expect(notes).toContain(`24.975 XUSD to ${RECIPIENT} on Base`)
  expect(prints).toHaveLength(1)
})

it('made-up decimals of a node do not change what is shown', async () => {
  const { notes } = await sign({ receives: { symbol: 'XUSD', decimals: 2, units: '24975000' } })
  expect(notes).toContain(`24.975 XUSD to ${RECIPIENT} on Base`)
})

it.each<readonly [string, Json, Transaction]>([
  ['another recipient', { recipient: THIEF }, ASKED],
  ['another amount', { receives: { symbol: 'XUSD', decimals: 6, units: '24975000000' } }, ASKED],
  ['another network', { network: { number: 0 } }, ASKED],
  ['another transaction under its id', { recipient: THIEF }, withdrawal(THIEF, 25_000_000n)],
  ['a transaction of another kind', {}, unsigned('transfer', SAMPLE.transfer())],
])('no member signs where a node says %s', async (_, told, tx) => {
  const { fault, prints } = await sign(told, tx)
  expect(fault?.code).toBe('cli/refused')
  expect(prints).toEqual([])
})

it('no member signs if the node has no transaction with that id', async () => {
  await sign({})
  node.says(`/api/v1/tx/${ASKED.txId}`, { status: 'unknown' })
  const again = await node.run(
    'attestor',
    'sign',
    'sign',
    ASKED.txId,
    '--dev-member',
    '8',
    '--epoch',
    '0',
    '--key-index',
    '0',
  )
  expect([again.fault?.code, again.prints]).toEqual(['cli/refused', []])
})

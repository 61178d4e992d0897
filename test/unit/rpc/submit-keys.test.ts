import { describe, expect, it } from 'vitest'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok } from '../../../consensus/primitives/result.ts'
import { encodeTransaction, type Transaction } from '../../../consensus/tx/transaction.ts'
import { submitTransaction } from '../../../rpc/handlers/chain.ts'
import { TestChain, wallet } from '../../support/chain.ts'

const PAY = { to: wallet(2).address, amount: 1_000n, create: false } as never

/** A node that accepts a transaction only when it has the sender's keys, and its requests to peers. */
async function nodeWithoutKeys(peersHaveThem: boolean) {
  const { chain } = await TestChain.open()
  const asked: string[] = []
  let known = false
  const mempool = {
    submit: async (tx: Transaction) => (known ? ok(tx) : fail(fault('tx/keys-missing'))),
  }
  const fetchKeys = async (address: string): Promise<boolean> => {
    asked.push(address)
    known = peersHaveThem
    return peersHaveThem
  }
  return { node: { chain, mempool, fetchKeys } as never, asked }
}

async function submit(node: never) {
  const test = await TestChain.open()
  const tx = await test.tx(wallet(1), 'transfer', PAY)
  const request = { body: encodeTransaction(tx), params: {}, query: {}, accept: '' }
  return { tx, answered: await submitTransaction(node, request as never) }
}

describe('a transaction whose sender keys are missing here', () => {
  it('is taken once a peer gave them', async () => {
    const { node, asked } = await nodeWithoutKeys(true)
    const { tx, answered } = await submit(node)
    expect(answered).toMatchObject({ status: 200, json: { txId: tx.txId, status: 'mempool', known: false } })
    expect(asked).toEqual([tx.body.sender])
  })

  it('is refused with advice if no peer has them, after asking once', async () => {
    const { node, asked } = await nodeWithoutKeys(false)
    const { answered } = await submit(node)
    expect(answered).toMatchObject({ code: 'tx/keys-missing' })
    expect(asked).toHaveLength(1)
  })
})

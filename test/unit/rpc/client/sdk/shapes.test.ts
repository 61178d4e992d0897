import { expect, it } from 'vitest'
import type { PaidCallStatus, Receipt, RefundState, ServiceEntry } from '../../../../../rpc/client/sdk/shapes.ts'
import { type ENTRY, type RECEIPT, REFUND, type REQUEST_STATUS } from '../../../../../rpc/contract/market.ts'
import type { Static } from '../../../../../rpc/contract/schema.ts'

/** The members of an answer, all of them required and none undefined: JSON has no undefined. */
type There<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> }

// The published types import nothing, so they are written by hand. These lines do not compile if the contract differs.
const SHAPES = {
  receipt: (answer: There<Static<typeof RECEIPT>>): Receipt => answer,
  entry: (answer: There<Static<typeof ENTRY>>): ServiceEntry => answer,
  status: (answer: There<Static<typeof REQUEST_STATUS>>): PaidCallStatus => answer,
  refund: (answer: There<Static<typeof REFUND>>): RefundState => answer,
}

it('the shape of a refund has the members that the contract has', () => {
  const members = ['amount', 'asset', 'reason', 'status', 'statusUrl', 'to', 'txId'] satisfies (keyof RefundState)[]
  expect(Object.keys(REFUND.properties).sort()).toEqual(members)
  expect(Object.keys(SHAPES)).toHaveLength(4)
})

import { expect, it } from 'vitest'
import { keccak } from '../../../../../../../consensus/external/eip712.ts'
import { toHex } from '../../../../../../../consensus/primitives/bytes.ts'
import {
  claimCall,
  depositCall,
  manyCalls,
  refundCall,
  settleCall,
} from '../../../../../../../marketplace/till/rails/dollar/channel/calldata.ts'

const address = (digit: string): string => `0x${digit.repeat(40)}`
const CONFIG = {
  payer: address('1'),
  payerAuthorizer: address('2'),
  receiver: address('3'),
  receiverAuthorizer: address('4'),
  token: address('5'),
  withdrawDelay: 900,
  salt: `0x${'06'.repeat(32)}`,
}
const SIGNATURE = `0x${'ab'.repeat(65)}`
/** A contract's signature, which fills whole words. */
const LONGER = `0x${'cd'.repeat(96)}`
const DEPOSIT = { amount: 5n, validAfter: 0n, validBefore: 9n, salt: `0x${'07'.repeat(32)}`, signature: SIGNATURE }
const row = (signature: string, totalClaimed: bigint) => ({
  config: CONFIG,
  maxClaimable: 1_000n,
  signature,
  totalClaimed,
})

it('is what viem 2.57.1 encodes', () => {
  const claim = claimCall([row(SIGNATURE, 700n), row(LONGER, 1_000n)], SIGNATURE)
  const refund = refundCall(CONFIG, { amount: 50n, nonce: 3n }, SIGNATURE)
  const calls = {
    deposit: depositCall(CONFIG, DEPOSIT),
    claim,
    settle: settleCall(CONFIG.receiver, CONFIG.token),
    refund,
    many: manyCalls([claim, refund]),
  }
  expect(Object.fromEntries(Object.entries(calls).map(([name, data]) => [name, toHex(keccak(data))]))).toEqual({
    deposit: '2b7d91f26a50b51b5ef75701a9ba0eccb1cd365d86bab83d57fc77757b46bd29',
    claim: '3ba1ad472c6d71d80e8c25d0ed025f780757edd44ce4aeb3262c9a952fb260e1',
    settle: '4677973b8a3a8e4dc4365704f8b41e0aff028f920420550b575d713203f3e72c',
    refund: '62a25c257c74c0c6ca04f3fad09ae657f210359df92bf206a577580fffaed540',
    many: '531100085576063e0393fbc3c39ae7a0d40c94f283aa7a63dc97878f2da0a5fc',
  })
})

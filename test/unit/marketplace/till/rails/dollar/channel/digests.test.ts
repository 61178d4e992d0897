import { expect, it } from 'vitest'
import { toHex } from '../../../../../../../consensus/primitives/bytes.ts'
import {
  channelIdOf,
  claimDigest,
  depositDigest,
  refundDigest,
  voucherDigest,
} from '../../../../../../../marketplace/till/rails/dollar/channel/digests.ts'
import { TERMS } from '../../../../../../support/dollar.ts'

const CHAIN_ID = 84_532
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
const DEPOSIT = { amount: 5n, validAfter: 0n, validBefore: 9n, salt: `0x${'07'.repeat(32)}`, signature: '' }

/** As viem 2.57.1 and @x402/evm 2.27.0 compute them. */
const EXPECTED = {
  id: 'cf474c1e7b720338ee8bfe82ab6d1a2b7091f70837293396f01e8c023d730f69',
  voucher: '393f72aa6e88310dc1452cc456ee93e4dc09197d100b50b9298a23d77c5de9f3',
  refund: '5411fc1d3003474ab61b0519244fafef9e7d16d5db04c24756fc1b61678c3fe3',
  claim: '9b3e05810fdbec44286cc59c8a8ff9a10bc850a1c5c7925f6d89b3eea798d189',
  deposit: 'a08d86d3d03079e0d38afb39c222669eed0d49c159b819b61d29119e0c53a257',
}

it('are those that wallets and the contract compute', () => {
  const channelId = channelIdOf(CHAIN_ID, CONFIG)
  const row = { config: CONFIG, maxClaimable: 1_000n, signature: '', totalClaimed: 700n }
  expect({
    id: channelId.slice(2),
    voucher: toHex(voucherDigest(CHAIN_ID, { channelId, maxClaimable: 1_000n })),
    refund: toHex(refundDigest(CHAIN_ID, { channelId, nonce: 3n, amount: 50n })),
    claim: toHex(claimDigest(CHAIN_ID, [row, { ...row, totalClaimed: 1_000n }])),
    deposit: toHex(depositDigest(TERMS, CONFIG.payer, { channelId, deposit: DEPOSIT })),
  }).toEqual(EXPECTED)
})

it('differ by chain, and by every part of a channel', () => {
  const changes = [
    ...(['payer', 'payerAuthorizer', 'receiver', 'receiverAuthorizer', 'token'] as const).map((name) => ({
      [name]: address('9'),
    })),
    { withdrawDelay: 901 },
    { salt: `0x${'00'.repeat(32)}` },
  ]
  const ids = [
    channelIdOf(CHAIN_ID, CONFIG),
    channelIdOf(1, CONFIG),
    ...changes.map((change) => channelIdOf(CHAIN_ID, { ...CONFIG, ...change })),
  ]
  expect(new Set(ids).size).toBe(9)
})

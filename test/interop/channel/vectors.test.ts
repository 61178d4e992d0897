import { BatchSettlementEvmScheme, computeChannelId } from '@x402/evm/batch-settlement/client'
import fc from 'fast-check'
import { type Hex, hashTypedData, recoverTypedDataAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { signDigest } from '../../../consensus/external/eip712.ts'
import { fromHex, toHex } from '../../../consensus/primitives/bytes.ts'
import { CHANNEL_CONTRACT, type ChannelConfig } from '../../../marketplace/till/rails/dollar/channel/channel.ts'
import {
  checkChannel,
  checkDeposit,
  checkVoucherSignature,
  isOwnDeposit,
  offeredAmount,
} from '../../../marketplace/till/rails/dollar/channel/checks.ts'
import {
  channelIdOf,
  claimDigest,
  refundDigest,
  voucherDigest,
} from '../../../marketplace/till/rails/dollar/channel/digests.ts'
import { readChannelPayment } from '../../../marketplace/till/rails/dollar/channel/payment.ts'
import { channelOffer } from '../../../marketplace/till/rails/dollar/channel/terms.ts'
import { paymentJson } from '../../../marketplace/till/rails/dollar/channel/wire.ts'
import { CHANNEL_TERMS } from '../../support/channel.ts'
import { runs } from '../../support/runs.ts'

/** Our digests and readers beside those of viem and the official package, for channels of any kind. */
const RUNS = runs(50)
const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((some): Hex => `0x${toHex(some)}`)
const uint = (bits: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n })
const key = fc.uint8Array({ minLength: 31, maxLength: 31 }).map((some): Hex => `0x01${toHex(some)}`)
const chainId = fc.integer({ min: 1, max: 2 ** 31 })
const config = fc.record({
  payer: bytes(20),
  payerAuthorizer: bytes(20),
  receiver: bytes(20),
  receiverAuthorizer: bytes(20),
  token: bytes(20),
  withdrawDelay: fc.integer({ min: 900, max: 2_592_000 }),
  salt: bytes(32),
})

const ENTRY = [
  { name: 'channelId', type: 'bytes32' },
  { name: 'maxClaimableAmount', type: 'uint128' },
  { name: 'totalClaimed', type: 'uint128' },
]
const TYPES = {
  Voucher: ENTRY.slice(0, 2),
  Refund: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'nonce', type: 'uint256' },
    { name: 'amount', type: 'uint128' },
  ],
  ClaimBatch: [{ name: 'claims', type: 'ClaimEntry[]' }],
  ClaimEntry: ENTRY,
}
const hashed = (id: number, primaryType: keyof typeof TYPES, message: object): Hex =>
  hashTypedData({
    domain: { name: 'x402 Batch Settlement', version: '1', chainId: id, verifyingContract: CHANNEL_CONTRACT },
    types: TYPES,
    primaryType,
    message: message as never,
  })
const hex = (digest: Uint8Array): Hex => `0x${toHex(digest)}`

it('computes the id of a channel, and the digests of a voucher, a refund and a claim', () => {
  const row = fc.record({ config, maxClaimable: uint(128), totalClaimed: uint(128) })
  const rows = fc.array(row, { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(chainId, rows, uint(256), (id, some, nonce) => {
      const claims = some.map(({ config: of, maxClaimable, totalClaimed }) => {
        const channelId = computeChannelId(of as never, id)
        expect(channelIdOf(id, of)).toBe(channelId)
        expect(hex(voucherDigest(id, { channelId, maxClaimable }))).toBe(
          hashed(id, 'Voucher', { channelId, maxClaimableAmount: maxClaimable }),
        )
        const amount = totalClaimed
        expect(hex(refundDigest(id, { channelId, nonce, amount }))).toBe(
          hashed(id, 'Refund', { channelId, nonce, amount }),
        )
        return { channelId, maxClaimableAmount: maxClaimable, totalClaimed }
      })
      const signed = some.map((one) => ({ ...one, signature: '0x' }))
      expect(hex(claimDigest(id, signed))).toBe(hashed(id, 'ClaimBatch', { claims }))
    }),
    { numRuns: RUNS },
  )
})

it('signs a claim as wallets do', async () => {
  await fc.assert(
    fc.asyncProperty(key, config, uint(128), async (secret, of: ChannelConfig, total) => {
      const rows = [{ config: of, maxClaimable: total, signature: '0x', totalClaimed: total }]
      const signature = signDigest(fromHex(secret.slice(2)), claimDigest(84_532, rows)) as Hex
      const claims = [{ channelId: channelIdOf(84_532, of), maxClaimableAmount: total, totalClaimed: total }]
      const domain = {
        name: 'x402 Batch Settlement',
        version: '1',
        chainId: 84_532,
        verifyingContract: CHANNEL_CONTRACT,
      } as const
      const signer = await recoverTypedDataAddress({
        domain,
        types: TYPES,
        primaryType: 'ClaimBatch',
        message: { claims } as never,
        signature,
      })
      expect(signer).toBe(privateKeyToAccount(secret).address)
    }),
    { numRuns: Math.ceil(RUNS / 5) },
  )
})

it('reads and verifies what the official client signs for any offer, and passes it on as it was', async () => {
  const some = fc.record({ payer: key, session: fc.option(key), salt: bytes(32), amount: uint(100).map((n) => n + 1n) })
  await fc.assert(
    fc.asyncProperty(some, async ({ payer, session, salt, amount }) => {
      const voucherSigner = session === null ? {} : { voucherSigner: privateKeyToAccount(session) }
      const client = new BatchSettlementEvmScheme(privateKeyToAccount(payer), { salt, ...voucherSigner } as never)
      const accepted = channelOffer(CHANNEL_TERMS, amount)
      const made = await client.createPaymentPayload(2, accepted as never)
      const read = readChannelPayment({ ...made, accepted }, 'the header', CHANNEL_TERMS)
      if (!read.ok || read.value.kind !== 'deposit') throw new Error(JSON.stringify(read))
      const payment = read.value
      expect(JSON.stringify(paymentJson(payment)).toLowerCase()).toBe(
        JSON.stringify(sorted(made.payload)).toLowerCase(),
      )
      expect(offeredAmount(payment, CHANNEL_TERMS, [amount])).toEqual({ ok: true, value: amount })
      expect(checkChannel(payment, CHANNEL_TERMS)).toBeNull()
      expect(checkVoucherSignature(payment, CHANNEL_TERMS)).toBeNull()
      expect(checkDeposit(payment, CHANNEL_TERMS, Date.now())).toBeNull()
      expect(isOwnDeposit({ ...payment, channelId: payment.voucher.channelId }, CHANNEL_TERMS)).toBe(true)
      const dearer = { ...payment, voucher: { ...payment.voucher, maxClaimable: payment.voucher.maxClaimable + 1n } }
      expect(checkVoucherSignature(dearer, CHANNEL_TERMS)?.code).toBe('channel/signature')
    }),
    { numRuns: Math.ceil(RUNS / 5) },
  )
})

/** The same payload with its members in our order. */
function sorted(payload: Readonly<Record<string, unknown>>): object {
  const { type, channelConfig, voucher, ...more } = payload
  return { type, channelConfig, voucher, ...more }
}

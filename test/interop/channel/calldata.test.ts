import fc from 'fast-check'
import {
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { signTransaction } from '../../../consensus/external/evm-transaction.ts'
import { fromHex, toHex } from '../../../consensus/primitives/bytes.ts'
import {
  claimCall,
  depositCall,
  manyCalls,
  refundCall,
  settleCall,
} from '../../../marketplace/till/rails/dollar/channel/calldata.ts'
import { DEPOSIT_COLLECTOR } from '../../../marketplace/till/rails/dollar/channel/channel.ts'
import { runs } from '../../support/runs.ts'
import { SETTLEMENT_ABI } from '../evm/settlement.ts'

/** Our calls and transactions beside those of viem. */
const bytes = (minLength: number, maxLength = minLength) =>
  fc.uint8Array({ minLength, maxLength }).map((some): Hex => `0x${toHex(some)}`)
const uint = (bits: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n })
const config = fc.record({
  payer: bytes(20),
  payerAuthorizer: bytes(20),
  receiver: bytes(20),
  receiverAuthorizer: bytes(20),
  token: bytes(20),
  withdrawDelay: fc.integer({ min: 0, max: 2 ** 40 - 1 }),
  salt: bytes(32),
})
const row = fc.record({ config, maxClaimable: uint(128), signature: bytes(65, 200), totalClaimed: uint(128) })
const deposit = fc.record({
  amount: uint(128),
  validAfter: uint(256),
  validBefore: uint(256),
  salt: bytes(32),
  signature: bytes(65, 200),
})
const hex = (data: Uint8Array): Hex => `0x${toHex(data)}`
const encode = (functionName: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: [...SETTLEMENT_ABI], functionName, args } as never)
const UINTS = [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }] as const

it('writes the calls of the contract', () => {
  fc.assert(
    fc.property(
      config,
      deposit,
      fc.array(row, { maxLength: 4 }),
      uint(128),
      bytes(65),
      (of, said, rows, amount, proof) => {
        const { validAfter, validBefore, salt, signature } = said
        const data = encodeAbiParameters(UINTS, [validAfter, validBefore, BigInt(salt), signature])
        expect(hex(depositCall(of, said))).toBe(encode('deposit', [of, said.amount, DEPOSIT_COLLECTOR, data]))
        const claims = rows.map((one) => ({
          voucher: { channel: one.config, maxClaimableAmount: one.maxClaimable },
          signature: one.signature,
          totalClaimed: one.totalClaimed,
        }))
        const claim = claimCall(rows, proof)
        expect(hex(claim)).toBe(encode('claimWithSignature', [claims, proof]))
        const refund = refundCall(of, { amount, nonce: said.validAfter }, proof)
        expect(hex(refund)).toBe(encode('refundWithSignature', [of, amount, said.validAfter, proof]))
        expect(hex(settleCall(of.receiver, of.token))).toBe(encode('settle', [of.receiver, of.token]))
        expect(hex(manyCalls([claim, refund]))).toBe(encode('multicall', [[hex(claim), hex(refund)]]))
      },
    ),
    { numRuns: runs(100) },
  )
})

it('signs transactions that chains take', async () => {
  const transaction = fc.record({
    chainId: fc.integer({ min: 1, max: 2 ** 31 }),
    nonce: uint(40),
    priorityFee: uint(60),
    more: uint(60),
    gas: uint(30),
    to: bytes(20),
    data: bytes(0, 300),
  })
  const key = bytes(31).map((some): Hex => `0x01${some.slice(2)}`)
  await fc.assert(
    fc.asyncProperty(key, transaction, async (secret, { more, data, ...said }) => {
      const maxFee = said.priorityFee + more
      const { raw, hash } = signTransaction(fromHex(secret.slice(2)), { ...said, maxFee, data: fromHex(data.slice(2)) })
      const parsed = parseTransaction(raw as Hex)
      expect(await recoverTransactionAddress({ serializedTransaction: raw as never })).toBe(
        privateKeyToAccount(secret).address,
      )
      expect(hash).toBe(keccak256(raw as Hex))
      expect([parsed.chainId, parsed.to, parsed.data ?? '0x']).toEqual([said.chainId, said.to, data])
      expect([
        parsed.nonce ?? 0,
        parsed.gas ?? 0n,
        parsed.maxFeePerGas ?? 0n,
        parsed.maxPriorityFeePerGas ?? 0n,
      ]).toEqual([Number(said.nonce), said.gas, maxFee, said.priorityFee])
    }),
    { numRuns: runs(50) },
  )
})

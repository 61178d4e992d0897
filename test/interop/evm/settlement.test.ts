import { encodeAbiParameters, type Hex, keccak256, toHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEPOSIT_COLLECTOR, NO_ADDRESS } from '../../../marketplace/till/rails/dollar/channel/channel.ts'
import { mirrored, nowSeconds } from './authorization.ts'
import { LocalChain } from './chain.ts'
import { LocalSettlement } from './settlement.ts'
import { TOKEN_DOMAIN } from './token.ts'

/** The rules of the double, as the facts say of the real contract: the tests of the channel rail rest on them. */
let chain: LocalChain
let settlement: LocalSettlement
beforeAll(async () => {
  chain = await LocalChain.start()
  settlement = await LocalSettlement.on(chain)
})
afterAll(() => chain?.close())

const FUNDS = 10_000n
const RECEIVE = [
  'address from',
  'address to',
  'uint256 value',
  'uint256 validAfter',
  'uint256 validBefore',
  'bytes32 nonce',
]
const membersOf = (types: readonly string[]) =>
  types.map((text) => ({ type: text.split(' ')[0], name: text.split(' ')[1] }))

type Config = Awaited<ReturnType<typeof newConfig>>
let receiver: PrivateKeyAccount
let authorizer: PrivateKeyAccount
let payer: PrivateKeyAccount
let config: Config
let id: Hex

async function newConfig(change: object = {}) {
  return {
    payer: payer.address,
    payerAuthorizer: payer.address as Hex,
    receiver: receiver.address,
    receiverAuthorizer: authorizer.address,
    token: chain.network.token,
    withdrawDelay: 900,
    salt: toHex(0, { size: 32 }),
    ...change,
  }
}

beforeEach(async () => {
  receiver = chain.newKey()
  authorizer = chain.newKey()
  payer = await chain.payer(FUNDS)
  config = await newConfig()
  id = await settlement.read.getChannelId([config])
})

/** Data for the collector, signed by the payer for one channel. */
async function depositData(channelId: Hex, amount: bigint, salt: bigint): Promise<Hex> {
  const validBefore = BigInt(nowSeconds() + 3_600)
  const nonce = keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [channelId, salt]))
  const signature = await payer.signTypedData({
    domain: { ...TOKEN_DOMAIN, chainId: chain.network.chainId, verifyingContract: chain.network.token },
    types: { ReceiveWithAuthorization: membersOf(RECEIVE) as never },
    primaryType: 'ReceiveWithAuthorization',
    message: { from: payer.address, to: DEPOSIT_COLLECTOR, value: amount, validAfter: 0n, validBefore, nonce },
  } as never)
  const types = [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }] as const
  return encodeAbiParameters(types, [0n, validBefore, salt, signature])
}

async function deposit(amount: bigint, of: Config = config, salt = 1n): Promise<void> {
  const channelId = await settlement.read.getChannelId([of])
  await settlement.call(
    chain.newKey(),
    'deposit',
    of,
    amount,
    DEPOSIT_COLLECTOR,
    await depositData(channelId, amount, salt),
  )
}

/** A row that claims `totalClaimed` of a voucher of `ceiling`. */
async function row(ceiling: bigint, totalClaimed: bigint, { of = config, by = payer } = {}) {
  const channelId = await settlement.read.getChannelId([of])
  const signature = await by.sign({ hash: await settlement.read.getVoucherDigest([channelId, ceiling]) })
  return { voucher: { channel: of, maxClaimableAmount: ceiling }, signature, totalClaimed }
}

async function claimSigned(rows: readonly Awaited<ReturnType<typeof row>>[], by = authorizer): Promise<void> {
  const signature = await by.sign({ hash: await settlement.read.getClaimBatchDigest([rows]) })
  await settlement.call(chain.newKey(), 'claimWithSignature', rows, signature)
}

describe('a deposit', () => {
  it("moves the payer's money into the channel, once for each authorization", async () => {
    await deposit(4_000n)
    await deposit(1_000n, config, 2n)
    expect(await settlement.channel(id)).toEqual({
      balance: 5_000n,
      totalClaimed: 0n,
      withdrawing: 0n,
      refundNonce: 0n,
    })
    expect(await chain.balance(payer.address)).toBe(5_000n)
    await expect(deposit(1_000n, config, 2n)).rejects.toThrow('used or canceled')
  })

  it('cannot be led into another channel, nor be collected by a stranger', async () => {
    const other = await newConfig({ salt: toHex(1, { size: 32 }) })
    const data = await depositData(id, 1_000n, 1n)
    const stranger = chain.newKey()
    await expect(settlement.call(stranger, 'deposit', other, 1_000n, DEPOSIT_COLLECTOR, data)).rejects.toThrow(
      'invalid signature',
    )
    await expect(settlement.call(stranger, 'deposit', config, 999n, DEPOSIT_COLLECTOR, data)).rejects.toThrow(
      'invalid signature',
    )
  })

  it.each([
    [{ withdrawDelay: 899 }, 'withdraw delay'],
    [{ withdrawDelay: 2_592_001 }, 'withdraw delay'],
    [{ receiverAuthorizer: NO_ADDRESS }, 'receiver authorizer'],
    [{ receiver: NO_ADDRESS }, 'address'],
  ])('of %j is refused', async (change, why) => {
    await expect(deposit(1_000n, (await newConfig(change)) as Config)).rejects.toThrow(why)
  })

  it.each([900, 2_592_000])('with a delay of %d s is taken', async (withdrawDelay) => {
    await deposit(1_000n, (await newConfig({ withdrawDelay })) as Config)
  })

  it('of nothing is refused', async () => {
    await expect(deposit(0n)).rejects.toThrow('nothing to deposit')
  })
})

describe('a claim', () => {
  beforeEach(() => deposit(5_000n))

  it('books, and only a settlement pays out, both to the unit', async () => {
    await claimSigned([await row(4_000n, 3_000n)])
    expect(await settlement.channel(id)).toMatchObject({ balance: 5_000n, totalClaimed: 3_000n })
    expect(await chain.balance(receiver.address)).toBe(0n)
    await settlement.call(chain.newKey(), 'settle', receiver.address, chain.network.token)
    expect(await chain.balance(receiver.address)).toBe(3_000n)
    expect(await settlement.receiver(receiver.address)).toEqual([3_000n, 3_000n])
    await settlement.call(chain.newKey(), 'settle', receiver.address, chain.network.token)
    expect(await chain.balance(receiver.address)).toBe(3_000n)
  })

  it('passes over rows that bring nothing new, whatever their signatures are', async () => {
    await claimSigned([await row(4_000n, 3_000n)])
    const stale = [await row(4_000n, 3_000n, { by: receiver }), await row(100n, 50n)]
    await claimSigned([...stale, await row(4_500n, 4_500n)])
    expect(await settlement.channel(id)).toMatchObject({ totalClaimed: 4_500n })
  })

  it.each([
    ['above the ceiling', 4_000n, 4_001n],
    ['above the balance', 6_000n, 5_001n],
  ] as const)('%s fails with all other rows', async (why, ceiling, total) => {
    const other = await newConfig({ salt: toHex(9, { size: 32 }) })
    await deposit(1_000n, other, 3n)
    const rows = [await row(500n, 500n, { of: other }), await row(ceiling, total)]
    await expect(claimSigned(rows)).rejects.toThrow(why)
    expect(await settlement.channel(await settlement.read.getChannelId([other]))).toMatchObject({ totalClaimed: 0n })
    expect(await settlement.receiver(receiver.address)).toEqual([0n, 0n])
  })

  it("needs the payer's key, with the lower s, and the authorizer's for the batch", async () => {
    const good = await row(1_000n, 1_000n)
    await expect(claimSigned([await row(1_000n, 1_000n, { by: receiver })])).rejects.toThrow('voucher signature')
    await expect(claimSigned([{ ...good, signature: mirrored(good.signature) }])).rejects.toThrow('mirrored')
    await expect(claimSigned([good], receiver)).rejects.toThrow('claim signature')
    await expect(settlement.call(payer, 'claim', [good])).rejects.toThrow('not the receiver')
    await expect(settlement.call(receiver, 'claim', [])).rejects.toThrow('empty batch')
    await settlement.call(receiver, 'claim', [good])
    await settlement.call(authorizer, 'claim', [await row(2_000n, 2_000n)])
    expect(await settlement.channel(id)).toMatchObject({ totalClaimed: 2_000n })
  })

  it("of a contract's channel asks the contract", async () => {
    const stranger = payer
    payer = await chain.walletAccount(1_000n)
    const other = { ...config, payer: payer.address, payerAuthorizer: NO_ADDRESS as Hex }
    await deposit(1_000n, other, 4n)
    await expect(claimSigned([await row(700n, 700n, { of: other, by: stranger })])).rejects.toThrow('voucher signature')
    await claimSigned([await row(700n, 700n, { of: other })])
    expect(await settlement.channel(await settlement.read.getChannelId([other]))).toMatchObject({ totalClaimed: 700n })
  })
})

describe('a refund', () => {
  beforeEach(async () => {
    await deposit(5_000n)
    await claimSigned([await row(3_000n, 3_000n)])
  })

  async function refundSigned(amount: bigint, nonce: bigint): Promise<void> {
    const signature = await authorizer.sign({ hash: await settlement.read.getRefundDigest([id, nonce, amount]) })
    await settlement.call(chain.newKey(), 'refundWithSignature', config, amount, nonce, signature)
  }

  it('gives back at most what is not claimed, and its nonce rises even where nothing moves', async () => {
    await refundSigned(500n, 0n)
    expect(await chain.balance(payer.address)).toBe(5_500n)
    await refundSigned(9_999n, 1n)
    expect(await settlement.channel(id)).toMatchObject({ balance: 3_000n, totalClaimed: 3_000n, refundNonce: 2n })
    await refundSigned(1n, 2n)
    expect(await settlement.channel(id)).toMatchObject({ balance: 3_000n, refundNonce: 3n })
    expect(await chain.balance(payer.address)).toBe(7_000n)
  })

  it('takes a signature once, and none after a direct refund', async () => {
    await refundSigned(100n, 0n)
    await expect(refundSigned(100n, 0n)).rejects.toThrow('refund nonce')
    await settlement.call(receiver, 'refund', config, 100n)
    await expect(refundSigned(100n, 1n)).rejects.toThrow('refund nonce')
    await refundSigned(100n, 2n)
    await expect(settlement.call(payer, 'refund', config, 100n)).rejects.toThrow('not the receiver')
    await expect(settlement.call(receiver, 'refund', config, 0n)).rejects.toThrow('nothing to refund')
  })

  it('leaves a channel that can be funded again', async () => {
    await refundSigned(2_000n, 0n)
    await deposit(1_000n, config, 7n)
    expect(await settlement.channel(id)).toMatchObject({ balance: 4_000n, totalClaimed: 3_000n })
  })
})

describe('a withdrawal', () => {
  beforeEach(() => deposit(5_000n))
  const wait = async (seconds: number): Promise<void> => {
    await chain.ask('evm_increaseTime', [seconds])
    await chain.ask('evm_mine', [])
  }

  it('waits for the delay, in which claims and refunds come first', async () => {
    await expect(settlement.call(receiver, 'initiateWithdraw', config, 1n)).rejects.toThrow('not the payer')
    await expect(settlement.call(payer, 'initiateWithdraw', config, 5_001n)).rejects.toThrow('withdrawal amount')
    await settlement.call(payer, 'initiateWithdraw', config, 4_000n)
    await expect(settlement.call(payer, 'initiateWithdraw', config, 1n)).rejects.toThrow('pending')
    await expect(settlement.call(payer, 'finalizeWithdraw', config)).rejects.toThrow('too early')
    await claimSigned([await row(3_000n, 3_000n)])
    await settlement.call(receiver, 'refund', config, 500n)
    expect(await settlement.channel(id)).toMatchObject({ balance: 4_500n, withdrawing: 3_500n })
    await wait(901)
    await settlement.call(payer, 'finalizeWithdraw', config)
    expect(await settlement.channel(id)).toMatchObject({ balance: 3_000n, totalClaimed: 3_000n, withdrawing: 0n })
    await expect(claimSigned([await row(3_001n, 3_001n)])).rejects.toThrow('above the balance')
    await expect(settlement.call(payer, 'finalizeWithdraw', config)).rejects.toThrow('no withdrawal is pending')
  })

  it('is over with a refund of all of it', async () => {
    await settlement.call(payer, 'initiateWithdraw', config, 4_000n)
    await settlement.call(receiver, 'refund', config, 4_000n)
    await expect(settlement.call(payer, 'finalizeWithdraw', config)).rejects.toThrow('no withdrawal is pending')
  })
})

import { describe, expect, it } from 'vitest'
import { type Actor, FUNDED } from '../support/actors.ts'
import { type Choice, choice } from '../support/choices.ts'
import { attest } from '../support/committee.ts'
import { Differential, freePow } from '../support/differential.ts'
import { plain } from '../support/hostile.ts'
import { testParams } from '../support/network.ts'
import { placeOn } from '../support/plans.ts'
import type { Statement } from '../support/reference/attestation.ts'
import type { Attestation } from '../support/reference/bridge-schemas.ts'
import { hex, tagged } from '../support/reference/bytes.ts'
import { assetOf, Ledger, NATIVE, networkId } from '../support/reference/ledger.ts'
import { CODE } from '../support/reference/outcome.ts'
import { poolId } from '../support/reference/pool-kinds.ts'
import { TRANSACTION, TRANSACTION_RECEIPT } from '../support/reference/schemas.ts'
import { Scenario } from '../support/scenario.ts'

const WHO = FUNDED[1] as Actor
const MOST = 2n ** 112n - 1n
const BASE = 1

/** The outcome of one transaction, alone in its block. */
interface Outcome {
  readonly txId: string
  readonly code: number
  readonly amounts: readonly bigint[]
}

async function mined(pair: Differential, { kind, payload }: Choice): Promise<Outcome> {
  const scenario = new Scenario(placeOn(pair.reference, pair.reference.headId))
  const wire = await scenario.sign(plain(WHO, scenario.nonce(WHO.address), { kind, payload }), WHO)
  const { reason, computed } = await pair.feed(pair.next([wire]))
  expect(reason).toBeNull()
  const receipt = computed?.executed?.receipts.find(([type]) => type === 1) as Uint8Array
  const { code, amounts } = TRANSACTION_RECEIPT.decode(receipt.subarray(1))
  return { txId: hex(tagged('tx-id', TRANSACTION.decode(wire).body)), code, amounts }
}

const ledgerOf = ({ reference }: Differential): Ledger => new Ledger(reference.block(reference.headId).records)

/** The statement, attested by the committee of the head. */
function attested({ reference }: Differential, statement: Statement): Attestation {
  const { records } = reference.block(reference.headId)
  const chain = { genesisId: reference.genesisId, chainId: 1 }
  return attest(new Ledger(records).committee.of(''), statement, chain)
}

describe('the supply of a bridged token', () => {
  const deposit = async (pair: Differential, amount: bigint, outputIndex: number): Promise<number> => {
    const fields = { network: BASE, externalTxId: new Uint8Array(32), outputIndex, to: WHO.address, amount }
    const attestation = attested(pair, { ...fields, action: 'deposit' })
    return (await mined(pair, choice(WHO, 'bridge_deposit', { ...fields, create: false, attestation }))).code
  }

  it('reaches 2^112 - 1 in all, and neither a deposit nor a cancelled withdrawal exceeds it', async () => {
    const base = testParams()
    const { rules } = base.steps[0] as (typeof base.steps)[number]
    const networks = rules.bridge.networks.map((one) => ({ ...one, dailyMintCap: 2n * MOST }))
    const steps = [{ fromHeight: 0, rules: { ...rules, bridge: { ...rules.bridge, networks } } }]
    const pair = await Differential.open({ ...base, steps }, freePow)
    const { asset } = ledgerOf(pair).networks.of(networkId(BASE))
    const withdrawal = { network: BASE, amount: 5_000_001n, recipient: '0x000000000000000000000000000000000000dEaD' }
    const { txId, code, amounts } = await mined(pair, choice(WHO, 'bridge_withdraw', withdrawal))
    expect([code, amounts]).toEqual([CODE.success, [4_995_000n]])
    const room = MOST - ledgerOf(pair).supply.of(asset).minted
    expect(await deposit(pair, room + 1n, 0)).toBe(CODE.maxSupply)
    expect(await deposit(pair, room - 5_000_000n, 1)).toBe(CODE.success)
    const cancel = {
      withdrawalId: txId,
      attestation: attested(pair, { action: 'cancel', network: BASE, withdrawalId: txId }),
    }
    expect((await mined(pair, choice(WHO, 'bridge_cancel', cancel))).code).toBe(CODE.maxSupply)
    expect(await deposit(pair, 5_000_000n, 2)).toBe(CODE.success)
    expect(ledgerOf(pair).supply.of(asset).minted).toBe(MOST)
  })
})

describe('a pool of all there can be', () => {
  it('counts without end and gives nothing for more than there can be', async () => {
    const pair = await Differential.open(testParams(), freePow)
    const token = { symbol: 'BIG', name: 'Big', decimals: 0, maxSupply: 0n, freezable: false }
    const give = { symbol: 'BIG', to: WHO.address, amount: MOST, create: false }
    const names = { assetA: 'BIG', assetB: 'FAR', feeBps: 5 }
    const swap = { assetIn: 'FAR', exactOut: false, amount: 1n, limit: 0n, hops: [{ asset: 'BIG', feeBps: 5 }] }
    expect((await mined(pair, choice(WHO, 'token_create', token))).code).toBe(CODE.success)
    expect((await mined(pair, choice(WHO, 'token_mint', give))).code).toBe(CODE.success)
    expect((await mined(pair, choice(WHO, 'token_mint', { ...give, amount: 1n }))).code).toBe(CODE.maxSupply)
    const created = await mined(pair, choice(WHO, 'pool_create', { ...names, amountA: MOST - 1n, amountB: 1n }))
    expect(created.amounts).toEqual([MOST - 1n, 1n, 2n ** 56n - 1n - 1_000n])
    for (let i = 0; i < 20; i++) await pair.feed(pair.next())
    const bought = await mined(pair, choice(WHO, 'swap', swap))
    expect(bought.amounts[0]).toBe(1n)
    expect((await mined(pair, choice(WHO, 'swap', { ...swap, amount: 10n ** 14n / 2n }))).code).toBe(CODE.success)
    const id = poolId(NATIVE, assetOf('BIG', 'FAR'), 5)
    const { reserveX: native } = ledgerOf(pair).pools.of(id)
    const back = { ...swap, assetIn: 'BIG', exactOut: true, limit: MOST, hops: [{ asset: 'FAR', feeBps: 5 }] }
    const backFor = async (amount: bigint): Promise<number> =>
      (await mined(pair, choice(WHO, 'swap', { ...back, amount }))).code
    expect(await backFor(native)).toBe(CODE.tooLarge)
    // To leave one unit would cost more of the token than exists. Two units may be left.
    expect(await backFor(native - 1n)).toBe(CODE.tooLarge)
    expect(await backFor(native - 2n)).toBe(CODE.success)
    expect(ledgerOf(pair).pools.of(id).reserveX).toBe(2n)
    await pair.feed(pair.next())
  })
})

import { ml_dsa44, ml_dsa65 } from '@noble/post-quantum/ml-dsa.js'
import { devSeed } from '../../../config/networks/dev-keys.ts'
import type { SignatureBackend } from '../../../consensus/crypto/hybrid.ts'
import type { SigningNetwork } from '../../../consensus/crypto/signing.ts'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import type { Address, TokenSymbol } from '../../../consensus/primitives/ids.ts'
import type { PayloadOf, TxKind } from '../../../consensus/tx/kinds.ts'
import { signTransaction } from '../../../consensus/tx/sign.ts'
import type { Transaction, TxBody } from '../../../consensus/tx/transaction.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import { type WalletKey, walletKey } from '../../../src/crypto/wallet-key.ts'
import { agentId, SAMPLE, units } from '../unsigned.ts'
import { Dice } from './dice.ts'

const COUNT = 10
const [FAR, FUSD, SALT, WOOL] = ['FAR', 'FUSD', 'SALT', 'WOOL'] as unknown as readonly [
  TokenSymbol,
  TokenSymbol,
  TokenSymbol,
  TokenSymbol,
]

type Action = { [K in TxKind]: { readonly kind: K; readonly payload: PayloadOf<K> } }[TxKind]

const secretKeys = new Map<string, Uint8Array>()

/** Deterministic signatures: otherwise no run could be repeated. */
const STEADY: SignatureBackend = {
  ...NATIVE_BACKEND,
  name: 'steady',
  signMlDsa: (level, message, seed, context) => {
    const scheme = level === 44 ? ml_dsa44 : ml_dsa65
    const name = `${level} ${toHex(seed)}`
    const secretKey = secretKeys.get(name) ?? scheme.keygen(seed).secretKey
    secretKeys.set(name, secretKey)
    return scheme.sign(message, secretKey, { context, extraEntropy: false })
  },
}

const KEYS: readonly WalletKey[] = Array.from({ length: COUNT }, (_, i) => walletKey(devSeed(i + 1), 1, STEADY))

export const WALLET_ADDRESSES: readonly Address[] = KEYS.map(({ address }) => address)

const signed = new Map<string, Promise<Transaction>>()

/**
 * A wallet's transaction with a nonce. It depends only on wallet, nonce and variant, so that it can be reused in many
 * simulations: signing costs most here.
 */
export function walletTransaction(
  network: SigningNetwork,
  choice: { readonly wallet: number; readonly nonce: bigint; readonly variant: number },
): Promise<Transaction> {
  const { wallet, nonce, variant } = choice
  const name = `${network.genesis} ${wallet} ${nonce} ${variant}`
  const known = signed.get(name)
  if (known !== undefined) return known
  const dice = new Dice(1 + wallet + COUNT * (Number(nonce) + 100_000 * variant))
  const key = KEYS[wallet] as WalletKey
  const body = {
    version: 1,
    chainId: network.chainId,
    sender: key.address,
    nonce,
    ...actionOf(wallet, nonce, dice),
    maxFeeRate: BigInt(1_000 + dice.below(9_000)),
    tip: BigInt(dice.below(500)),
    validUntil: dice.chance(0.1) ? 40 + dice.below(400) : 0,
    memo: dice.bytes(dice.below(32)),
  } as unknown as TxBody
  const made = signTransaction(body, key, network)
  signed.set(name, made)
  return made
}

/** A random action of one of several ledgers. Some fail, which is also a valid outcome. */
function actionOf(wallet: number, nonce: bigint, dice: Dice): Action {
  // The first transactions of two wallets open a market.
  const agent = agentId(`agent-${wallet % 2}`)
  if (wallet < 2 && nonce === 0n)
    return { kind: 'agent_register', payload: SAMPLE.agent_register({ agentId: agent, payout: KEYS[wallet]!.address }) }
  if (wallet < 2 && nonce === 1n)
    return { kind: 'service_publish', payload: SAMPLE.service_publish({ agentId: agent }) }
  const to = dice.pick(WALLET_ADDRESSES)
  const amount = units(1 + dice.below(1_000_000))
  const actions: readonly (() => Action)[] = [
    () => ({ kind: 'transfer', payload: { to, amount, create: false } }),
    () => ({ kind: 'transfer', payload: { to: toHex(dice.bytes(32)) as Address, amount, create: true } }),
    () => ({ kind: 'token_transfer', payload: { symbol: SALT, to, amount, create: false } }),
    () => ({
      kind: 'swap',
      payload: {
        ...{ assetIn: FAR, exactOut: false, amount, limit: units(0) },
        hops: [
          { asset: SALT, feeBps: 30 },
          { asset: WOOL, feeBps: 100 },
        ],
      },
    }),
    () => ({ kind: 'stake', payload: { tier: dice.below(3), amount: units(10n ** 9n + BigInt(dice.below(1_000))) } }),
    () => ({
      kind: 'stable_redeem',
      payload: { symbol: FUSD, amount: units(1 + dice.below(1_000)), minPaid: units(0) },
    }),
    () => ({ kind: 'agent_invoke', payload: SAMPLE.agent_invoke({ agentId: agent, term: 100 }) }),
  ]
  return dice.pick(actions)()
}

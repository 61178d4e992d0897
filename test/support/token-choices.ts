import { amountNear, type Choice, type Choosing, choice, once, pick, receiver, senderAt, symbolOf } from './choices.ts'
import { ZERO32 } from './reference/bytes.ts'
import { TOKEN_KIND } from './reference/token-kinds.ts'

/** Symbols that random chains create. Some look like each other. Some look like symbols of genesis, or equal them. */
const SYMBOLS = ['ABC', 'A8C', 'FU5D', 'FAR', 'XU5D', 'WOOL', 'W00L', 'NEW1', 'TOK2', 'TOKZ', 'Q9', 'AAAAAAAAAA']
const NAMES = ['A', 'Zwei Wörter', '价格 ✓', 'x'.repeat(64)]

type Held = readonly [asset: string, token: ReturnType<Choosing['ledger']['tokens']['of']>]

/** A token that `wanted` accepts. Now and then any other, or one that may not exist. */
function tokenAt(
  choosing: Choosing,
  wanted: (token: Held) => boolean,
): { asset: string; symbol: string; issuer: string } {
  const { ledger, n } = choosing
  const all = ledger.tokens.all()
  const good = all.filter(wanted)
  const index = n[1] as number
  if (all.length === 0 || index % 23 === 22) return { asset: ZERO32, symbol: pick(SYMBOLS, index), issuer: ZERO32 }
  const [asset, { issuer }] = pick(good.length === 0 || index % 11 === 10 ? all : good, index)
  return { asset, symbol: symbolOf(asset, choosing), issuer }
}

const ofKind =
  (...kinds: number[]) =>
  ([, { kind }]: Held): boolean =>
    kinds.includes(kind)

/** An actor that holds the asset. If there is none, and now and then anyway, the usual sender. */
export function holder(choosing: Choosing, asset: string): Choosing['sender'] {
  const { ledger, n } = choosing
  const holders = ledger.balances
    .all()
    .filter(([id]) => id.endsWith(asset))
    .map(([id]) => id.slice(0, 64))
  return senderAt(choosing, holders.length === 0 ? undefined : pick(holders, n[0]))
}

/** An amount of at least 1: a part of the balance, or one base unit more than the balance. */
export function heldAmount({ ledger, n }: Choosing, address: string, asset: string, index: number): bigint {
  const balance = ledger.balance(address, asset)
  return amountNear(pick([balance / 3n, 1n, balance / 50n, balance, balance + 1n, balance / 1_000n], n[index]))
}

function tokenCreate(choosing: Choosing): Choice {
  const { sender, n } = choosing
  return choice(sender, 'token_create', {
    symbol: pick(SYMBOLS, n[1]),
    name: pick(NAMES, n[2]),
    decimals: (n[3] as number) % 19,
    maxSupply: pick([0n, 1_000_000n, 10n ** 15n, 2n ** 112n - 1n], n[4]),
    freezable: !once(choosing, 3, 5),
  })
}

function tokenMint(choosing: Choosing): Choice {
  const { ledger, n } = choosing
  const { asset, symbol, issuer } = tokenAt(choosing, ofKind(TOKEN_KIND.plain))
  const { minted, cap } = ledger.supply.get(asset) ?? { minted: 0n, cap: 0n }
  const room = (cap === 0n ? 2n ** 112n - 1n : cap) - minted
  const amount = amountNear(pick([room / 3n, 1n, 10n ** 9n, room, room + 1n, room / 1_000n, 123_456n], n[2]))
  const to = receiver(choosing, 3)
  return choice(senderAt(choosing, issuer), 'token_mint', { symbol, to, amount, create: once(choosing, 2, 4) })
}

function tokenBurn(choosing: Choosing): Choice {
  const { asset, symbol } = tokenAt(choosing, ofKind(TOKEN_KIND.plain, TOKEN_KIND.stable))
  const sender = holder(choosing, asset)
  return choice(sender, 'token_burn', { symbol, amount: heldAmount(choosing, sender.address, asset, 2) })
}

function tokenTransfer(choosing: Choosing): Choice {
  const { asset, symbol } = tokenAt(choosing, () => true)
  const sender = holder(choosing, asset)
  const amount = heldAmount(choosing, sender.address, asset, 2)
  const to = receiver(choosing, 3)
  return choice(sender, 'token_transfer', { symbol, to, amount, create: once(choosing, 2, 4) })
}

function tokenFlags(choosing: Choosing): Choice {
  const { symbol, issuer } = tokenAt(choosing, ofKind(TOKEN_KIND.plain, TOKEN_KIND.stable))
  return choice(senderAt(choosing, issuer), 'token_flags', {
    symbol,
    frozen: once(choosing, 2, 2),
    hidden: once(choosing, 2, 3),
  })
}

function tokenIssuer(choosing: Choosing): Choice {
  const { symbol, issuer } = tokenAt(choosing, ([, token]) => token.issuer !== ZERO32)
  const next = once(choosing, 5, 2) ? ZERO32 : receiver(choosing, 3)
  return choice(senderAt(choosing, issuer), 'token_issuer', { symbol, issuer: next })
}

/** Mostly a stable token, with its reserve asset and the surplus of its reserve over its supply. */
function stableAt(choosing: Choosing) {
  const token = tokenAt(choosing, ofKind(TOKEN_KIND.stable))
  const { reserveAsset, reserve } = choosing.ledger.stableReserves.get(token.asset) ?? {
    reserveAsset: ZERO32,
    reserve: 0n,
  }
  const { minted, burned } = choosing.ledger.supply.get(token.asset) ?? { minted: 0n, burned: 0n }
  return { ...token, reserveAsset, surplus: reserve - (minted - burned) }
}

function stableDeposit(choosing: Choosing): Choice {
  const { symbol, reserveAsset } = stableAt(choosing)
  const sender = holder(choosing, reserveAsset)
  return choice(sender, 'stable_deposit', { symbol, amount: heldAmount(choosing, sender.address, reserveAsset, 2) })
}

const SURPLUS_PARTS = [(all: bigint) => all / 2n, (all: bigint) => all, (all: bigint) => all + 1n, () => 1n]

function stableMint(choosing: Choosing): Choice {
  const { symbol, issuer, surplus } = stableAt(choosing)
  const amount = amountNear(pick(SURPLUS_PARTS, choosing.n[2])(surplus))
  const to = receiver(choosing, 3)
  return choice(senderAt(choosing, issuer), 'stable_mint', { symbol, to, amount, create: once(choosing, 2, 4) })
}

function stableRedeem(choosing: Choosing): Choice {
  const { asset, symbol } = stableAt(choosing)
  const sender = holder(choosing, asset)
  const amount = heldAmount(choosing, sender.address, asset, 2)
  const minPaid = pick([0n, 0n, amount, amount / 2n, amountNear(amount + 1n)], choosing.n[3])
  return choice(sender, 'stable_redeem', { symbol, amount, minPaid })
}

function stableWithdraw(choosing: Choosing): Choice {
  const { symbol, issuer, surplus } = stableAt(choosing)
  const amount = amountNear(pick(SURPLUS_PARTS, choosing.n[2])(surplus))
  return choice(senderAt(choosing, issuer), 'stable_withdraw', { symbol, amount })
}

/** For each kind of transaction on tokens and stable tokens, the function that chooses one for a random chain. */
export const TOKEN_CHOICES = {
  token_create: tokenCreate,
  token_mint: tokenMint,
  token_burn: tokenBurn,
  token_transfer: tokenTransfer,
  token_flags: tokenFlags,
  token_issuer: tokenIssuer,
  stable_deposit: stableDeposit,
  stable_mint: stableMint,
  stable_redeem: stableRedeem,
  stable_withdraw: stableWithdraw,
} as const

import { redemptionOf } from '../../../consensus/ledger/stable.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import type { TokenSymbol } from '../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { StableView } from '../../../rpc/client/ledger-client.ts'
import { assetLie } from '../assets.ts'
import type { CommandContext } from '../command.ts'
import { confirmed } from '../impact.ts'
import { atLeast, SLIPPAGE_FLAG, slippageFlag } from '../percent.ts'
import { type Proposal, propose } from '../proposal.ts'
import { findToken, readAmount, type Session } from '../session.ts'
import { amountText, cannot } from '../values.ts'
import { writingCommand } from '../writing.ts'
import { type Handover, type Part, proposeHandover, readHandover, readPart } from './token.ts'

const PART = { usage: '<amount> <symbol>', wordsMax: 2 } as const

/** `farthing stable deposit`: adds to the reserve of a stable token. */
export const stableDepositCommand = writingCommand<Part>({
  ...PART,
  name: 'stable deposit',
  about: 'Give bridged dollars to the reserve of a stable token; they are not yours any more',
  example: 'stable deposit 100 FUSD',
  flags: { 'accept-loss': 'Do not ask on a terminal' },
  read: readPart('stable deposit'),
  propose: async (session, part) => {
    const says = (paid: string, symbol: string): string =>
      `give ${paid} to the reserve of ${symbol}: a gift, nothing comes back for it`
    const proposed = await proposeReserve('stable_deposit', says)(session, part)
    const { flags, note } = session.context
    if (!proposed.ok || flags['dry-run'] !== undefined || flags['accept-loss'] !== undefined) return proposed
    const agreed = await confirmed(note, (proposed.value[0] as Proposal).says)
    return agreed.ok ? proposed : agreed
  },
})

/** The amount counts the asset of the reserve, not the stable token. */
function proposeReserve(kind: 'stable_deposit' | 'stable_withdraw', says: (paid: string, symbol: string) => string) {
  return async (session: Session, { amount: text, symbol }: Part): Promise<Result<readonly Proposal[]>> => {
    const token = await findToken(session, symbol)
    if (!token.ok) return token
    const stable = await findStable(session, token.value.symbol)
    if (!stable.ok) return stable
    const moved = readAmount(text, stable.value.reserve)
    if (!moved.ok) return moved
    const payload = { symbol: token.value.symbol, amount: moved.value }
    return propose(kind, payload, says(amountText(moved.value, stable.value.reserve), symbol))
  }
}

async function findStable({ client, context }: Session, symbol: TokenSymbol): Promise<Result<StableView>> {
  const stables = await client.stables()
  if (!stables.ok) return stables
  const found = stables.value.find((stable) => stable.symbol === symbol)
  if (found !== undefined) return soundStable(context, found)
  const names = stables.value.map((stable) => stable.symbol).join(', ')
  return cannot(`${symbol} is no stable token; there are: ${names}`)
}

/** Refuses a stable token if the node's reserve asset contradicts this release: the amount would be in another unit. */
function soundStable(context: CommandContext, stable: StableView): Result<StableView> {
  const { symbol, reserve, supply } = stable
  const lie = assetLie(context, [reserve, supply])
  if (lie !== null) return fail(lie)
  const known = context.params.genesis.ledgers.stables.find((one) => one.symbol === symbol)
  if (known === undefined || known.reserveSymbol === reserve.symbol) return ok(stable)
  const message = `its answer backs ${symbol} with ${reserve.symbol}, which is backed with ${known.reserveSymbol}`
  return fail(fault('cli/refused', { message }))
}

/** `farthing stable mint`: issues a stable token against its reserve. */
export const stableMintCommand = writingCommand<Handover>({
  name: 'stable mint',
  usage: '<amount> <symbol> <address>',
  wordsMax: 3,
  about: 'Issue a stable token while its reserve covers it; its issuer alone',
  example: 'stable mint 50 FUSD $(npx --no farthing wallet address) --wallet market',
  flags: {},
  read: readHandover('stable mint'),
  propose: proposeHandover('stable_mint', 'mint'),
})

/** `slippage` is in parts per million. */
interface RedeemAsked extends Part {
  readonly slippage: bigint
}

/** `farthing stable redeem`: burns a stable token for its reserve. */
export const stableRedeemCommand = writingCommand<RedeemAsked>({
  ...PART,
  name: 'stable redeem',
  about: 'Burn a stable token for the dollars behind it',
  example: 'stable redeem 10 FUSD',
  flags: SLIPPAGE_FLAG,
  read: readRedeem,
  propose: async (session, { amount: text, symbol, slippage }) => {
    const token = await findToken(session, symbol)
    if (!token.ok) return token
    const burned = readAmount(text, token.value)
    if (!burned.ok) return burned
    const stable = await findStable(session, token.value.symbol)
    if (!stable.ok) return stable
    const { reserve, supply } = stable.value
    const minPaid = atLeast(redemptionOf(burned.value, reserve.units, supply.units), slippage)
    if (minPaid === 0n) return cannot(`the reserve of ${token.value.symbol} would pay nothing for it`)
    const says = `burn ${amountText(burned.value, token.value)} for at least ${amountText(minPaid, reserve)}`
    const payload = { symbol: token.value.symbol, amount: burned.value, minPaid }
    return propose('stable_redeem', payload, says, [{ label: 'received', asset: reserve }])
  },
})

function readRedeem(context: CommandContext): Result<RedeemAsked> {
  const part = readPart('stable redeem')(context)
  if (!part.ok) return part
  const slippage = slippageFlag(context)
  return slippage.ok ? ok({ ...part.value, slippage: slippage.value }) : slippage
}

/** `farthing stable withdraw`: takes an amount of what the reserve holds above the supply. */
export const stableWithdrawCommand = writingCommand<Part>({
  ...PART,
  name: 'stable withdraw',
  about: 'Take what the reserve of a stable token holds above its supply; its issuer alone',
  example: 'stable withdraw 50 FUSD --wallet market',
  flags: {},
  read: readPart('stable withdraw'),
  propose: proposeReserve('stable_withdraw', (paid, symbol) => `take ${paid} from the reserve of ${symbol}`),
})

import { formatAddress } from '../../../consensus/crypto/address.ts'
import { parseAmount } from '../../../consensus/primitives/amount.ts'
import { ZERO_HEX_32 } from '../../../consensus/primitives/bytes.ts'
import type { Address, TokenSymbol } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { TOKEN_NAME_BYTES_MAX } from '../../../consensus/tx/asset-payloads.ts'
import { TOKEN_DECIMALS_MAX } from '../../../consensus/tx/check-payload.ts'
import type { PayloadOf } from '../../../consensus/tx/kinds.ts'
import { nativeAsset } from '../assets.ts'
import type { CommandContext } from '../command.ts'
import { type Proposal, propose } from '../proposal.ts'
import { findToken, mustCreate, readAmount, type Session } from '../session.ts'
import { amountText, countFlag, readAddress, readSymbol, readText, truthFlag, usage } from '../values.ts'
import { writingCommand } from '../writing.ts'

const DECIMALS_DEFAULT = 8

/** `farthing token create`: creates a token that the wallet issues. */
export const tokenCreateCommand = writingCommand<PayloadOf<'token_create'>>({
  name: 'token create',
  usage: '<symbol> <name>',
  wordsMax: 2,
  about: 'Make a token that the wallet issues; burns 10 coins',
  example: 'token create TEA "Tea leaves" --decimals 2 --max-supply 1000000',
  flags: {
    decimals: 'Decimals of one whole unit, 0 to 18; default 8',
    'max-supply': 'Most that may ever be minted, in whole units; default: no limit',
    freezable: 'Whether the issuer may freeze it; fixed for ever',
  },
  read: readCreate,
  propose: async ({ rules, context }, payload) => {
    const burned = amountText(rules.token.createBurn, nativeAsset(context))
    const { symbol, name, decimals, maxSupply } = payload
    const most = maxSupply === 0n ? 'without a limit' : `at most ${amountText(maxSupply, { symbol, decimals })}`
    return propose(
      'token_create',
      payload,
      `create ${symbol} (${name}), ${decimals} decimals, ${most}; burns ${burned}`,
    )
  },
})

function readCreate(context: CommandContext): Result<PayloadOf<'token_create'>> {
  const [word, name] = context.words
  if (word === undefined || name === undefined) return usage('usage: farthing token create <symbol> <name>')
  const symbol = readSymbol(word)
  if (!symbol.ok) return symbol
  const fits = readText('the name', name, TOKEN_NAME_BYTES_MAX)
  if (!fits.ok) return fits
  const decimals = countFlag(context, 'decimals', TOKEN_DECIMALS_MAX + 1)
  if (!decimals.ok) return decimals
  const exact = decimals.value ?? DECIMALS_DEFAULT
  const maxSupply = parseAmount(context.flags['max-supply'] ?? '0', exact)
  if (!maxSupply.ok) return maxSupply
  const freezable = context.flags.freezable !== undefined
  return ok({ symbol: symbol.value, name, decimals: exact, maxSupply: maxSupply.value, freezable })
}

/** An amount of a token for a receiver, on the command line. */
export interface Handover {
  readonly amount: string
  readonly symbol: string
  readonly to: Address
}

/** Reads `<amount> <symbol> <address>`. */
export function readHandover(name: string): (context: CommandContext) => Result<Handover> {
  return (context) => {
    const [amount, symbol, receiver] = context.words
    if (amount === undefined || symbol === undefined || receiver === undefined)
      return usage(`usage: farthing ${name} <amount> <symbol> <address>`)
    const to = readAddress(context, receiver)
    return to.ok ? ok({ amount, symbol, to: to.value }) : to
  }
}

/** Proposes to give an amount of a token to a receiver. */
export function proposeHandover(
  kind: 'token_mint' | 'token_transfer' | 'stable_mint',
  verb: string,
): (session: Session, asked: Handover) => Promise<Result<readonly Proposal[]>> {
  return async (session, { amount: text, symbol, to }) => {
    const token = await findToken(session, symbol)
    if (!token.ok) return token
    const amount = readAmount(text, token.value)
    if (!amount.ok) return amount
    const create = await mustCreate(session, to)
    if (!create.ok) return create
    const payload = { symbol: token.value.symbol, to, amount: amount.value, create: create.value }
    const receiver = formatAddress(session.context.params.addressPrefix, to)
    return propose(kind, payload, `${verb} ${amountText(amount.value, token.value)} to ${receiver}`)
  }
}

const HANDOVER = { usage: '<amount> <symbol> <address>', wordsMax: 3, flags: {} } as const

/** `farthing token mint`: issues more of a token. */
export const tokenMintCommand = writingCommand<Handover>({
  ...HANDOVER,
  name: 'token mint',
  about: 'Issue more of a token to an address; its issuer alone',
  example: 'token mint 100 SALT $(npx --no farthing wallet address) --wallet market',
  read: readHandover('token mint'),
  propose: proposeHandover('token_mint', 'mint'),
})

/** `farthing token transfer`: sends a token. */
export const tokenTransferCommand = writingCommand<Handover>({
  ...HANDOVER,
  name: 'token transfer',
  about: 'Send an amount of a token to an address',
  example: 'token transfer 5 SALT $(npx --no farthing wallet address --wallet market)',
  read: readHandover('token transfer'),
  propose: proposeHandover('token_transfer', 'send'),
})

/** An amount of a token on the command line. */
export interface Part {
  readonly amount: string
  readonly symbol: string
}

/** Reads `<amount> <symbol>`. */
export function readPart(name: string): (context: Pick<CommandContext, 'words'>) => Result<Part> {
  return ({ words: [amount, symbol] }) => {
    if (amount === undefined || symbol === undefined) return usage(`usage: farthing ${name} <amount> <symbol>`)
    return ok({ amount, symbol })
  }
}

/** `farthing token burn`: destroys tokens of the wallet. */
export const tokenBurnCommand = writingCommand<Part>({
  name: 'token burn',
  usage: '<amount> <symbol>',
  wordsMax: 2,
  about: 'Destroy an amount of a token that the wallet holds',
  example: 'token burn 0.5 SALT',
  flags: {},
  read: readPart('token burn'),
  propose: async (session, { amount: text, symbol }) => {
    const token = await findToken(session, symbol)
    if (!token.ok) return token
    const amount = readAmount(text, token.value)
    if (!amount.ok) return amount
    const payload = { symbol: token.value.symbol, amount: amount.value }
    return propose('token_burn', payload, `burn ${amountText(amount.value, token.value)}`)
  },
})

/** A flag that is undefined stays as it is on chain. */
interface FlagsAsked {
  readonly symbol: TokenSymbol
  readonly frozen: boolean | undefined
  readonly hidden: boolean | undefined
}

/** `farthing token flags`: freezes, thaws, hides or shows a token. */
export const tokenFlagsCommand = writingCommand<FlagsAsked>({
  name: 'token flags',
  usage: '<symbol>',
  wordsMax: 1,
  about: 'Freeze, thaw, hide or show a token; its issuer alone',
  example: 'token flags SALT --frozen true --wallet market',
  flags: {
    frozen: 'true stops every transfer, mint and swap, false allows them; default: as it is',
    hidden: 'true leaves it out of listings, false shows it; default: as it is',
  },
  read: readFlags,
  propose: async ({ client }, { symbol, ...asked }) => {
    const token = await client.token(symbol)
    if (!token.ok) return token
    const { frozen = token.value.frozen, hidden = token.value.hidden } = asked
    const says = `${symbol} becomes ${frozen ? 'frozen' : 'free to move'} and ${hidden ? 'hidden' : 'listed'}`
    return propose('token_flags', { symbol, frozen, hidden }, says)
  },
})

function readFlags(context: CommandContext): Result<FlagsAsked> {
  const symbol = readSymbol(context.words[0] ?? '')
  if (!symbol.ok) return context.words[0] === undefined ? usage('usage: farthing token flags <symbol>') : symbol
  const frozen = truthFlag(context, 'frozen')
  if (!frozen.ok) return frozen
  const hidden = truthFlag(context, 'hidden')
  if (!hidden.ok) return hidden
  if (frozen.value === undefined && hidden.value === undefined) return usage('give --frozen or --hidden, or both')
  return ok({ symbol: symbol.value, frozen: frozen.value, hidden: hidden.value })
}

/** `farthing token issuer`: transfers the right to issue a token, or gives it up. */
export const tokenIssuerCommand = writingCommand<PayloadOf<'token_issuer'>>({
  name: 'token issuer',
  usage: '<symbol> [address]',
  wordsMax: 2,
  about: 'Hand a token over to another issuer, or leave it without one; its issuer alone',
  example: 'token issuer SALT $(npx --no farthing wallet address) --wallet market',
  flags: { renounce: 'Leave it without an issuer: no address can ever mint it or change it again' },
  read: readIssuer,
  propose: async ({ context: { params } }, payload) => {
    const isRenounced = payload.issuer === ZERO_HEX_32
    const says = isRenounced
      ? `no address will ever issue ${payload.symbol} again`
      : `the issuer of ${payload.symbol} becomes ${formatAddress(params.addressPrefix, payload.issuer)}`
    return propose('token_issuer', payload, says)
  },
})

function readIssuer(context: CommandContext): Result<PayloadOf<'token_issuer'>> {
  const [word, receiver] = context.words
  const renounce = context.flags.renounce !== undefined
  if (word === undefined || renounce === (receiver !== undefined))
    return usage('usage: farthing token issuer <symbol> <address>, or --renounce in place of the address')
  const symbol = readSymbol(word)
  if (!symbol.ok) return symbol
  if (receiver === undefined) return ok({ symbol: symbol.value, issuer: ZERO_HEX_32 as Address })
  const issuer = readAddress(context, receiver)
  return issuer.ok ? ok({ symbol: symbol.value, issuer: issuer.value }) : issuer
}

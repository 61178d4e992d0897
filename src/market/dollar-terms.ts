import { readFile } from 'node:fs/promises'
import { flagOf } from '../../config/load.ts'
import type { Config } from '../../config/settings.ts'
import { eip55 } from '../../consensus/external/eip55.ts'
import { evmAddressOf, signDigest } from '../../consensus/external/eip712.ts'
import { fromHex, isHex } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { digestOf } from '../../marketplace/till/rails/dollar/identity.ts'
import type { RefundWallet } from '../../marketplace/till/rails/dollar/refunds.ts'
import type { DollarAsset, DollarNetwork, DollarTerms } from '../../marketplace/till/rails/dollar/terms.ts'
import type { FacilitatorAuth } from '../adapters/facilitator-http.ts'

type Settings = Config['stable']

/** Networks that x402 clients know, with the dollar token that they use there. */
const KNOWN: Readonly<
  Record<'base' | 'base-sepolia', { readonly network: DollarNetwork; readonly asset: DollarAsset }>
> = {
  base: {
    network: { word: 'base', caip2: 'eip155:8453', chainId: 8_453 },
    asset: {
      symbol: 'USDC',
      contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      decimals: 6,
      domain: { name: 'USD Coin', version: '2' },
    },
  },
  'base-sepolia': {
    network: { word: 'base-sepolia', caip2: 'eip155:84532', chainId: 84_532 },
    asset: {
      symbol: 'USDC',
      contract: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      decimals: 6,
      domain: { name: 'USDC', version: '2' },
    },
  },
}

/** Fault `config/value` if a setting is missing or wrong. */
export function dollarTerms(settings: Settings): Result<DollarTerms> {
  const { payTo, facilitators, maxTimeoutSeconds } = settings
  if (payTo === null) return missing('stable.pay-to', 'the address that calls pay, as stable.enabled is true')
  if (facilitators.length === 0)
    return missing('stable.facilitators', 'at least one facilitator, as stable.enabled is true')
  const receiver = checksummed('stable.pay-to', payTo)
  if (!receiver.ok) return receiver
  const network = networkOf(settings)
  if (!network.ok) return network
  const asset = assetOf(settings)
  if (!asset.ok) return asset
  return ok({ network: network.value, asset: asset.value, payTo: receiver.value, maxTimeoutSeconds })
}

function networkOf({ network, networkWord, chainId }: Settings): Result<DollarNetwork> {
  const known = network === 'custom' ? null : KNOWN[network].network
  const word = networkWord ?? known?.word
  if (word === undefined) return missing('stable.network-word', 'the name of the custom network')
  const id = chainId ?? known?.chainId
  if (id === undefined) return missing('stable.chain-id', 'the chain id of the custom network')
  return ok({ word, chainId: id, caip2: `eip155:${id}` })
}

/** The token that the settings name. Faults: `config/value`. */
export function assetOf(settings: Settings): Result<DollarAsset> {
  const { network, assetContract, assetSymbol, assetName, assetVersion, assetDecimals } = settings
  const known = network === 'custom' ? null : KNOWN[network].asset
  const contract = assetContract ?? known?.contract
  if (contract === undefined) return missing('stable.asset-contract', 'the token on the custom network')
  const checked = checksummed('stable.asset-contract', contract)
  if (!checked.ok) return checked
  const name = assetName ?? known?.domain.name
  if (name === undefined) return missing('stable.asset-name', "the name in the token's EIP-712 domain")
  const version = assetVersion ?? known?.domain.version ?? '2'
  const symbol = assetSymbol ?? known?.symbol ?? 'USDC'
  return ok({ symbol, contract: checked.value, decimals: assetDecimals ?? 6, domain: { name, version } })
}

/** An address in the spelling of EIP-55. An address in mixed case must already have this spelling. The zero address is refused. */
function checksummed(key: string, address: string): Result<string> {
  const digits = address.slice(2)
  const spelt = eip55(digits.toLowerCase())
  const hasNoCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  if (/^0*$/.test(digits) || !(hasNoCase || spelt === digits))
    return fail(fault('config/value', { key, value: address, allowed: `an address of EIP-55, perhaps 0x${spelt}` }))
  return ok(`0x${spelt}`)
}

function missing(key: string, allowed: string): Result<never> {
  return fail(fault('config/value', { key: `${key} (${flagOf(key)})`, value: '', allowed }))
}

const AUTH_SHAPE = '{"<url>": {"<supported, verify, settle or *>": {"<header>": "..."}}}'
const AUTH_PATHS: ReadonlySet<string> = new Set(['supported', 'verify', 'settle', '*'])

/**
 * Headers for facilitators, by their address in the settings. An entry for any other address is refused. If it were ignored, the
 * operator would look for the error at the facilitator. Faults: `config/file`.
 */
export async function facilitatorAuth({
  facilitatorAuthFile: path,
  facilitators,
}: Pick<Settings, 'facilitatorAuthFile' | 'facilitators'>): Promise<Result<ReadonlyMap<string, FacilitatorAuth>>> {
  const found = new Map<string, FacilitatorAuth>()
  if (path === null) return ok(found)
  const content = await readFile(path, 'utf8').catch(() => null)
  if (content === null) return fail(fault('config/file', { path, reason: 'it cannot be read' }))
  const auth = readAuth(content)
  // The file holds secrets, so no part of it is shown.
  if (auth === null) return fail(fault('config/file', { path, reason: `it is not JSON of ${AUTH_SHAPE}` }))
  for (const [named, headers] of auth) {
    const url = facilitators.find((one) => withoutSlash(one) === withoutSlash(named))
    if (url === undefined)
      return fail(fault('config/file', { path, reason: 'it names a facilitator that stable.facilitators does not' }))
    found.set(url, headers)
  }
  return ok(found)
}

function readAuth(content: string): readonly (readonly [string, FacilitatorAuth])[] | null {
  try {
    const entries = entriesOf(JSON.parse(content)) as [string, FacilitatorAuth][]
    return entries.every(([, paths]) => entriesOf(paths).every(([path, headers]) => isAuth(path, headers)))
      ? entries
      : null
  } catch {
    return null
  }
}

/** Throws on headers that cannot be sent. */
function isAuth(path: string, headers: unknown): boolean {
  const said = entriesOf(headers)
  return (
    AUTH_PATHS.has(path) && said.every(([, value]) => typeof value === 'string') && new Headers(said as never) !== null
  )
}

/** Throws on anything but an object. */
function entriesOf(value: unknown): readonly [string, unknown][] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new TypeError('not an object')
  return Object.entries(value)
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

/** The wallet that pays refunds; null without a key. Faults: `config/file`. */
export async function refundWallet(path: string | null, terms: DollarTerms): Promise<Result<RefundWallet | null>> {
  if (path === null) return ok(null)
  const hex = await evmKeyIn(path)
  if (!hex.ok) return hex
  const key = fromHex(hex.value)
  return ok({ address: evmAddressOf(key) as string, sign: (message) => signDigest(key, digestOf(terms, message)) })
}

/** The key of an EVM account in a file of 64 hex digits. Faults: `config/file`. */
export async function evmKeyIn(path: string): Promise<Result<string>> {
  const content = await readFile(path, 'utf8').catch(() => null)
  if (content === null) return fail(fault('config/file', { path, reason: 'it cannot be read' }))
  const hex = content.trim().toLowerCase().replace(/^0x/, '')
  return isHex(hex, 32) && evmAddressOf(fromHex(hex)) !== null
    ? ok(hex)
    : fail(fault('config/file', { path, reason: 'it does not hold a key of 64 hex digits' }))
}

import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TAB_RULES } from '../../config/networks/rules.ts'
import { Chain } from '../../consensus/chain/chain.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { UNPACED } from '../../consensus/chain/ports.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { taggedHash } from '../../consensus/crypto/hash.ts'
import type { SignatureVerifier } from '../../consensus/crypto/verifier.ts'
import { ACCOUNTS } from '../../consensus/ledger/account.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import type { Address, TokenSymbol } from '../../consensus/primitives/ids.ts'
import { encodeText } from '../../consensus/primitives/text.ts'
import { pathOf } from '../../consensus/state/tree.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import { type WalletKey, walletKey } from '../../src/crypto/wallet-key.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { openChain } from '../../src/storage/folder.ts'
import { keyOf, members } from '../support/bridge.ts'
import { fastDevnet } from '../support/network.ts'
import { PolicyAccount } from '../support/policy-signer.ts'
import { seededAddress, seedFolder } from './big-state.ts'
import { BENCH_SIZES, type BenchChain } from './fixture.ts'

/** Accounts that send one transaction each: more than fit into a block. */
const SENDERS = 390
/** Policy accounts with the largest number of keys. */
const POLICIES = 48
/** Number of addresses that are searched for pairs whose paths in the state tree part late. */
const LOOKED_THROUGH = 2_000_000
const PAIRS = 200
const SENDER_COINS = 10n ** 11n
const TOKEN_UNITS = 10_000_000n
const POOL_COINS = 10n ** 9n
/** The bridge's committee in this world: seven of eight must sign, with keys of the longer scheme. */
export const ATTESTORS = members(8, 2, 100)
export const ATTESTORS_WANTED = 7

function keys(name: string, count: number): readonly WalletKey[] {
  return Array.from({ length: count }, (_, i) => walletKey(taggedHash('textDigest', encodeText(`${name} ${i}`))))
}

/** Accounts whose keys the chain knows; enough for one transaction each to fill a block. */
export const KNOWN = keys('bench', SENDERS)
/** Accounts that have never sent anything. */
export const UNSEEN = keys('unseen', SENDERS)
/** Accounts of eight keys that all sign. They have never sent anything. */
export const MANY_KEYS = Array.from(
  { length: POLICIES },
  (_, i) =>
    new PolicyAccount(
      8,
      Array.from({ length: 8 }, (_, k) => ({
        scheme: 2,
        seed: taggedHash('textDigest', encodeText(`policy ${i} ${k}`)),
      })),
    ),
)

/** Token that a known account issues. */
export function tokenOf(i: number): TokenSymbol {
  const letters = [i / 676, i / 26, i].map((n) => String.fromCharCode(65 + (Math.floor(n) % 26)))
  return `TOK${letters.join('')}` as TokenSymbol
}

/** The devnet with short terms and locks, a token and a pool for every known account, and a committee with the longest keys. */
export function worstParams(): NetworkParams {
  const devnet = fastDevnet()
  const [step] = devnet.steps
  if (step === undefined) throw new Error('no rules')
  const { rules } = step
  const tiers = rules.staking.tiers.map((tier) => ({ ...tier, lockBlocks: 0 }))
  const tabs = { ...TAB_RULES, terms: [1, 2, 3, 4, ...TAB_RULES.terms] }
  const all = [...KNOWN, ...UNSEEN, ...MANY_KEYS]
  return {
    ...devnet,
    steps: [
      {
        fromHeight: 0,
        rules: {
          ...rules,
          tx: { ...rules.tx, invokeTerms: [1, 2, 3, 4, 9_600], tabs },
          staking: { ...rules.staking, tiers },
        },
      },
    ],
    genesis: {
      ...devnet.genesis,
      allocations: [...devnet.genesis.allocations, ...all.map(({ address }) => ({ address, amount: SENDER_COINS }))],
      ledgers: worstLedgers(devnet.genesis.ledgers),
    },
  }
}

function worstLedgers(base: NetworkParams['genesis']['ledgers']): NetworkParams['genesis']['ledgers'] {
  const [XUSD, FUSD, SALT, WOOL, FAR] = ['XUSD', 'FUSD', 'SALT', 'WOOL', 'FAR'] as unknown as TokenSymbol[]
  const balances = KNOWN.flatMap(({ address }, i) =>
    [XUSD, FUSD, SALT, WOOL, tokenOf(i), tokenOf((i + 1) % KNOWN.length)].map((symbol) => ({
      ...{ symbol: symbol as TokenSymbol, address, amount: TOKEN_UNITS },
    })),
  )
  const given = TOKEN_UNITS * BigInt(KNOWN.length)
  const [stable] = base.stables
  const [deposited] = base.bridge.deposited
  if (stable === undefined || deposited === undefined) throw new Error('not the devnet')
  return {
    tokens: [
      ...base.tokens,
      ...KNOWN.map(({ address }, i) => ({
        ...({ symbol: tokenOf(i), name: 'T'.repeat(64), decimals: 4, kind: 'plain', maxSupply: 0n } as const),
        ...{ issuer: address, freezable: true },
      })),
    ],
    balances: [...base.balances, ...balances],
    stables: [{ ...stable, reserve: stable.reserve + given * 2n }],
    pools: [
      ...base.pools,
      ...KNOWN.map(({ address }, i) => ({
        ...{ assetA: FAR as TokenSymbol, assetB: tokenOf(i), feeBps: 30, owner: address },
        ...{ amountA: POOL_COINS, amountB: POOL_COINS },
      })),
    ],
    bridge: {
      ...base.bridge,
      committee: {
        threshold: ATTESTORS_WANTED,
        keys: ATTESTORS.map((member) => ({ scheme: member.scheme, hex: toHex(keyOf(member).bytes) })),
      },
      deposited: [{ ...deposited, amount: deposited.amount + given * 3n }],
    },
  }
}

const STATES = join(tmpdir(), 'farthing-bench-states')

/** Addresses whose paths in the state tree part late, as an attacker finds them by a long search. Cached on disk. */
export function deepAddresses(): readonly Address[] {
  const file = join(STATES, `deep-${LOOKED_THROUGH}-${PAIRS}.json`)
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
  const found = lateParting()
  mkdirSync(STATES, { recursive: true })
  writeFileSync(file, JSON.stringify(found))
  return found
}

function lateParting(): readonly Address[] {
  const all = Array.from({ length: LOOKED_THROUGH }, (_, i) => {
    const address = toHex(taggedHash('textDigest', encodeText(`deep ${i}`))) as Address
    return { address, path: toHex(pathOf(ACCOUNTS.key(address))) }
  }).sort((a, b) => (a.path < b.path ? -1 : 1))
  const shared = (a: string, b: string): number => {
    let digits = 0
    while (a[digits] === b[digits]) digits++
    return digits
  }
  return all
    .slice(1)
    .map((one, i) => ({
      pair: [all[i]?.address, one.address] as Address[],
      shared: shared(all[i]?.path ?? '', one.path),
    }))
    .sort((a, b) => b.shared - a.shared)
    .slice(0, PAIRS)
    .flatMap(({ pair }) => pair)
}

/** A folder with the genesis state, `accounts` more accounts and the deep ones. Cached on disk: writing it takes minutes. */
export async function bigFolder(accounts: number, params: NetworkParams, deep: readonly Address[]): Promise<string> {
  const { fingerprint } = createRuleBook(params, PROTOCOL)
  const folder = join(STATES, `${fingerprint.slice(0, 16)}-${accounts}`)
  if (existsSync(folder)) return folder
  const unfinished = `${folder}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  const addresses = (i: number): Address => deep[i - accounts] ?? seededAddress(i)
  await seedFolder(unfinished, accounts + deep.length, params, addresses)
  renameSync(unfinished, folder)
  return folder
}

/** Copies a data folder but links its tables: LevelDB never writes to a finished table. */
export function copyFolder(from: string): string {
  const to = mkdtempSync(join(tmpdir(), 'farthing-bench-'))
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const source = join(entry.parentPath, entry.name)
    const target = join(to, source.slice(from.length))
    if (entry.isDirectory()) mkdirSync(target, { recursive: true })
    else {
      mkdirSync(join(target, '..'), { recursive: true })
      if (/\.(ldb|sst)$/.test(entry.name)) linkSync(source, target)
      else copyFileSync(source, target)
    }
  }
  return to
}

/** Opens a chain on a folder with empty caches. */
export async function openFolder(
  folder: string,
  params: NetworkParams,
  verifier: SignatureVerifier,
): Promise<BenchChain> {
  const ruleBook = createRuleBook(params, PROTOCOL)
  const opened = await openChain(folder, ruleBook, ruleBook.genesis, BENCH_SIZES)
  if (!opened.ok) throw new Error(opened.fault.code)
  const chain = new Chain({
    ruleBook,
    database: opened.value.database,
    network: { chainId: 1, genesis: ruleBook.genesis.block.id },
    verifier,
    powHasher: nativePowHasher,
    clock: { now: () => Number.MAX_SAFE_INTEGER / 2 },
    pacer: UNPACED,
    reorganisationDepthMax: 1_200,
  })
  return { chain, close: () => opened.value.store.close() }
}

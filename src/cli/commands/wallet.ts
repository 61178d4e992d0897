import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { formatAddress, parseAddress } from '../../../consensus/crypto/address.ts'
import { SEED_BYTES } from '../../../consensus/crypto/hybrid.ts'
import { isKeyScheme } from '../../../consensus/crypto/schemes.ts'
import { seedOfWords, wordsOfSeed } from '../../../consensus/crypto/words.ts'
import { type Amount, formatAmount } from '../../../consensus/primitives/amount.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import type { Address } from '../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { NodeClient } from '../../../rpc/client/node-client.ts'
import { folderPaths } from '../../storage/folder.ts'
import { saveWallet, type WalletSeed, walletAddress } from '../../wallet/keystore.ts'
import { passphrase, promptHidden } from '../../wallet/passphrase.ts'
import { nativeAsset } from '../assets.ts'
import { type Command, type CommandContext, nodeUrl, OFFLINE_FLAG, RPC_FLAG, WALLET_FLAG } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { propose } from '../proposal.ts'
import { mustCreate, readAmount } from '../session.ts'
import { amountText, usage } from '../values.ts'
import { walletName } from '../wallets.ts'
import { writingCommand } from '../writing.ts'

const SCHEME_FLAG = { scheme: 'Signature scheme: 1 (ML-DSA-44 + Ed25519, default) or 2 (ML-DSA-65 + Ed25519)' }

function schemeFlag({ flags }: CommandContext): Result<1 | 2> {
  const scheme = Number(flags.scheme ?? 1)
  return isKeyScheme(scheme) ? ok(scheme) : fail(fault('cli/usage', { reason: '--scheme is 1 or 2' }))
}

async function keep(context: CommandContext, seed: WalletSeed): Promise<Result<Address>> {
  const { config, params } = context
  const name = walletName(context)
  if (!name.ok) return name
  const secret = await passphrase(
    { file: config.wallet.passphraseFile, devnet: params.name === 'devnet' },
    'New passphrase: ',
  )
  if (!secret.ok) return secret
  const saved = await saveWallet(folderPaths(config.dataDir).wallets, name.value, seed, secret.value)
  return saved.ok ? ok(saved.value.address) : saved
}

/** `farthing wallet new`: creates a wallet and shows its words once. */
export const walletNewCommand: Command = {
  name: 'wallet new',
  usage: '',
  wordsMax: 0,
  about: 'Make a wallet; its 24 words are shown once',
  flags: { ...WALLET_FLAG, ...SCHEME_FLAG, ...OFFLINE_FLAG },
  run: async (context) => {
    const scheme = schemeFlag(context)
    if (!scheme.ok) return scheme.fault
    const seed = new Uint8Array(randomBytes(SEED_BYTES))
    const address = await keep(context, { seed, scheme: scheme.value })
    if (!address.ok) return address.fault
    context.print(formatAddress(context.params.addressPrefix, address.value))
    context.note('Write these words down. They are the only way back to this wallet, and they are not shown again:')
    context.note(wordsOfSeed(seed))
    return EXIT.ok
  },
}

/** `farthing wallet import`: restores a wallet from its words. */
export const walletImportCommand: Command = {
  name: 'wallet import',
  usage: '',
  wordsMax: 0,
  about: 'Restore a wallet from its 24 words',
  flags: {
    ...WALLET_FLAG,
    ...SCHEME_FLAG,
    ...OFFLINE_FLAG,
    'words-file': 'File with the words; default: asked for, or read from standard input',
  },
  run: async (context) => {
    const scheme = schemeFlag(context)
    if (!scheme.ok) return scheme.fault
    const words = await readWords(context.flags['words-file'])
    if (!words.ok) return words.fault
    const seed = seedOfWords(words.value)
    if (!seed.ok) return seed.fault
    const address = await keep(context, { seed: seed.value, scheme: scheme.value })
    if (!address.ok) return address.fault
    context.print(formatAddress(context.params.addressPrefix, address.value))
    return EXIT.ok
  },
}

async function readWords(path: string | undefined): Promise<Result<string>> {
  if (path !== undefined) return readTextFile(path)
  if (process.stdin.isTTY) return ok(await promptHidden('24 words: '))
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return ok(Buffer.concat(chunks).toString('utf8'))
}

async function readTextFile(path: string): Promise<Result<string>> {
  try {
    return ok(await readFile(path, 'utf8'))
  } catch (error) {
    return fail(fault('file/unreadable', { path, reason: (error as Error).message }))
  }
}

/** `farthing wallet address`: shows the address of a wallet, which stays closed. */
export const walletAddressCommand: Command = {
  name: 'wallet address',
  usage: '',
  wordsMax: 0,
  about: 'Show the address of a wallet',
  flags: { ...WALLET_FLAG, ...OFFLINE_FLAG },
  run: async (context) => {
    const name = walletName(context)
    if (!name.ok) return name.fault
    const address = await walletAddress(folderPaths(context.config.dataDir).wallets, name.value)
    if (!address.ok) return address.fault
    context.print(formatAddress(context.params.addressPrefix, address.value as Address))
    return EXIT.ok
  },
}

/** `farthing wallet balance`: balance of a wallet or of any address. */
export const walletBalanceCommand: Command = {
  name: 'wallet balance',
  usage: '[address]',
  wordsMax: 1,
  about: 'Show a balance',
  flags: { ...WALLET_FLAG, ...RPC_FLAG, json: 'Print JSON' },
  run: async (context) => {
    const { params, words, flags, print, printJson } = context
    const address = await balanceAddress(context)
    if (!address.ok) return address.fault
    const text = words[0] ?? formatAddress(params.addressPrefix, address.value)
    const account = await new NodeClient(nodeUrl(context)).account(text)
    if (!account.ok) return account.fault
    const { balance, nonce, exists, height } = account.value
    if (flags.json !== undefined)
      printJson({ address: text, exists, balance: String(balance), nonce: String(nonce), height })
    else print(`${formatAmount(balance, params.decimals)} ${params.ticker}`)
    return EXIT.ok
  },
}

async function balanceAddress(context: CommandContext): Promise<Result<Address>> {
  const { params, words, config } = context
  if (words[0] !== undefined) return parseAddress(params.addressPrefix, words[0])
  const name = walletName(context)
  if (!name.ok) return name
  const own = await walletAddress(folderPaths(config.dataDir).wallets, name.value)
  return own.ok ? ok(own.value as Address) : own
}

interface Transfer {
  readonly to: Address
  readonly amount: Amount
}

/** `farthing wallet send`: sends coins to an address. */
export const walletSendCommand = writingCommand<Transfer>({
  name: 'wallet send',
  usage: '<address> <amount>',
  wordsMax: 3,
  about: 'Send coins and print the id of the transaction without waiting for its block; see: npx --no farthing tx <id>',
  example: 'wallet send $(npx --no farthing wallet address --wallet market) 5',
  flags: {},
  isSentAtOnce: true,
  read: readTransfer,
  propose: async (session, { to, amount }) => {
    const create = await mustCreate(session, to)
    if (!create.ok) return create
    const { params } = session.context
    const says = `send ${amountText(amount, nativeAsset({ params }))} to ${formatAddress(params.addressPrefix, to)}`
    return propose('transfer', { to, amount, create: create.value }, says)
  },
})

function readTransfer({ words, params }: CommandContext): Result<Transfer> {
  const [to, amount, symbol] = words
  if (to === undefined || amount === undefined) return usage('usage: farthing wallet send <address> <amount>')
  if (symbol !== undefined && symbol !== params.ticker)
    return usage(
      `wallet send is for ${params.ticker} alone; a token: npx --no farthing token transfer <amount> <symbol> <address>`,
    )
  const address = parseAddress(params.addressPrefix, to)
  if (!address.ok) return address
  const value = readAmount(amount, nativeAsset({ params }))
  return value.ok ? ok({ to: address.value, amount: value.value }) : value
}

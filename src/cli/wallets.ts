import { devSeed } from '../../config/networks/dev-keys.ts'
import { type Config, SETTINGS } from '../../config/settings.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { type SellerKey, walletKey } from '../crypto/wallet-key.ts'
import { folderPaths } from '../storage/folder.ts'
import { openWallet, saveWallet, walletAddress, walletNames } from '../wallet/keystore.ts'
import { DEV_PASSPHRASE, passphrase } from '../wallet/passphrase.ts'
import type { CommandContext } from './command.ts'

/** The wallet that pays for calls, and the default of every command that takes a wallet. */
export const CALLER_WALLET = 'caller'
/** The wallet of the seller. Mining rewards go to it too, unless a setting names another address. */
export const MARKET_WALLET = 'market'

const DEV_KEYS = 10
/** Wallet names become file names. */
const WALLET_NAME = /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$/

/** The wallet that a command names. */
export function walletName({ flags }: Pick<CommandContext, 'flags'>): Result<string> {
  const name = flags.wallet ?? CALLER_WALLET
  if (WALLET_NAME.test(name)) return ok(name)
  return fail(
    fault('cli/usage', {
      reason: `"${name.slice(0, 40)}" is no name of a wallet: letters, digits, - and _, at most 64`,
    }),
  )
}

/** Whether {@link importDevWallets} makes this wallet. */
export function isDevWallet(wallet: string, { name }: NetworkParams): boolean {
  return name === 'devnet' && [CALLER_WALLET, MARKET_WALLET].includes(wallet)
}

/** On the devnet, saves published development keys as wallets that are missing: one for the caller, the next for the market. */
export async function importDevWallets({ dataDir, devKey }: Config, { name }: NetworkParams): Promise<Result<void>> {
  if (name !== 'devnet') return ok(undefined)
  const { wallets } = folderPaths(dataDir)
  const names = await walletNames(wallets)
  const numbers = { [CALLER_WALLET]: devKey, [MARKET_WALLET]: marketNumber(devKey) }
  for (const [wallet, number] of Object.entries(numbers)) {
    if (names.includes(wallet)) continue
    const saved = await saveWallet(wallets, wallet, { seed: devSeed(number), scheme: 1 }, DEV_PASSPHRASE)
    if (!saved.ok) return saved
  }
  return ok(undefined)
}

function marketNumber(devKey: number): number {
  return (devKey % DEV_KEYS) + 1
}

/** Address of the market wallet if it uses the key that every new devnet folder has. Null otherwise. */
export async function sharedMarketAddress(
  { dataDir }: Config,
  { name, addressPrefix }: NetworkParams,
): Promise<string | null> {
  if (name !== 'devnet') return null
  const own = await walletAddress(folderPaths(dataDir).wallets, MARKET_WALLET)
  const shared = walletKey(devSeed(marketNumber(Number(SETTINGS['dev-key'].default)))).address
  return own.ok && own.value === shared ? formatAddress(addressPrefix, shared) : null
}

/** Opens a wallet of the data folder. */
export async function unlockWallet(
  { dataDir, wallet }: Config,
  { name }: NetworkParams,
  wanted: string,
): Promise<Result<SellerKey>> {
  const secret = await passphrase(
    { file: wallet.passphraseFile, devnet: name === 'devnet' },
    `Passphrase of the wallet ${wanted}: `,
  )
  if (!secret.ok) return secret
  const { wallets } = folderPaths(dataDir)
  const opened = await openWallet(wallets, wanted, secret.value)
  const mayBeDev = !opened.ok && opened.fault.code === 'wallet/passphrase' && name === 'devnet'
  // The devnet's own wallets use the known passphrase, even if a passphrase file is named now.
  return mayBeDev && secret.value !== DEV_PASSPHRASE ? openWallet(wallets, wanted, DEV_PASSPHRASE) : opened
}

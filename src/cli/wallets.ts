import { devSeed } from '../../config/networks/dev-keys.ts'
import { type Config, SETTINGS } from '../../config/settings.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { type WalletKey, walletKey } from '../crypto/wallet-key.ts'
import { folderPaths } from '../storage/folder.ts'
import { openWallet, saveWallet, walletAddress, walletNames } from '../wallet/keystore.ts'
import { DEV_PASSPHRASE, passphrase } from '../wallet/passphrase.ts'
import type { CommandContext } from './command.ts'

/** Wallet that pays for calls. */
export const CALLER_WALLET = 'caller'
/** Wallet that sells services and that mining pays. */
export const MARKET_WALLET = 'market'

const DEV_KEYS = 10
/** Names become file names. */
const WALLET_NAME = /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$/

/** The wallet that a command names, or the caller's. */
export function walletName({ flags }: Pick<CommandContext, 'flags'>): Result<string> {
  const name = flags.wallet ?? CALLER_WALLET
  if (WALLET_NAME.test(name)) return ok(name)
  return fail(
    fault('cli/usage', {
      reason: `"${name.slice(0, 40)}" is no name of a wallet: letters, digits, - and _, at most 64`,
    }),
  )
}

/** Whether a wallet is one that the devnet's first start makes. */
export function isDevWallet(wallet: string, { name }: NetworkParams): boolean {
  return name === 'devnet' && [CALLER_WALLET, MARKET_WALLET].includes(wallet)
}

/** Imports the published development keys on the devnet's first start: one for the caller, the next for the market. */
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

/** Number of the market's key, by that of the caller's. */
function marketNumber(devKey: number): number {
  return (devKey % DEV_KEYS) + 1
}

/** Address of the market wallet where its key is that of every new folder of the devnet: everybody's. Null where it is not. */
export async function sharedMarketAddress(
  { dataDir }: Config,
  { name, addressPrefix }: NetworkParams,
): Promise<string | null> {
  if (name !== 'devnet') return null
  const own = await walletAddress(folderPaths(dataDir).wallets, MARKET_WALLET)
  const shared = walletKey(devSeed(marketNumber(Number(SETTINGS['dev-key'].default)))).address
  return own.ok && own.value === shared ? formatAddress(addressPrefix, shared) : null
}

/** Opens a wallet of the data folder, asking for its passphrase where it must. */
export async function unlockWallet(
  { dataDir, wallet }: Config,
  { name }: NetworkParams,
  wanted: string,
): Promise<Result<WalletKey>> {
  const secret = await passphrase(
    { file: wallet.passphraseFile, devnet: name === 'devnet' },
    `Passphrase of the wallet ${wanted}: `,
  )
  if (!secret.ok) return secret
  const { wallets } = folderPaths(dataDir)
  const opened = await openWallet(wallets, wanted, secret.value)
  const mayBeDev = !opened.ok && opened.fault.code === 'wallet/passphrase' && name === 'devnet'
  // The devnet's own wallets were made with the known passphrase, whatever file is named now.
  return mayBeDev && secret.value !== DEV_PASSPHRASE ? openWallet(wallets, wanted, DEV_PASSPHRASE) : opened
}

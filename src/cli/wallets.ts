import { devSeed } from '../../config/networks/dev-keys.ts'
import type { Config } from '../../config/settings.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { ok, type Result } from '../../consensus/primitives/result.ts'
import type { WalletKey } from '../crypto/wallet-key.ts'
import { folderPaths } from '../storage/folder.ts'
import { openWallet, saveWallet, walletNames } from '../wallet/keystore.ts'
import { DEV_PASSPHRASE, passphrase } from '../wallet/passphrase.ts'

/** Wallet that pays for calls. */
export const CALLER_WALLET = 'caller'
/** Wallet that sells services and that mining pays. */
export const MARKET_WALLET = 'market'

const DEV_KEYS = 10

/** Imports the published development keys on the devnet's first start: one for the caller, the next for the market. */
export async function importDevWallets({ dataDir, devKey }: Config, { name }: NetworkParams): Promise<Result<void>> {
  if (name !== 'devnet') return ok(undefined)
  const { wallets } = folderPaths(dataDir)
  const names = await walletNames(wallets)
  const numbers = { [CALLER_WALLET]: devKey, [MARKET_WALLET]: (devKey % DEV_KEYS) + 1 }
  for (const [wallet, number] of Object.entries(numbers)) {
    if (names.includes(wallet)) continue
    const saved = await saveWallet(wallets, wallet, { seed: devSeed(number), scheme: 1 }, DEV_PASSPHRASE)
    if (!saved.ok) return saved
  }
  return ok(undefined)
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
  return secret.ok ? openWallet(folderPaths(dataDir).wallets, wanted, secret.value) : secret
}

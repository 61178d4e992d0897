import { formatAddress } from '../../consensus/crypto/address.ts'
import type { SigningNetwork } from '../../consensus/crypto/signing.ts'
import type { NamedTransactions } from './service-chain-writer.ts'
import { signatureRequests } from './signed-texts.ts'
import { steadyWallet } from './steady-keys.ts'
import { filled } from './unsigned.ts'

/** For each service with results stored in a file: its requests. They run on both chains of `service-chain.ts`. */
export const SERVICE_CASES: Readonly<
  Record<string, (named: NamedTransactions, network: SigningNetwork) => readonly string[] | Promise<readonly string[]>>
> = {
  'node-network-stats': () => [''],
  'node-gas-tracker': () => [''],
  'node-tx-lookup': ({ swap, failsLimit, waiting, tabOpen, tabFund, tabClaim }) => [
    `0x${swap}`,
    `${failsLimit}`,
    `${waiting}`,
    ...[tabOpen, tabFund, tabClaim].map(String),
    'ab'.repeat(32),
    'ab',
  ],
  'node-explorer-summary': () => ['', 'whatever is written here'],
  'node-block-inspect': () => ['latest', '0', '8', ' LATEST ', '113', `0x${'cd'.repeat(32)}`, 'the last one'],
  'node-whale-watch': () => ['', '100000', '0.5', '1e5', '0.123456789'],
  'node-agent-roster': () => [''],
  'node-service-search': () => ['price', 'explorer', 'umbrellas', 'old', '???', 'x'.repeat(81)],
  'node-wallet-portfolio': () => [
    ...[3, 4, 5, 6, 7].map((number) => formatAddress('dfar', steadyWallet(number).address)),
    formatAddress('dfar', filled(0x77)),
    formatAddress('far', filled(0x77)),
    'far1',
    '',
  ],
  'node-holder-stats': () => ['', 'glass', 'XBTC', 'FAR-SALT-30', 'FAR-SALT-5', 'NOSUCH', '?'],
  'node-supply-audit': () => ['', 'WOOL', 'fusd-far-30', 'NOSUCH'],
  'node-staking-rewards': () => ['1000', '0.00000001', '0', '-5', '0.123456789', '999999999999'],
  'node-receipt-verify': ({ delivered, failed, expired, open, weather, receipt, failsLimit, waiting }) => [
    ...[delivered, failed, `0x${expired}`, open, weather, receipt, failsLimit, waiting].map(String),
    'ab'.repeat(32),
    'ab',
  ],
  'node-signature-verify': (_, network) => signatureRequests(network),
  'node-token-audit': () => ['FUSD', 'xusd', 'SALT', 'WOOL', 'GLASS', 'MOSS', 'FAR', 'XBTC', 'NOSUCH', 'no such'],
  'node-price-feed': () => ['', 'whatever is written here'],
  'node-market-summary': () => [''],
  'node-stable-health': () => ['', 'FUSD', 'fusd', 'how do the dollars do', 'SALT'],
  'node-token-launch-check': () => [
    'PEPPER|Black pepper|4|1000000',
    ' salt2 | \u0405\u0430lt | 0 | 0 ',
    'W00L|Woo1|18|0.000000000000000001',
    'FAR|Fake coin|19|1',
    '9LIVES|||',
    '9LIVES||3|1',
    'BIG|Big|18|1000000000000000000',
    'PEPPER|Black pepper|2|0.001',
    'PEPPER|Black pepper|4',
    '',
  ],
  'node-pool-analytics': () => ['', 'salt', 'WOOL-SALT-100', 'XUSD', 'FAR-FUSD-5', 'NOSUCH', 'no such'],
  'node-swap-quote': () => [
    '12.5 FAR->FUSD',
    '1000 fusd \u2192 far',
    '3WOOL->FUSD',
    '3 WOOL -> FUSD',
    '0.0001 SALT->XUSD',
    '1 MOSS->FAR',
    '0 FAR->FUSD',
    '0.123456789 FAR->FUSD',
    '1 FAR->FAR',
    '1 FAR->NOSUCH',
    '1,5 FAR->FUSD',
    '',
  ],
  'node-price-history': () => ['', 'SALT-WOOL-100', 'WOOL', 'far', 'MOSS', 'a week of prices', 'FAR-FUSD-5', 'NOSUCH'],
  'node-arb-scan': () => [''],
  'node-market-report': () => [''],
  'node-bridge-status': () => ['', 'base', ' Bitcoin ', 'how full are the vaults'],
}

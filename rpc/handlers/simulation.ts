import { POOL_SHARES, POOLS, poolOfKey, poolOfShareKey } from '../../amm/pool.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { ACCOUNTS } from '../../consensus/ledger/account.ts'
import { symbolOf } from '../../consensus/ledger/asset.ts'
import { OUTCOME_OK, outcomeCode } from '../../consensus/ledger/outcome.ts'
import { STABLE_RESERVES } from '../../consensus/ledger/stable.ts'
import { STAKES } from '../../consensus/ledger/staking.ts'
import { SUPPLY } from '../../consensus/ledger/supply.ts'
import { assetOfBalanceKey, holderOfBalanceKey, TOKEN_BALANCES } from '../../consensus/ledger/token-balances.ts'
import { TOKENS } from '../../consensus/ledger/token-records.ts'
import { fromHex, isHex, toHex, ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { decodeOwn } from '../../consensus/primitives/codec.ts'
import { faultMessage } from '../../consensus/primitives/fault.ts'
import type { Address, Hash } from '../../consensus/primitives/ids.ts'
import { decodeText } from '../../consensus/primitives/text.ts'
import type { StateChange } from '../../consensus/state/view.ts'
import { TAB_TERMS_TABLE, TABS } from '../../marketplace/ledger/tab-records.ts'
import { coinOf } from '../../marketplace/queries/assets.ts'
import { poolNamed } from '../../marketplace/queries/pools.ts'
import { httpFault } from '../contract/http-faults.ts'
import { answer, type Handler } from '../server/answer.ts'
import { atHead } from '../server/at-head.ts'
import { type Simulation, simulate } from './chain/simulating.ts'
import { readTransaction } from './chain.ts'

/** Simulates a transaction in the next block. */
export const simulateTransaction: Handler<'simulateTransaction'> = (node, { body }) => {
  const decoded = readTransaction(node, body)
  if (!decoded.ok) return decoded.fault
  const { head } = node.chain
  return answer({ ...atHead(head), ...simulationJson(node.chain, simulate(node.chain, decoded.value)) })
}

function simulationJson(chain: ChainReader, { refusal, receipt, changes }: Simulation) {
  const code = receipt === null ? undefined : outcomeCode(receipt.code)
  return {
    wouldMine: refusal === null,
    ...(refusal === null
      ? {}
      : { fault: { code: httpFault(refusal.code).api, error: faultMessage(refusal), details: refusal.detail } }),
    success: receipt?.code === OUTCOME_OK,
    code: code === undefined ? null : httpFault(code).api,
    fee: (receipt?.fee ?? 0n).toString(),
    burned: (receipt?.burned ?? 0n).toString(),
    weight: receipt?.weight ?? 0,
    amounts: (receipt?.amounts ?? []).map(String),
    changes: changes.map((change) => changeJson(chain, change)),
  }
}

function changeJson(chain: ChainReader, change: StateChange) {
  const { table, before, after } = change
  const read = (bytes: Uint8Array | undefined) =>
    bytes === undefined ? null : recordJson(chain, decodeOwn(table.codec, bytes))
  return { what: table.name, of: nameOf(chain, change), before: read(before), after: read(after) }
}

const ID_CHARS = 64

/** Names of a state record, read from its key. */
function nameOf(chain: ChainReader, { table, key }: StateChange): Readonly<Record<string, string>> {
  const address = (hex: string): string => formatAddress(chain.ruleBook.params.addressPrefix, hex as Address)
  const symbol = (asset: string): string => symbolOf(asset as Hash, coinOf(chain))
  const id = key.slice(2)
  switch (table.prefix) {
    case ACCOUNTS.prefix:
      return { address: address(id) }
    case TOKEN_BALANCES.prefix:
      return { address: address(holderOfBalanceKey(key)), symbol: symbol(assetOfBalanceKey(key)) }
    case TOKENS.prefix:
    case SUPPLY.prefix:
    case STABLE_RESERVES.prefix:
      return { symbol: symbol(id) }
    case POOLS.prefix:
      return poolOf(chain, poolOfKey(key))
    case POOL_SHARES.prefix:
      return { address: address(id.slice(0, ID_CHARS)), ...poolOf(chain, poolOfShareKey(key)) }
    case STAKES.prefix:
      return { address: address(id.slice(0, ID_CHARS)), stakeId: id.slice(ID_CHARS) }
    case TABS.prefix:
      return { tabId: id }
    case TAB_TERMS_TABLE.prefix:
      return { agentId: decodeText(fromHex(id)) ?? id }
    default:
      return { id }
  }
}

/** The name is missing if the simulated transaction makes the pool. */
function poolOf(chain: ChainReader, poolId: string): Readonly<Record<string, string>> {
  const name = poolNamed(chain, poolId)?.name
  return name === undefined ? { poolId } : { poolId, pool: name }
}

const ADDRESS_FIELDS = new Set(['owner', 'payer', 'payout', 'settlers', 'issuer', 'caller', 'sender', 'to'])
const ASSET_FIELDS = new Set(['assetX', 'assetY', 'reserveAsset'])

/** A record that is a bare value gets the field `value`. */
function recordJson(chain: ChainReader, record: unknown): Readonly<Record<string, unknown>> {
  const fields = record !== null && typeof record === 'object' && !Array.isArray(record) ? record : { value: record }
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, fieldJson(chain, name, value)]))
}

function fieldJson(chain: ChainReader, name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return toHex(value)
  if (Array.isArray(value)) return value.map((item) => fieldJson(chain, name, item))
  if (value !== null && typeof value === 'object') return recordJson(chain, value)
  if (typeof value !== 'string' || !isHex(value, 32)) return value
  if (ASSET_FIELDS.has(name)) return symbolOf(value as Hash, coinOf(chain))
  if (!ADDRESS_FIELDS.has(name)) return value
  return value === ZERO_HEX_32 ? null : formatAddress(chain.ruleBook.params.addressPrefix, value as Address)
}

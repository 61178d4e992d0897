import { ASSET_AMOUNT, AT_HEAD, orNull, SYMBOL } from './amounts.ts'
import { ADDRESS_TEXT, COUNT, HEIGHT, HEX, HEX_32, type Route } from './route.ts'
import * as Type from './schema.ts'

function oneOf<T extends string>(...values: T[]) {
  return Type.Unsafe<T>({ type: 'string', enum: values })
}

const EXTERNAL_ADDRESS = Type.String({ maxLength: 90 })
/** A member of the committee. */
export const MEMBER = Type.Object({ index: COUNT, scheme: COUNT, key: HEX, member: ADDRESS_TEXT })
const VAULTS = Type.Array(Type.Object({ network: COUNT, address: EXTERNAL_ADDRESS }))

/** `Committee` of the OpenAPI document. */
export const COMMITTEE = Type.Object({
  epoch: COUNT,
  threshold: COUNT,
  haltThreshold: COUNT,
  keys: Type.Array(MEMBER),
  rotation: orNull(
    Type.Object({
      effectiveAt: HEIGHT,
      threshold: COUNT,
      keys: Type.Array(MEMBER),
      vaults: VAULTS,
      resume: Type.Array(COUNT),
    }),
  ),
})

const NETWORK_NAME = { number: COUNT, key: Type.String(), name: Type.String() }

/** `BridgeNetwork` of the OpenAPI document. */
export const NETWORK = Type.Object({
  ...NETWORK_NAME,
  format: oneOf('evm', 'solana', 'bitcoin', 'litecoin'),
  asset: SYMBOL,
  status: oneOf('open', 'halted', 'not configured'),
  vault: orNull(EXTERNAL_ADDRESS),
  halted: Type.Boolean(),
  deposited: ASSET_AMOUNT,
  released: ASSET_AMOUNT,
  fees: ASSET_AMOUNT,
  pending: ASSET_AMOUNT,
  float: ASSET_AMOUNT,
  feeBps: COUNT,
  confirmations: COUNT,
  minimum: ASSET_AMOUNT,
  dailyMintCap: ASSET_AMOUNT,
  mintedToday: ASSET_AMOUNT,
  deposits: COUNT,
  withdrawals: COUNT,
})

/** `Withdrawal` of the OpenAPI document. */
export const WITHDRAWAL = Type.Object({
  id: HEX_32,
  network: Type.Object(NETWORK_NAME),
  sender: ADDRESS_TEXT,
  amount: ASSET_AMOUNT,
  fee: ASSET_AMOUNT,
  receives: ASSET_AMOUNT,
  recipient: EXTERNAL_ADDRESS,
  status: oneOf('pending', 'signing', 'released', 'cancelled'),
  createdAt: HEIGHT,
  externalTxId: orNull(Type.String()),
})

/** Operations on the bridge to other chains. */
export const BRIDGE_ROUTES = {
  getBridge: {
    method: 'GET',
    path: '/api/v1/bridge',
    operationId: 'getBridge',
    tag: 'assets',
    summary: 'The committee, and every network of the bridge',
    description:
      'For every wrapped token, `float` and `pending` of its networks come to what their vaults hold less fees: `deposited` - `released` - `fees` = supply + `pending`. `threshold` members attest deposits, payments and rotations; `haltThreshold` halt a network. `member` is the address of a key by itself.',
    answers: {
      200: {
        description: 'The bridge as the next block finds it',
        schema: Type.Object({ ...AT_HEAD, committee: orNull(COMMITTEE), networks: Type.Array(NETWORK) }),
      },
    },
    errors: ['chain/head-moving'],
    bucket: 'read',
  },
  getBridgeNetwork: {
    method: 'GET',
    path: '/api/v1/bridge/{network}',
    operationId: 'getBridgeNetwork',
    tag: 'assets',
    summary: 'One network of the bridge, by its key or number',
    params: Type.Object({ network: Type.String({ maxLength: 40 }) }),
    answers: {
      200: { description: 'The network', schema: Type.Object({ ...AT_HEAD, network: NETWORK }) },
    },
    errors: ['rpc/bridge-network-not-found', 'chain/head-moving'],
    bucket: 'read',
  },
  getWithdrawal: {
    method: 'GET',
    path: '/api/v1/bridge/withdrawals/{id}',
    operationId: 'getWithdrawal',
    tag: 'assets',
    summary: 'One withdrawal, by the id of the transaction that asked for it',
    params: Type.Object({ id: HEX_32 }),
    answers: {
      200: { description: 'The withdrawal', schema: Type.Object({ ...AT_HEAD, withdrawal: WITHDRAWAL }) },
    },
    errors: ['rpc/withdrawal-not-found', 'chain/head-moving'],
    bucket: 'read',
  },
} as const satisfies Record<string, Route>
